"""Signatures, key files and trust stores (formats §2, §3; docs/verify/keys.md)."""

import base64
import dataclasses
import re

from . import strict_json
from .forms import fits, schema
from .text import Fault, from_base64url, require, sha256

_FIELD = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_P256 = bytes.fromhex("301306072a8648ce3d020106082a8648ce3d030107")  # the AlgorithmIdentifier
_IGNORED = {"ext", "x5u", "x5c", "x5t", "x5t#S256"}

def _read_der(data, tag, code, position=0):
    """The contents of one element in strict DER, and where it ends."""
    head = data[position : position + 2]
    require(len(head) == 2 and head[0] == tag, code)
    length, start = head[1], position + 2
    if length > 0x80:
        start += length - 0x80
        encoded = data[position + 2 : start]
        length = int.from_bytes(encoded, "big")
        require(len(encoded) <= 4 and encoded[:1] > b"\0" and length > 0x7F, code)
        require(length > 0xFF or len(encoded) == 1, code)
    require(length != 0x80 or start > position + 2, code)
    require(start + length <= len(data), code)
    return data[start : start + length], start + length

def check_der_signature(data):
    """Refuse everything but the one encoding of two numbers in 1…n-1."""
    code = "encoding.DER_INVALID"
    body, end = _read_der(data, 0x30, code)
    r, middle = _read_der(body, 0x02, code)
    s, last = _read_der(body, 0x02, code, middle)
    require(end == len(data) and last == len(body) and len(data) < 0x80, code)
    for number in (r, s):
        require(number and number[0] < 0x80 and (number[0] or number[1:2] > b"\x7f"), code)
        require(0 < int.from_bytes(number, "big") < _ORDER, code)

