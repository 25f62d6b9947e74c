"""Answers the cases of `drillproof selftest --exec "python3 -m drillproof_verify.selftest"`."""
import base64
import json
import pathlib
import re
import sys

from . import archive, documents
from .documents import Fault, canonical, parse, read_bundle_manifest, read_export_manifest, refuse, sha256

_PREFIXES = dict(zip(
    ("organizationId projectId environmentId sessionId operationId authoringSessionId hostedRunId evidenceExportId "
     "evidenceBundleId buildAttemptId sourceDraftId").split(),
    "org prj env ses op authsess hrun evexp evidence attempt draft".split()))
_WORD = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_IDENTIFIERS = {name: prefix + "_[0-9a-z]{12,32}" for name, prefix in _PREFIXES.items()} | {
    "runId": "run_[A-Za-z0-9][A-Za-z0-9_-]{5,95}", "localReportId": "[A-Za-z0-9_-]{1,128}",
    "digest": "sha256:[0-9a-f]{64}", "slug": "(?=.{1,96}$)[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*", "seed": ".{1,20}",
    "idempotencyKey": "[A-Za-z0-9._:-]{8,128}", "revision": "[0-9a-f]{40}", "decimalBytes": "0|[1-9][0-9]{0,37}",
    "semver": r"(?:(?:0|[1-9]\d*)\.){2}(?:0|[1-9]\d*)"
              rf"(?:-{_WORD}(?:\.{_WORD})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
}

def _load_slow_modules():
    """Load what needs `cryptography`, without which every second case takes half the time."""
    global bundles, exports, trust
    from . import bundles, exports, trust

def _check(condition, code=""):
    refuse({code: not condition})
    return {}

def _caller(case):
    store = trust.TrustStore(case["trust"]) if "trust" in case else None
    options = {name: case[name] for name in ("expect", "limits", "depth", "threshold") if name in case}
    return trust.Caller(store, case["asOfMs"], **options)

def _verdict(found, **members):
    valid = found.verdict in ("verified", "intact", "valid", "not_checked")
    return {"valid": valid, "result": found.verdict, "codes": sorted(found.codes)} | members

def _paths(case):
    refuse({"zip.NAME_INVALID": not all(map(documents.is_path, case["paths"]))})
    return _check(documents.are_distinct(case["paths"]), "zip.ENTRY_DUPLICATE")

def _signatures(case):
    point, message, signature = (bytes.fromhex(case[name]) for name in ("point", "message", "signature"))
    trust.read_point(point)
    refuse({"encoding.DER_INVALID": not trust.is_der_signature(signature)})
    return _check(trust.verifies(point, message, signature), "attestation.SIGNATURE_INVALID")

def _key_files(case):
    point, period = trust.read_key_file(case["base64"], case["use"])
    dates = {"notBeforeMs": period[0], "notAfterMs": period[1], "fromCertificate": True} if period else {}
    return {"point": point.hex(), "keyId": trust.key_id(point)} | dates

def _trust_stores(case):
    rows = sorted(trust.TrustStore(case["base64"]).keys.items())
    return {"keys": [{"issuer": issuer, "keyId": kid, "purposes": sorted(set(key.purposes)),
                      "compromised": key.compromised} for (issuer, kid), key in rows]}

def _judge_key(case):
    claims, store = case["statement"], trust.TrustStore(case["trust"])
    _, faults, notes, unchecked = store.judge(claims, claims["purpose"], claims, claims.get("asOfMs"))
    return {"valid": not faults, "codes": sorted(faults | notes), "unchecked": unchecked}

def _archives(case):
    found = archive.Archive(case["zip"], case.get("limits"))
    rows = [(name, found.read(name)) for name in found.entries]
    entries = [{"name": name, "bytes": len(data), "digest": sha256(data)} for name, data in rows]
    return {"entries": entries, "warnings": sorted(found.warnings)}

