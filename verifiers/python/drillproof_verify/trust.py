"""Key files, trust stores, attestations and DSSE envelopes (formats §2, §3; docs/verify/keys.md)."""
import datetime
import re
import types

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

from .documents import (MEBIBYTE, Fault, blame, canonical, codes_of, collect, fits, from_base64,
                        from_base64url, parse, parse_canonical, refuse, schema, sha256)

_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_P256 = bytes.fromhex("2a8648ce3d030107")  # the object identifier of the curve
_SPKI = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
_JWK = {"kty", "crv", "x", "y", "d", "use", "alg", "kid", "key_ops", "ext", "x5u", "x5c", "x5t", "x5t#S256"}
_FORMS = {"evidence": "attestation.v1", "export": "export-attestation.v1"}
_NOTES = re.compile(  # warnings and notes; every other code is an error, but io codes leave a verdict open
    r"(run|io)\..*|trust\.(STORE_ABSENT|CHAIN_NOT_CHECKED)|attestation\.TIME_CLAIMED|bundle\.UNSIGNED"
    r"|dsse\.SIGNATURE_UNCOUNTED|export\.(EMPTY|COMPLETENESS_CLAIMED)|local-report\.UNATTESTED"
    r"|zip\.(ORDER|METADATA)_UNUSUAL|receipt\.(INVALID|UNLINKED|ALONE)|bag\.TAG_UNLISTED|coverage\.LOW")

def failed(codes):
    """Whether one of the codes is an error that lets evidence fail."""
    return not all(map(_NOTES.fullmatch, codes))

def is_der_signature(data):
    """Whether the bytes are the one DER encoding of two numbers in 1…n-1."""
    try:
        numbers = utils.decode_dss_signature(data)
    except ValueError:
        return False
    return all(0 < number < _ORDER for number in numbers) and utils.encode_dss_signature(*numbers) == data

def read_point(point):
    """The key of the uncompressed form of a point, which must be on the curve."""
    refuse({"trust.KEY_INVALID": len(point) != 65})
    with blame("trust.KEY_INVALID", ValueError):
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)

