"""Attestations and DSSE envelopes (formats §2)."""

import dataclasses

from . import strict_json
from .forms import ATTESTATIONS, fits, schema
from .text import Fault, from_base64, from_base64url, require
from .trust import TrustStore, check_der_signature, verifies

TYPES = {"evidence": "urn:drillproof:attestation:evidence:v1", "export": "urn:drillproof:attestation:export:v1"}
_IN_TOTO = "application/vnd.in-toto+json"
_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}

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
    """A signed statement, `None` if it breaks its format, and what was found about it."""

    statement: dict | None = None
    codes: set = dataclasses.field(default_factory=set)
    trusted: bool = False
    unchecked: bool = False

    def result(self):
        """The result of the statement alone (formats §4)."""
        open_question = self.unchecked or "trust.STORE_ABSENT" in self.codes
        return "invalid" if failed(self.codes) else "not_checked" if open_question else "valid"

def failed(codes):
    """Whether one of the codes is an error; the others are warnings and notes."""
    return any(code not in NOTES and not code.startswith("run.") for code in codes)

NOTES = {
    "trust.STORE_ABSENT", "trust.CHAIN_NOT_CHECKED", "attestation.TIME_CLAIMED", "dsse.SIGNATURE_UNCOUNTED",
    "bundle.UNSIGNED", "export.EMPTY", "export.COMPLETENESS_CLAIMED", "local-report.UNATTESTED", "coverage.LOW",
    "zip.ORDER_UNUSUAL", "zip.METADATA_UNUSUAL", "bag.TAG_UNLISTED", "receipt.INVALID", "receipt.UNLINKED",
    "receipt.ALONE",
}

def verify_attestation(data, purpose, scope, caller):
    """Verify the bytes of an attestation by the keys of the caller."""
    signed = Signed()
    try:
        document = strict_json.parse_canonical(data, strict_json.MEBIBYTE)
        require(fits(ATTESTATIONS[purpose], document), "attestation.INVALID")
        statement = document["statement"]
        require(statement["predicateType"] == TYPES[purpose], "attestation.PREDICATE_UNSUPPORTED")
        try:
            signature = from_base64url(document["signature"])
            check_der_signature(signature)
        except Fault as fault:
            raise Fault("attestation.SIGNATURE_ENCODING") from fault
    except Fault as fault:
        return Signed(codes={fault.code})
    signed.statement = statement
    message = strict_json.canonical(statement)
    _verify_named(signed, purpose, scope, caller, lambda point: verifies(point, message, signature))
    return signed

def _verify_named(signed, purpose, scope, caller, check):
    """Check the time, the key that the statement names, and the signature with it."""
    if signed.statement["issuedAtMs"] > caller.as_of:
        signed.codes.add("attestation.ISSUED_IN_FUTURE")
    if caller.trust is None:
        signed.codes.add("trust.STORE_ABSENT")
        return None
    key, faults, notes, unchecked = caller.trust.judge(signed.statement, purpose, scope, caller.as_of)
    signed.codes |= faults | notes
    signed.unchecked = bool(unchecked)
    if key and not check(key.point):
        signed.codes.add("attestation.SIGNATURE_INVALID")
    signed.trusted = not failed(signed.codes) and not unchecked
    return key

@dataclasses.dataclass
class Envelope:
    """A DSSE envelope whose format is valid."""

    payload: bytes
    signatures: list
    statement: dict
    subject: str

def read_envelope(data):
    """Read an envelope and the in-toto statement in it."""
    document = strict_json.parse(data, strict_json.MEBIBYTE)
    texts = {"payload": {"type": "string"}, "payloadType": {"type": "string"}}
    signature = {"sig": {"type": "string"}, "keyid": {"type": "string", "maxLength": 256}}
    rows = {"type": "array", "minItems": 1, "items": _object(signature, ["sig"])}
    valid = fits(_object({**texts, "signatures": rows}, ["payload", "payloadType", "signatures"]), document)
    require(valid, "dsse.INVALID")
    require(len(document["signatures"]) <= 64, "dsse.SIGNATURES_EXCEEDED")
    payload = from_base64(document["payload"], "dsse.INVALID")
    signatures = [(row.get("keyid", ""), from_base64(row["sig"], "dsse.INVALID")) for row in document["signatures"]]
    require(document["payloadType"] == _IN_TOTO, "dsse.PAYLOAD_TYPE_UNSUPPORTED")
    content = strict_json.parse(payload)
    subject = _closed({"name": {"const": "manifest.json"}, "digest": _closed({"sha256": _DIGEST})})
    form = {
        "_type": {"const": "https://in-toto.io/Statement/v1"}, "predicateType": {"type": "string"},
        "subject": {"type": "array", "minItems": 1, "items": subject},
        "predicate": {"anyOf": [schema(name)["properties"]["statement"] for name in ATTESTATIONS.values()]},
    }
    valid = fits(_closed(form), content) and len(content["subject"]) == 1
    require(valid and content["predicate"]["predicateType"] == content["predicateType"], "dsse.STATEMENT_INVALID")
    return Envelope(payload, signatures, content["predicate"], "sha256:" + content["subject"][0]["digest"]["sha256"])

def _object(members, required):
    return {"type": "object", "properties": members, "required": required}

def _closed(members):
    return {**_object(members, [*members]), "additionalProperties": False}

def verify_envelope(data, purpose, scope, caller):
    """Verify the bytes of an envelope by the keys of the caller."""
    signed = Signed()
    try:
        envelope = read_envelope(data)
        statement = envelope.statement
        form = schema(ATTESTATIONS[purpose])["properties"]["statement"]
        valid = statement["predicateType"] == TYPES[purpose] and fits(form, statement)
        require(valid, "attestation.PREDICATE_UNSUPPORTED")
        require(envelope.subject == statement["subject"]["manifestDigest"], "dsse.SUBJECT_MISMATCH")
        named = [signature for keyid, signature in envelope.signatures if keyid in ("", statement["keyId"])]
        require(named, "dsse.KEYID_MISMATCH")
        named = [signature for signature in named if _is_der(signature)]
        require(named, "attestation.SIGNATURE_ENCODING")
    except Fault as fault:
        return Signed(codes={fault.code})
    signed.statement = statement
    message = f"DSSEv1 {len(_IN_TOTO)} {_IN_TOTO} {len(envelope.payload)} ".encode() + envelope.payload

    def check(point):
        return any(verifies(point, message, signature) for signature in named)

    key = _verify_named(signed, purpose, scope, caller, check)
    if signed.trusted:
        points = {key.point}
        for keyid, signature in envelope.signatures:
            if keyid not in ("", statement["keyId"]):
                other = _countersigner(keyid, statement, purpose, scope, caller)
                if other and _is_der(signature) and verifies(other, message, signature):
                    points.add(other)
                else:
                    signed.codes.add("dsse.SIGNATURE_UNCOUNTED")
        if len(points) < caller.threshold:
            signed.codes.add("dsse.THRESHOLD_MISSED")
    return signed

def _is_der(signature):
    try:
        check_der_signature(signature)
    except Fault:
        return False
    return True

def _countersigner(keyid, statement, purpose, scope, caller):
    """The point of the one key that may count for an additional signature."""
    issuers = [issuer for issuer, kid in caller.trust.keys if kid == keyid]
    issuer = statement["issuer"] if statement["issuer"] in issuers else issuers[0] if len(issuers) == 1 else None
    claims = {**statement, "issuer": issuer, "keyId": keyid}
    key, faults, _, unchecked = caller.trust.judge(claims, purpose, scope, caller.as_of)
    return key.point if key and not faults and not unchecked else None