def _bundle_manifests(case):
    manifest = read_bundle_manifest(case["manifest"], *case.get("limits", {}).values())
    return {"digest": sha256(case["manifest"]), "objects": len(manifest["objects"])}

def _export_manifests(case):
    manifest = read_export_manifest(case["manifest"], *case.get("limits", {}).values())
    return {"digest": sha256(case["manifest"]), "selectionDigest": documents.selection_digest(manifest),
            "parts": len(manifest["parts"]), "localReports": len(manifest["localReports"])}

def _attestations(case):
    signed = trust.verify_attestation(case["attestation"], "evidence", case, _caller(case))
    digest = signed.statement and signed.statement["subject"]["manifestDigest"]
    if digest != case.get("manifestDigest", digest):
        signed.codes |= {"attestation.SUBJECT_MISMATCH"} if digest else set()
    return _verdict(signed)

def _dsse(case):
    if "part" in case:
        return _verdict(bundles.Bundle(case["part"], _caller(case), [case["envelope"]]))
    purpose = case.get("purpose", "evidence")
    return _verdict(bundles.verify_detached(case["envelope"], purpose, case.get("manifest"), _caller(case)))

def _exports(case):
    files = {row["path"]: row["data"].__bytes__ for row in case.get("files", [])}
    source, envelopes = archive.Archive(case["zip"]) if "zip" in case else files, case.get("envelopes", [])
    export = exports.Export(source, _caller(case), case.get("irregular", ()), map(str.encode, envelopes))
    return _verdict(export, completeness=export.completeness)

def _receipts(case):
    files = {path: text.encode() for path, text in case["files"].items()}
    return _verdict(exports.Receipts(files, case.get("expectHead"), case.get("single")))

_LIGHT = {
    "hex": lambda case: {"base64": base64.b64encode(documents.from_hex(case["text"])).decode()},
    "base64url": lambda case: {"hex": documents.from_base64url(case["text"]).hex()},
    "strict-json": lambda case: {"canonical": canonical(parse(
        case["hex"], case.get("maxBytes", 1 << 26), case.get("maxValues", 1_000_000))).decode()},
    "canonical-json": lambda case: {"canonical": canonical(json.loads(case["json"], parse_int=float)).decode()},
    "identifiers": lambda case: _check(re.fullmatch(_IDENTIFIERS[case["format"]], case["text"])),
    "paths": _paths, "archives": _archives, "bundle-manifests": _bundle_manifests,
    "export-manifests": _export_manifests,
}
_SLOW = {
    "der-signatures": lambda case: _check(
        trust.is_der_signature(bytes.fromhex(case["hex"])), "encoding.DER_INVALID"),
    "bundles": lambda case: _verdict(bundles.Bundle(case["zip"], _caller(case))),
    "signatures": _signatures, "key-files": _key_files, "trust-stores": _trust_stores, "judge-key": _judge_key,
    "attestations": _attestations, "dsse": _dsse, "exports": _exports, "receipts": _receipts,
}

def answer(folder):
    """The exit code of a case and its details."""
    case = json.loads((folder / "case.json").read_text("utf-8"))
    kind = _LIGHT.get(case["kind"], _SLOW.get(case["kind"]))
    if kind is None or case["input"].get("coverage"):
        return 77, None
    if case["kind"] in _SLOW:
        _load_slow_modules()
    files = {name: (folder / file).read_bytes() for name, file in case["files"].items()}
    for row in case["input"].get("files", []) if case["kind"] == "exports" else []:
        row["data"] = (folder / row["file"]).read_bytes()
    try:
        details = kind({**case["input"], **files})
    except Fault as fault:
        return 1, {"code": str(fault)} if str(fault) else {}
    return 0 if details.pop("valid", True) else 1, details

if __name__ == "__main__":
    code, details = answer(pathlib.Path(sys.argv[1]))
    print(json.dumps(details))
    sys.exit(code)
