"""Answers the cases of `drillproof selftest --exec "python3 -m drillproof_verify.selftest"`."""
import base64
import json
import re
import sys

from . import bundles, exports, mirrors, trust
from .archive import Archive
from .documents import (Fault, are_distinct, canonical, from_base64url, from_hex, is_path, parse,
                        read_file, read_manifest, refuse, selection_digest, sha256)

_LETTERS, _ID = "_[0-9a-z]{12,32}", "[0-9A-Za-z-]+"
_WORD = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_IDENTIFIERS = {
    "organizationId": "org" + _LETTERS, "projectId": "prj" + _LETTERS, "environmentId": "env" + _LETTERS,
    "sessionId": "ses" + _LETTERS, "operationId": "op" + _LETTERS, "hostedRunId": "hrun" + _LETTERS,
    "authoringSessionId": "authsess" + _LETTERS, "evidenceExportId": "evexp" + _LETTERS,
    "evidenceBundleId": "evidence" + _LETTERS, "buildAttemptId": "attempt" + _LETTERS,
    "sourceDraftId": "draft" + _LETTERS, "seed": ".{1,20}",
    "runId": "run_[A-Za-z0-9][A-Za-z0-9_-]{5,95}", "localReportId": "[A-Za-z0-9_-]{1,128}",
    "digest": "sha256:[0-9a-f]{64}", "slug": "(?=.{1,96}$)[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*",
    "idempotencyKey": "[A-Za-z0-9._:-]{8,128}", "revision": "[0-9a-f]{40}",
    "decimalBytes": "0|[1-9][0-9]{0,37}",
    "semver": rf"(?:(?:0|[1-9]\d*)\.){{2}}(?:0|[1-9]\d*)(?:-{_WORD}(?:\.{_WORD})*)?(?:\+{_ID}(?:\.{_ID})*)?",
}

_KINDS = ("hex base64url strict-json canonical-json identifiers paths archives bundle-manifests dsse bundles"
          " export-manifests der-signatures signatures key-files trust-stores check-key attestations exports"
          " receipts")

def _verdict(found, coverage=False):
    valid = found.verdict in ("verified", "intact", "valid", "not_checked")
    return {"valid": valid, "result": found.verdict, "codes": sorted(found.codes)} | (
        {"coverage": found.coverage.counts} if coverage else {})

def _answer(kind, case):
    """The details of a case."""
    store = trust.TrustStore(case["trust"]) if "trust" in case else None
    options = {name: case[name] for name in ("expect", "limits", "depth", "threshold") if name in case}
    caller = trust.Caller(trust=store, as_of=case.get("asOfMs"), **options)
    details, limits = {}, caller.limits
    match kind:
        case "hex":
            details = {"base64": base64.b64encode(from_hex(case["text"])).decode()}
        case "base64url":
            details = {"hex": from_base64url(case["text"]).hex()}
        case "strict-json":
            value = parse(case["hex"], case.get("maxBytes", 1 << 26), case.get("maxValues", 1_000_000))
            details = {"canonical": canonical(value).decode()}
        case "canonical-json":
            details = {"canonical": canonical(json.loads(case["json"], parse_int=float)).decode()}
        case "identifiers":
            refuse({"": not re.fullmatch(_IDENTIFIERS[case["format"]], case["text"], re.ASCII)})
        case "paths":
            refuse({"zip.NAME_INVALID": not all(map(is_path, case["paths"])),
                    "zip.ENTRY_DUPLICATE": not are_distinct(case["paths"])})
        case "archives":
            found = Archive(case["zip"], limits)
            rows = [(name, found.read(name)) for name in found.entries]
            entries = [{"name": name, "bytes": len(data), "digest": sha256(data)} for name, data in rows]
            details = {"entries": entries, "warnings": sorted(found.warnings)}
        case "bundle-manifests":
            manifest = read_manifest(case["manifest"], "bundle", limits.get("objects"))
            details = {"digest": sha256(case["manifest"]), "objects": len(manifest["objects"])}
        case "export-manifests":
            manifest = read_manifest(case["manifest"], "export", limits.get("parts"))
            details = {"digest": sha256(case["manifest"]), "selectionDigest": selection_digest(manifest),
                       "parts": len(manifest["parts"]), "localReports": len(manifest["localReports"])}
        case "der-signatures":
            refuse({"encoding.DER_INVALID": not trust.is_der_signature(bytes.fromhex(case["hex"]))})
        case "signatures":
            names = ("point", "message", "signature")
            point, message, signature = (bytes.fromhex(case[name]) for name in names)
            trust.read_point(point)
            refuse({"encoding.DER_INVALID": not trust.is_der_signature(signature),
                    "attestation.SIGNATURE_INVALID": not trust.verifies(point, message, signature)})
        case "key-files":
            point, period = trust.read_key_file(case["base64"], case["use"])
            details = {"point": point.hex(), "keyId": trust.key_id(point)}
            if period:
                details |= {"notBeforeMs": period[0], "notAfterMs": period[1], "fromCertificate": True}
        case "trust-stores":
            rows = sorted(trust.TrustStore(case["base64"]).keys.items())
            details = {"keys": [{"issuer": issuer, "keyId": kid, "purposes": sorted(set(key.purposes)),
                                 "compromised": key.compromised} for (issuer, kid), key in rows]}
        case "check-key":
            claims = case["statement"]
            _, faults, notes, unchecked = store.judge(claims, claims["purpose"], claims, claims.get("asOfMs"))
            details = {"valid": not faults, "codes": sorted(faults | notes), "unchecked": unchecked}
        case "attestations":
            signed = trust.verify_attestation(case["attestation"], "evidence", case, caller)
            digest = signed.statement and signed.statement["subject"]["manifestDigest"]
            differs = digest and digest != case.get("manifestDigest", digest)
            signed.codes |= {"attestation.SUBJECT_MISMATCH"} if differs else set()
            details = _verdict(signed)
        case "dsse" if "part" in case:
            details = _verdict(bundles.Bundle(case["part"], caller, [case["envelope"]]))
        case "dsse":
            purpose, manifest = case.get("purpose", "evidence"), case.get("manifest")
            details = _verdict(bundles.verify_detached(case["envelope"], purpose, manifest, caller))
        case "bundles":
            details = _verdict(bundles.Bundle(case["zip"], caller), "coverage" in case)
        case "exports":
            files = {row["path"]: row["data"].__bytes__ for row in case.get("files", [])}
            source, envelopes = Archive(case["zip"]) if "zip" in case else files, case.get("envelopes", [])
            irregular = case.get("irregular", ())
            export = exports.Export(source, caller, irregular, map(str.encode, envelopes))
            details = _verdict(export, "coverage" in case) | {"completeness": export.completeness}
        case "receipts":
            files = {path: text.encode() for path, text in case["files"].items()}
            details = _verdict(mirrors.Receipts(files, case.get("expectHead"), case.get("single")))
    return details

def answer(folder):
    """The exit code of a case and its details."""
    case = json.loads(read_file(folder, "case.json"))
    kind, given = case["kind"], case["input"]
    if kind not in _KINDS.split():
        return 77, None
    given |= {name: read_file(folder, file) for name, file in case["files"].items()}
    for row in given.get("files", []) if kind == "exports" else []:
        row["data"] = read_file(folder, row["file"])
    try:
        details = _answer(kind, given)
    except Fault as fault:
        return 1, {"code": str(fault)} if str(fault) else {}
    return 0 if details.pop("valid", True) else 1, details

if __name__ == "__main__":
    code, details = answer(sys.argv[1])
    print(json.dumps(details))
    sys.exit(code)
