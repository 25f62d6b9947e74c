"""Signatures, key files and trust stores (formats §2, §3; docs/verify/keys.md)."""
import re
import types

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from . import strict_json
from .forms import fits, schema
from .text import blame, from_base64, from_base64url, require, sha256, true_ones

_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_P256 = bytes.fromhex("2a8648ce3d030107")  # the object identifier of the curve
_SPKI = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
_JWK = {"kty", "crv", "x", "y", "use", "alg", "kid", "key_ops", "ext", "x5u", "x5c", "x5t", "x5t#S256"}

def check_der_signature(data):
    """Refuse everything but the one encoding of two numbers in 1…n-1."""
    with blame("encoding.DER_INVALID", ValueError):
        numbers = utils.decode_dss_signature(data)
        require(all(0 < number < _ORDER for number in numbers), "")
        require(utils.encode_dss_signature(*numbers) == data, "")

def check_point(point):
    """Refuse everything but the uncompressed form of a point on the curve."""
    require(len(point) == 65, "trust.KEY_INVALID")
    with blame("trust.KEY_INVALID", ValueError):
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)

def verifies(point, message, signature):
    """Whether ECDSA with SHA-256 on P-256 verifies a signature in strict DER."""
    try:
        check_point(point).verify(signature, message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True

def key_id(point):
    return sha256(_SPKI + point)

def _encode(key, form=serialization.PublicFormat.UncompressedPoint):
    return key.public_bytes(serialization.Encoding.X962, form)

def read_jwk(jwk, extra=frozenset(), private=False):
    """The point of a JWK, which may have only the members of RFC 7517 and the extra ones."""
    require(isinstance(jwk, dict), "trust.KEY_INVALID")
    require(("d" in jwk) == private, "trust.KEY_PUBLIC" if private else "trust.KEY_PRIVATE")
    require(isinstance(jwk.get("kty"), str), "trust.KEY_INVALID")
    wanted = {"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig"}
    require(all(jwk.get(name, wanted[name]) == wanted[name] for name in wanted), "trust.KEY_UNSUPPORTED")
    use, operations = "sign" if private else "verify", jwk.get("key_ops", ["verify", "sign"])
    require(isinstance(operations, list) and use in operations, "trust.KEY_UNSUPPORTED")
    require(not jwk.keys() - _JWK - extra - {"d"}, "trust.KEY_INVALID")
    with blame("trust.KEY_INVALID", TypeError):
        x, y, d = (from_base64url(jwk.get(name, "A" * 43)) for name in "xyd")
    require(len(x) == len(y) == len(d) == 32, "trust.KEY_INVALID")
    point, number = b"\4" + x + y, int.from_bytes(d, "big")
    check_point(point)
    if private:
        require(0 < number < _ORDER, "trust.KEY_INVALID")
        own = ec.derive_private_key(number, ec.SECP256R1()).public_key()
        require(_encode(own) == point, "trust.KEY_INVALID")
    return point

def read_key_file(data, use):
    """The point of a key file, and the validity in milliseconds if it is a certificate."""
    require(len(data) <= 256 << 10, "trust.KEY_INVALID")
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").replace("\r\n", "\n").strip(" \t\n")
    private = use == "sign"
    if text.startswith("{"):
        with blame("trust.KEY_INVALID"):
            jwk = strict_json.parse(text.encode("latin-1"))
        return read_jwk(jwk, private=private), None
    labels = re.findall("-----BEGIN ([A-Z0-9 ]+)-----", text)
    has_private = any("PRIVATE KEY" in label for label in labels)
    require(private or not has_private, "trust.KEY_PRIVATE")
    require("ENCRYPTED" not in text, "trust.KEY_ENCRYPTED")
    require(not private or not labels or has_private, "trust.KEY_PUBLIC")
    if labels == ["EC PARAMETERS", "EC PRIVATE KEY"]:
        text = text[text.index("-----BEGIN EC PRIVATE") :]
    block = re.fullmatch("-----BEGIN ([A-Z0-9 ]+)-----\n([^-]*)\n-----END \\1-----", text)
    require(block, "trust.KEY_INVALID")
    der = from_base64(block[2].replace("\n", ""), "trust.KEY_INVALID")
    return _read_der_key(der, block[1])

def _read_der_key(der, label):
    period = None
    with blame("trust.KEY_INVALID" if _P256 in der else "trust.KEY_UNSUPPORTED", ValueError, UnsupportedAlgorithm):
        if label == "CERTIFICATE":
            certificate = x509.load_der_x509_certificate(der)
            period = (certificate.not_valid_before_utc, certificate.not_valid_after_utc)
            period, key = [int(moment.timestamp()) * 1000 for moment in period], certificate.public_key()
        elif label.endswith("PRIVATE KEY"):
            key = serialization.load_der_private_key(der, None).public_key()
        else:
            require(label == "PUBLIC KEY", "")
            key = serialization.load_der_public_key(der)
    require(isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name == "secp256r1", "trust.KEY_UNSUPPORTED")
    forms = (_encode(key), _encode(key, serialization.PublicFormat.CompressedPoint))
    require(label != "PUBLIC KEY" or der.endswith(forms), "trust.KEY_INVALID")
    return forms[0], period

class TrustStore:
    """The keys of a trust store by issuer and key id; each has its `point` and the members of its JWK."""
    def __init__(self, data):
        document = strict_json.parse(data, 16 * strict_json.MEBIBYTE)
        valid = isinstance(document, dict) and document.keys() == {"keys"} and isinstance(document["keys"], list)
        require(valid, "trust.STORE_INVALID")
        require(document["keys"], "trust.STORE_EMPTY")
        form, self.keys = schema("trust-store.v1")["properties"]["keys"]["items"], {}
        for jwk in document["keys"]:
            require(isinstance(jwk, dict), "trust.STORE_INVALID")
            point = read_jwk(jwk, form["properties"].keys())
            begin, end, revoked = (jwk.get(name) for name in ("notBeforeMs", "notAfterMs", "revokedAtMs"))
            valid = fits(form, jwk) and (begin is None or end is None or begin <= end)
            require(valid and ("compromised" not in jwk or revoked is not None), "trust.STORE_INVALID")
            name = (jwk["issuer"], jwk["kid"])
            require(name not in self.keys, "trust.KEY_DUPLICATE")
            self.keys[name] = types.SimpleNamespace(
                point=point, begin=begin, end=end, revoked=revoked, purposes=jwk.get("purposes", ["evidence"]),
                compromised=jwk.get("compromised", True), limits={"project": jwk.get("projects"),
                "organization": jwk.get("organizations")}, certificate="fromCertificate" in jwk)

    def judge(self, statement, purpose, scope, as_of=None):
        """The key of a statement, the faults, the notes, and which limits could not be checked.

        `scope` has the projectId and organizationId of the evidence as far as they are known.
        """
        key = self.keys.get((statement["issuer"], statement["keyId"]))
        if key is None:
            return None, {"trust.KEY_UNKNOWN"}, set(), []
        issued = statement["issuedAtMs"]
        stolen = {other.point for other in self.keys.values() if other.revoked is not None and other.compromised}
        faults = {
            "trust.PURPOSE_MISMATCH": purpose not in key.purposes,
            "trust.KEY_NOT_YET_VALID": key.begin is not None and issued < key.begin,
            "trust.KEY_EXPIRED": key.end is not None and issued > key.end,
            "trust.KEY_REVOKED": key.point in stolen or key.revoked is not None and issued >= key.revoked,
        }
        limited = {name: allowed for name, allowed in key.limits.items() if allowed}
        for name, allowed in limited.items():
            faults[f"trust.{name.upper()}_MISMATCH"] = scope.get(name + "Id", allowed[0]) not in allowed
        unchecked = [name for name in limited if scope.get(name + "Id") is None]
        codes = true_ones(faults)
        retired = key.revoked is not None or key.end is not None and (as_of is None or as_of > key.end)
        notes = {"trust.CHAIN_NOT_CHECKED": key.certificate, "attestation.TIME_CLAIMED": retired and not codes}
        return key, codes, true_ones(notes), unchecked
