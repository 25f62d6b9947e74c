"""Attestations and DSSE envelopes (formats §2)."""
import dataclasses
import re

from . import strict_json
from .forms import ATTESTATIONS, fits, schema
from .text import Fault, blame, from_base64, from_base64url, require
from .trust import TrustStore, check_der_signature, verifies

_TYPES = {"evidence": "urn:drillproof:attestation:evidence:v1", "export": "urn:drillproof:attestation:export:v1"}
_IN_TOTO = "application/vnd.in-toto+json"
_NOTES = re.compile(  # warnings and notes; every other code is an error
    r"run\..*|coverage\.LOW|trust\.(STORE_ABSENT|CHAIN_NOT_CHECKED)|attestation\.TIME_CLAIMED|dsse\.SIGNATURE_UNCOUNTED"
    r"|bundle\.UNSIGNED|export\.(EMPTY|COMPLETENESS_CLAIMED)|local-report\.UNATTESTED|zip\.(ORDER|METADATA)_UNUSUAL"
    r"|bag\.TAG_UNLISTED|receipt\.(INVALID|UNLINKED|ALONE)|io\..*"
)

def failed(codes):
    """Whether one of the codes is an error that lets evidence fail."""
    return not all(map(_NOTES.fullmatch, codes))

@dataclasses.dataclass
class Caller:
    """What the caller trusts and expects."""
    trust: TrustStore | None
    as_of: int
    expect: dict = dataclasses.field(default_factory=dict)
    limits: dict = dataclasses.field(default_factory=dict)
    depth: str = "full"
    threshold: int = 1

@dataclasses.dataclass
class Signed:
    """What was found about a signed statement, which is `None` if it breaks its format."""
    codes: set
    statement: dict | None = None
    trusted: bool = False
    unchecked: bool = False

    def result(self):
        """The result of the statement alone (formats §4)."""
        unknown = self.unchecked or "trust.STORE_ABSENT" in self.codes
        return "invalid" if failed(self.codes) else "not_checked" if unknown else "valid"

def verify_attestation(data, purpose, scope, caller):
    """Verify the bytes of an attestation with the keys of the caller."""
    try:
        document = strict_json.parse_canonical(data, strict_json.MEBIBYTE)
        require(fits(ATTESTATIONS[purpose], document), "attestation.INVALID")
        statement = document["statement"]
        require(statement["predicateType"] == _TYPES[purpose], "attestation.PREDICATE_UNSUPPORTED")
        with blame("attestation.SIGNATURE_ENCODING"):
            signature = from_base64url(document["signature"])
            check_der_signature(signature)
    except Fault as fault:
        return Signed({fault.code})
    return _verify_named(statement, purpose, scope, caller, strict_json.canonical(statement), [signature])[0]

def _verify_named(statement, purpose, scope, caller, message, signatures):
    """Check the time, the key that the statement names, and one of the signatures with it."""
    signed = Signed({"attestation.ISSUED_IN_FUTURE"} if statement["issuedAtMs"] > caller.as_of else set(), statement)
    if caller.trust is None:
        signed.codes.add("trust.STORE_ABSENT")
        return signed, None
    key, faults, notes, unchecked = caller.trust.judge(statement, purpose, scope, caller.as_of)
    signed.codes |= faults | notes
    if key and not any(verifies(key.point, message, signature) for signature in signatures):
        signed.codes.add("attestation.SIGNATURE_INVALID")
    signed.unchecked = bool(unchecked)
    signed.trusted = not failed(signed.codes) and not unchecked
    return signed, key