def verifies(point, message, signature):
    """Whether ECDSA with SHA-256 on P-256 verifies a signature in strict DER."""
    try:
        read_point(point).verify(signature, message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return is_der_signature(signature)

def _derive(private):
    """The public numbers of a private one."""
    return ec.derive_private_key(private, ec.SECP256R1()).public_key().public_numbers()

def key_id(point):
    return sha256(_SPKI + point)

def read_jwk(jwk, private=False, extra=()):
    """The point of a JWK, which may have only the members of RFC 7517 and the extra ones."""
    refuse({"trust.KEY_INVALID": not isinstance(jwk, dict)})
    refuse({"trust.KEY_PUBLIC" if private else "trust.KEY_PRIVATE": ("d" in jwk) != private,
            "trust.KEY_INVALID": not isinstance(jwk.get("kty"), str)})
    fixed, use = {"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig"}, "sign" if private else "verify"
    allowed = all(jwk.get(name, value) == value for name, value in fixed.items()) and "crv" in jwk
    operations = jwk.get("key_ops", [use])
    allowed = allowed and isinstance(operations, list) and use in operations
    refuse({"trust.KEY_UNSUPPORTED": not allowed, "trust.KEY_INVALID": jwk.keys() - _JWK.union(extra)})
    with blame("trust.KEY_INVALID", TypeError, ValueError):
        x, y, d = (from_base64url(jwk.get(name, "")) for name in "xyd")
        refuse({"": len(x) != 32 or len(y) != 32 or len(d) != 32 * private})
        key = read_point(b"\4" + x + y)
        if private:
            refuse({"": _derive(int.from_bytes(d, "big")) != key.public_numbers()})
    return b"\4" + x + y

def read_key_file(data, use):
    """The point of a key file, and the validity in milliseconds if it is a certificate."""
    refuse({"trust.KEY_INVALID": len(data) > 256 << 10})
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").replace("\r\n", "\n").strip(" \t\n")
    if text.startswith("{"):
        with blame("trust.KEY_INVALID"):
            jwk = parse(text.encode("latin-1"))
        return read_jwk(jwk, use == "sign"), None
    labels = re.findall("-----BEGIN ([A-Z0-9 ]+)-----", text)
    private = any("PRIVATE KEY" in label for label in labels)
    if labels == ["EC PARAMETERS", "EC PRIVATE KEY"]:
        text = text[text.index("-----BEGIN EC PRIVATE") :]
    block = re.fullmatch("-----BEGIN ([A-Z0-9 ]+)-----\n([^-]*)\n-----END \\1-----", text)
    refuse({"trust.KEY_PRIVATE": private and use == "verify", "trust.KEY_ENCRYPTED": "ENCRYPTED" in text,
            "trust.KEY_PUBLIC": labels and not private and use == "sign", "trust.KEY_INVALID": not block})
    return _read_der_key(from_base64(block[2].replace("\n", ""), "trust.KEY_INVALID"), block[1])

def _milliseconds(certificate, name):
    moment = getattr(certificate, f"not_valid_{name}_utc", None)  # older libraries have naive times
    moment = moment or getattr(certificate, f"not_valid_{name}").replace(tzinfo=datetime.UTC)
    return int(moment.timestamp()) * 1000

def _read_der_key(der, label):
    from cryptography import x509  # slow to load
    from cryptography.hazmat.primitives import serialization

    period = None
    code = "trust.KEY_INVALID" if _P256 in der else "trust.KEY_UNSUPPORTED"
    with blame(code, ValueError, UnsupportedAlgorithm):
        if label == "CERTIFICATE":
            certificate = x509.load_der_x509_certificate(der)
            period = [_milliseconds(certificate, name) for name in ("before", "after")]
            key = certificate.public_key()
        elif "PRIVATE" in label:
            secret = serialization.load_der_private_key(der, None)
            key, more = secret.public_key(), der[1] & 0x7F if der[1] > 0x7F else 0
            size = 2 + more + (int.from_bytes(der[2 : 2 + more], "big") if more else der[1])
            refuse({"": size != len(der)})  # older libraries check neither this nor both halves
            if _P256 in der:
                refuse({"": _derive(secret.private_numbers().private_value) != key.public_numbers()})
        else:
            key = serialization.load_der_public_key(der) if label == "PUBLIC KEY" else None
    refuse({"trust.KEY_UNSUPPORTED": getattr(getattr(key, "curve", None), "name", None) != "secp256r1"})
    forms = serialization.PublicFormat.UncompressedPoint, serialization.PublicFormat.CompressedPoint
    points = [key.public_bytes(serialization.Encoding.X962, form) for form in forms]
    whole = label != "PUBLIC KEY" or der.endswith(tuple(b"\0" + point for point in points))
    refuse({"trust.KEY_INVALID": not whole})
    return points[0], period

class TrustStore:
    """The keys of a trust store by issuer and key id."""
    def __init__(self, data):
        document, self.keys = parse(data, 16 * MEBIBYTE), {}
        valid = isinstance(document, dict) and document.keys() == {"keys"}
        refuse({"trust.STORE_INVALID": not valid or not isinstance(document["keys"], list)})
        refuse({"trust.STORE_EMPTY": not document["keys"]})
        form = schema("trust-store.v1")["properties"]["keys"]["items"]
        for jwk in document["keys"]:
            refuse({"trust.STORE_INVALID": not isinstance(jwk, dict)})
            point = read_jwk(jwk, extra=form["properties"])
            begin, end, revoked = (jwk.get(name) for name in ("notBeforeMs", "notAfterMs", "revokedAtMs"))
            valid = fits(form, jwk) and (begin is None or end is None or begin <= end)
            refuse({"trust.STORE_INVALID": not valid or "compromised" in jwk and revoked is None})
            name = (jwk["issuer"], jwk["kid"])
            refuse({"trust.KEY_DUPLICATE": name in self.keys})
            self.keys[name] = types.SimpleNamespace(
                point=point, begin=begin, end=end, revoked=revoked, compromised=jwk.get("compromised", True),
                purposes=jwk.get("purposes", ["evidence"]), certificate="fromCertificate" in jwk,
                limits={name: jwk[name + "s"] for name in ("project", "organization") if name + "s" in jwk})

    def judge(self, statement, purpose, scope, as_of=None):
        """The key of a statement, the faults, the notes, and which limits could not be checked.

        `scope` has the projectId and organizationId of the evidence as far as they are known.
        """
        key, issued = self.keys.get((statement["issuer"], statement["keyId"])), statement["issuedAtMs"]
        if key is None:
            return None, {"trust.KEY_UNKNOWN"}, set(), []
        revoked = [other for other in self.keys.values() if other.revoked is not None]
        stolen = {other.point for other in revoked if other.compromised}
        unchecked = [name for name in key.limits if scope.get(name + "Id") is None]
        faults = codes_of({
            "trust.PURPOSE_MISMATCH": purpose not in key.purposes,
            "trust.KEY_NOT_YET_VALID": key.begin is not None and issued < key.begin,
            "trust.KEY_EXPIRED": key.end is not None and issued > key.end,
            "trust.KEY_REVOKED": key.point in stolen or key.revoked is not None and issued >= key.revoked,
        } | {f"trust.{name.upper()}_MISMATCH": name not in unchecked and scope[name + "Id"] not in allowed
             for name, allowed in key.limits.items()})
        retired = key.revoked is not None or key.end is not None and (as_of is None or as_of > key.end)
        notes = codes_of({"trust.CHAIN_NOT_CHECKED": key.certificate,
                          "attestation.TIME_CLAIMED": retired and not faults})
        return key, faults, notes, unchecked

class Caller(types.SimpleNamespace):
    """What the caller trusts and expects."""
    expect, limits, depth, threshold = {}, {}, "full", 1

class Signed:
    """What was found about a signed statement, which is `None` if it breaks its format."""
    def __init__(self):
        self.codes, self.statement, self.key, self.unchecked = set(), None, None, []

    @property
    def verdict(self):
        """The result of the statement alone (formats §4)."""
        unknown = self.unchecked or not self.key
        return "invalid" if failed(self.codes) else "not_checked" if unknown else "valid"

    def check(self, statement, message, signatures, purpose, scope, caller):
        """Check the type and the time, the key that the statement names, and a signature with that key."""
        expected = f"urn:drillproof:attestation:{purpose}:v1"
        self.statement, encoded = statement, any(map(is_der_signature, signatures))
        self.codes |= codes_of({"attestation.PREDICATE_UNSUPPORTED": statement["predicateType"] != expected,
                                "attestation.SIGNATURE_ENCODING": not encoded,
                                "attestation.ISSUED_IN_FUTURE": statement["issuedAtMs"] > caller.as_of,
                                "trust.STORE_ABSENT": caller.trust is None})
        if caller.trust is not None:
            judged = caller.trust.judge(statement, purpose, scope, caller.as_of)
            self.key, faults, notes, self.unchecked = judged
            verified = self.key and any(verifies(self.key.point, message, each) for each in signatures)
            forged = self.key and encoded and not verified
            self.codes |= faults | notes | codes_of({"attestation.SIGNATURE_INVALID": forged})

def verify_attestation(data, purpose, scope, caller):
    """Verify the bytes of an attestation with the keys of the caller."""
    signed = Signed()
    with collect(signed.codes):
        document = parse_canonical(data, MEBIBYTE)
        refuse({"attestation.INVALID": not fits(_FORMS[purpose], document)})
        try:
            signature = from_base64url(document["signature"])
        except Fault:
            signature = b""
        statement = document["statement"]
        signed.check(statement, canonical(statement), [signature], purpose, scope, caller)
    return signed

def read_envelope(data):
    """The payload of an envelope, its pairs of key id and signature, the statement in it, and its subject."""
    document, text = parse(data, MEBIBYTE), {"type": "string"}
    row = {"sig": text, "keyid": text | {"maxLength": 256}}
    row = {"type": "object", "required": ["sig"], "properties": row}
    rows = {"type": "array", "minItems": 1, "items": row}
    members = {"payload": text, "payloadType": text, "signatures": rows}
    form = {"type": "object", "required": members, "properties": members}
    refuse({"dsse.INVALID": not fits(form, document)})
    rows, payload = document["signatures"], from_base64(document["payload"], "dsse.INVALID")
    refuse({"dsse.SIGNATURES_EXCEEDED": len(rows) > 64})
    pairs = [(row.get("keyid", ""), from_base64(row["sig"], "dsse.INVALID")) for row in rows]
    refuse({"dsse.PAYLOAD_TYPE_UNSUPPORTED": document["payloadType"] != "application/vnd.in-toto+json"})
    content, names = parse(payload), {"_type", "subject", "predicateType", "predicate"}
    refuse({"dsse.STATEMENT_INVALID": not isinstance(content, dict) or content.keys() != names})
    statement, subject = content["predicate"], canonical(content["subject"]).decode()
    subject = re.fullmatch('\\[{"digest":{"sha256":"([0-9a-f]{64})"},"name":"manifest.json"}\\]', subject)
    valid = any(fits(schema(form)["properties"]["statement"], statement) for form in _FORMS.values())
    valid = valid and subject and content["_type"] == "https://in-toto.io/Statement/v1"
    refuse({"dsse.STATEMENT_INVALID": not valid or statement["predicateType"] != content["predicateType"]})
    return payload, pairs, statement, "sha256:" + subject[1]

def verify_envelope(data, purpose, scope, caller):
    """Verify the bytes of an envelope with the keys of the caller."""
    signed = Signed()
    with collect(signed.codes):
        payload, pairs, statement, subject = read_envelope(data)
        named = [signature for keyid, signature in pairs if keyid in ("", statement["keyId"])]
        fitting = fits(schema(_FORMS[purpose])["properties"]["statement"], statement)
        refuse({"dsse.SUBJECT_MISMATCH": subject != statement["subject"]["manifestDigest"],
                "dsse.KEYID_MISMATCH": not named, "attestation.PREDICATE_UNSUPPORTED": not fitting})
        message = f"DSSEv1 28 application/vnd.in-toto+json {len(payload)} ".encode() + payload
        signed.check(statement, message, named, purpose, scope, caller)
        points = {signed.key.point} if signed.verdict == "valid" else set()
        others = [pair for pair in pairs if points and pair[0] not in ("", statement["keyId"])]
        for keyid, signature in others:
            issuers = [issuer for issuer, kid in caller.trust.keys if kid == keyid]
            claims = statement | {"keyId": keyid} | ({"issuer": issuers[0]} if len(issuers) == 1 else {})
            key, faults, _, unchecked = caller.trust.judge(claims, purpose, scope, caller.as_of)
            counts = not faults and not unchecked and verifies(key.point, message, signature)
            points |= {key.point} if counts else set()
            signed.codes |= set() if counts else {"dsse.SIGNATURE_UNCOUNTED"}
        signed.codes |= codes_of({"dsse.THRESHOLD_MISSED": points and len(points) < caller.threshold})
    return signed