def check_point(point, code="trust.KEY_INVALID"):
    """The uncompressed form of a point, which must be on the curve."""
    x, odd = int.from_bytes(point[1:33], "big"), point[0] & 1 if point else 0
    square = (x * x * x - 3 * x + _B) % _FIELD
    require(x < _FIELD, code)
    if len(point) == 33 and point[0] in (2, 3):
        y = pow(square, (_FIELD + 1) // 4, _FIELD)
        y = y if y & 1 == odd else _FIELD - y
    else:
        require(len(point) == 65 and point[0] == 4, code)
        y = int.from_bytes(point[33:], "big")
    require(y < _FIELD and y * y % _FIELD == square, code)
    return b"\4" + point[1:33] + y.to_bytes(32, "big")

def verifies(point, message, signature):
    """Whether ECDSA with SHA-256 on P-256 verifies."""
    from cryptography.exceptions import InvalidSignature  # slow to load, and most vectors do without
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True

def key_id(point):
    return sha256(b"\x30\x59" + _P256 + b"\x03\x42\0" + point)

def _point_of_spki(data):
    body, end = _read_der(data, 0x30, "trust.KEY_INVALID")
    _, algorithm_end = _read_der(body, 0x30, "trust.KEY_INVALID")
    require(end == len(data), "trust.KEY_INVALID")
    require(body[:algorithm_end] == _P256, "trust.KEY_UNSUPPORTED")
    bits, last = _read_der(body, 0x03, "trust.KEY_INVALID", algorithm_end)
    require(bits[:1] == b"\0" and last == len(body), "trust.KEY_INVALID")
    return check_point(bits[1:])

def _point_of_private(data):
    """The point of an unencrypted PKCS#8 or SEC 1 key, whose public half must be its own."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    try:
        key = serialization.load_der_private_key(data, None).public_key()
    except UnsupportedAlgorithm as error:
        raise Fault("trust.KEY_UNSUPPORTED") from error
    except (ValueError, TypeError) as error:
        raise Fault("trust.KEY_INVALID") from error
    point = _point_of_spki(
        key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    stated = data.rpartition(b"\xa1\x44\x03\x42\0")[2] if b"\xa1\x44\x03\x42\0" in data else point
    require(stated == point, "trust.KEY_INVALID")
    return point

def read_jwk(jwk, extra=()):
    """The point of a public JWK, which may have only the named extra members."""
    require(isinstance(jwk, dict), "trust.KEY_INVALID")
    require("d" not in jwk, "trust.KEY_PRIVATE")
    require(isinstance(jwk.get("kty"), str), "trust.KEY_INVALID")
    operations = jwk.get("key_ops", ["verify"])
    supported = (
        jwk["kty"] == "EC" and jwk.get("crv") == "P-256" and jwk.get("alg", "ES256") == "ES256"
        and jwk.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations
    )
    require(supported, "trust.KEY_UNSUPPORTED")
    known = {"kty", "crv", "x", "y", "use", "alg", "kid", "key_ops", *_IGNORED, *extra}
    require(not jwk.keys() - known, "trust.KEY_INVALID")
    return check_point(b"\4" + b"".join(_coordinate(jwk.get(name)) for name in "xy"))

def _coordinate(text):
    require(isinstance(text, str) and re.fullmatch("[A-Za-z0-9_-]{43}", text), "trust.KEY_INVALID")
    try:
        return from_base64url(text)
    except Fault as fault:
        raise Fault("trust.KEY_INVALID") from fault

@dataclasses.dataclass
class Key:
    """A trusted key under one name."""

    point: bytes
    members: dict

    def get(self, name):
        return self.members.get(name, {"purposes": ["evidence"], "compromised": True}.get(name))

class TrustStore:
    """The keys of a trust store by issuer and key id."""

    def __init__(self, data):
        document = strict_json.parse(data, 16 * strict_json.MEBIBYTE)
        shape = isinstance(document, dict) and document.keys() == {"keys"} and isinstance(document["keys"], list)
        require(shape, "trust.STORE_INVALID")
        require(document["keys"], "trust.STORE_EMPTY")
        form, self.keys = schema("trust-store.v1")["properties"]["keys"]["items"], {}
        for jwk in document["keys"]:
            require(isinstance(jwk, dict), "trust.STORE_INVALID")
            key = Key(read_jwk(jwk, form["properties"]), jwk)
            require(fits(form, jwk), "trust.STORE_INVALID")
            reversed_period = jwk.get("notBeforeMs", 0) > jwk.get("notAfterMs", jwk.get("notBeforeMs", 0))
            orphan = "compromised" in jwk and "revokedAtMs" not in jwk
            require(not reversed_period and not orphan, "trust.STORE_INVALID")
            require((jwk["issuer"], jwk["kid"]) not in self.keys, "trust.KEY_DUPLICATE")
            self.keys[jwk["issuer"], jwk["kid"]] = key

    def judge(self, statement, purpose, scope, as_of=None):
        """The key of a statement, the faults, the notes, and which limits could not be checked.

        `scope` has the projectId and organizationId of the evidence as far as they are known.
        """
        key = self.keys.get((statement["issuer"], statement["keyId"]))
        if key is None:
            return None, {"trust.KEY_UNKNOWN"}, set(), []
        issued, begin, end = statement["issuedAtMs"], key.get("notBeforeMs"), key.get("notAfterMs")
        revoked, unchecked = key.get("revokedAtMs"), []
        faults = {
            "trust.PURPOSE_MISMATCH": purpose not in key.get("purposes"),
            "trust.KEY_NOT_YET_VALID": begin is not None and issued < begin,
            "trust.KEY_EXPIRED": end is not None and issued > end,
            "trust.KEY_REVOKED": (
                revoked is not None and (key.get("compromised") or issued >= revoked)
                or any(
                    other.point == key.point and other.get("revokedAtMs") is not None and other.get("compromised")
                    for other in self.keys.values()
                )
            ),
        }
        for name in ("project", "organization"):
            allowed, actual = key.get(name + "s"), scope.get(name + "Id")
            if allowed and actual is None:
                unchecked.append(name)
            elif allowed:
                faults[f"trust.{name.upper()}_MISMATCH"] = actual not in allowed
        codes = {code for code, broken in faults.items() if broken}
        retired = revoked is not None or end is not None and (as_of is None or as_of > end)
        notes = {"trust.CHAIN_NOT_CHECKED"} if key.get("fromCertificate") else set()
        return key, codes, notes | ({"attestation.TIME_CLAIMED"} if retired and not codes else set()), unchecked

def read_key_file(data, use):
    """The point of a key file, and its validity in milliseconds if it is a certificate."""
    require(len(data) <= 256 << 10, "trust.KEY_INVALID")
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").strip(" \t\r\n")
    if text.startswith("{"):
        return _read_jwk_file(data, use), None
    labels = re.findall("-----BEGIN ([A-Z0-9 ]+)-----", text)
    block = "-----BEGIN ([A-Z0-9 ]+)-----\n([^-]*)\n-----END \\1-----"
    blocks = re.findall(block, text.replace("\r\n", "\n"))
    private = any("PRIVATE KEY" in label for label in labels)
    if use == "verify":
        require(not private, "trust.KEY_PRIVATE")
    elif labels:
        require("ENCRYPTED PRIVATE KEY" not in labels and "Proc-Type: 4,ENCRYPTED" not in text, "trust.KEY_ENCRYPTED")
        require(private or labels == ["EC PARAMETERS"], "trust.KEY_PUBLIC")
        if labels == ["EC PARAMETERS", "EC PRIVATE KEY"]:
            blocks = blocks[1:]
    rest = re.sub(block, "", text.replace("\r\n", "\n")).strip()
    require(len(blocks) == 1 and not rest, "trust.KEY_INVALID")
    label, body = blocks[0]
    try:
        der = base64.b64decode(body.replace("\n", ""), validate=True)
    except ValueError as error:
        raise Fault("trust.KEY_INVALID") from error
    require(base64.b64encode(der).decode() == body.replace("\n", ""), "trust.KEY_INVALID")
    if private:
        return _point_of_private(der), None
    require(label in ("PUBLIC KEY", "CERTIFICATE"), "trust.KEY_UNSUPPORTED")
    return _read_certificate(der) if label == "CERTIFICATE" else (_point_of_spki(der), None)

def _read_jwk_file(data, use):
    try:
        jwk = strict_json.parse(data)
    except Fault as fault:
        raise Fault("trust.KEY_INVALID") from fault
    if use == "verify":
        return read_jwk(jwk)
    require("d" in jwk, "trust.KEY_PUBLIC")
    from cryptography.hazmat.primitives.asymmetric import ec

    number = int.from_bytes(_coordinate(jwk.pop("d")), "big")
    if jwk.get("key_ops") == ["sign"]:
        jwk["key_ops"] = ["verify"]
    point = read_jwk(jwk)
    require(0 < number < _ORDER, "trust.KEY_INVALID")
    own = ec.derive_private_key(number, ec.SECP256R1()).public_key().public_numbers()
    require(point == b"\4" + own.x.to_bytes(32, "big") + own.y.to_bytes(32, "big"), "trust.KEY_INVALID")
    return point

def _read_certificate(der):
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    try:
        certificate = x509.load_der_x509_certificate(der)
        spki = certificate.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    except ValueError as error:
        raise Fault("trust.KEY_INVALID") from error
    period = (certificate.not_valid_before_utc, certificate.not_valid_after_utc)
    return _point_of_spki(spki), [int(moment.timestamp()) * 1000 for moment in period]