def read_envelope(data):
    """The payload of an envelope, its pairs of key id and signature, the statement in it, and its subject."""
    document = strict_json.parse(data, strict_json.MEBIBYTE)
    require(isinstance(document, dict), "dsse.INVALID")
    rows, payload, kind = (document.get(name) for name in ("signatures", "payload", "payloadType"))
    require(isinstance(rows, list) and rows and isinstance(payload, str) and isinstance(kind, str), "dsse.INVALID")
    require(len(rows) <= 64, "dsse.SIGNATURES_EXCEEDED")
    require(all(isinstance(row, dict) for row in rows), "dsse.INVALID")
    pairs = [(row.get("keyid", ""), row.get("sig")) for row in rows]
    require(all(isinstance(text, str) for pair in pairs for text in pair), "dsse.INVALID")
    require(all(len(keyid) <= 256 for keyid, _ in pairs), "dsse.INVALID")
    payload = from_base64(payload, "dsse.INVALID")
    pairs = [(keyid, from_base64(signature, "dsse.INVALID")) for keyid, signature in pairs]
    require(kind == _IN_TOTO, "dsse.PAYLOAD_TYPE_UNSUPPORTED")
    content = strict_json.parse(payload)
    names = {"_type", "subject", "predicateType", "predicate"}
    require(isinstance(content, dict) and content.keys() == names, "dsse.STATEMENT_INVALID")
    statement = content["predicate"]
    valid = any(fits(schema(name)["properties"]["statement"], statement) for name in ATTESTATIONS.values())
    subject = strict_json.canonical(content["subject"]).decode()
    subject = re.fullmatch('\\[{"digest":{"sha256":"([0-9a-f]{64})"},"name":"manifest.json"}\\]', subject)
    valid = valid and subject and statement["predicateType"] == content["predicateType"]
    require(valid and content["_type"] == "https://in-toto.io/Statement/v1", "dsse.STATEMENT_INVALID")
    return payload, pairs, statement, "sha256:" + subject[1]

def verify_envelope(data, purpose, scope, caller):
    """Verify the bytes of an envelope with the keys of the caller."""
    try:
        payload, pairs, statement, subject = read_envelope(data)
        valid = fits(schema(ATTESTATIONS[purpose])["properties"]["statement"], statement)
        valid = valid and statement["predicateType"] == _TYPES[purpose]
        require(valid, "attestation.PREDICATE_UNSUPPORTED")
        require(subject == statement["subject"]["manifestDigest"], "dsse.SUBJECT_MISMATCH")
        names = ("", statement["keyId"])
        require(any(keyid in names for keyid, _ in pairs), "dsse.KEYID_MISMATCH")
        named = [signature for keyid, signature in pairs if keyid in names and _is_der(signature)]
        require(named, "attestation.SIGNATURE_ENCODING")
    except Fault as fault:
        return Signed({fault.code})
    message = f"DSSEv1 {len(_IN_TOTO)} {_IN_TOTO} {len(payload)} ".encode() + payload
    signed, key = _verify_named(statement, purpose, scope, caller, message, named)
    if signed.trusted:
        points = {key.point}
        for keyid, signature in [pair for pair in pairs if pair[0] not in names]:
            other = _countersigner({**statement, "keyId": keyid}, purpose, scope, caller)
            counts = other and _is_der(signature) and verifies(other.point, message, signature)
            points |= {other.point} if counts else set()
            signed.codes |= set() if counts else {"dsse.SIGNATURE_UNCOUNTED"}
        signed.codes |= {"dsse.THRESHOLD_MISSED"} if len(points) < caller.threshold else set()
        signed.trusted = not failed(signed.codes)
    return signed

def _is_der(signature):
    try:
        return check_der_signature(signature) is None
    except Fault:
        return False

def _countersigner(statement, purpose, scope, caller):
    """The one key of the store that may count for an additional signature."""
    issuers = [issuer for issuer, kid in caller.trust.keys if kid == statement["keyId"]]
    if statement["issuer"] not in issuers and len(issuers) == 1:
        statement = {**statement, "issuer": issuers[0]}
    key, faults, _, unchecked = caller.trust.judge(statement, purpose, scope, caller.as_of)
    return None if faults or unchecked else key
