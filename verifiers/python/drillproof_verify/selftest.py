"""Answers the cases of `drillproof selftest --exec "python3 -m drillproof_verify.selftest"`."""
import base64
import json
import pathlib
import re
import sys

from . import archive, bundles, exports, forms, receipts, statements, strict_json, text, trust

def _caller(case):
    store = trust.TrustStore(case["trust"]) if "trust" in case else None
    options = {name: case[name] for name in ("expect", "limits", "depth", "threshold") if name in case}
    return statements.Caller(store, case["asOfMs"], **options)

def _verdict(result, codes, **members):
    valid = result in ("verified", "intact", "valid", "not_checked")
    return {"valid": valid, "result": result, "codes": sorted(codes)} | members

def _hex(case):
    return {"base64": base64.b64encode(text.from_hex(case["text"])).decode()}

def _base64url(case):
    return {"hex": text.from_base64url(case["text"]).hex()}

def _canonical_json(case):
    return {"canonical": strict_json.canonical(json.loads(case["json"], parse_int=float)).decode()}

def _identifiers(case):
    text.require(re.fullmatch(text.IDENTIFIERS[case["format"]], case["text"]), "")
    return {}

def _der_signatures(case):
    trust.check_der_signature(bytes.fromhex(case["hex"]))
    return {}

def _strict_json(case):
    limits = {name: case[member] for name, member in (("max_bytes", "maxBytes"), ("max_values", "maxValues")) if member in case}
    return {"canonical": strict_json.canonical(strict_json.parse(case["hex"], **limits)).decode()}

def _paths(case):
    text.require(all(map(text.is_path, case["paths"])), "zip.NAME_INVALID")
    text.require(text.are_distinct(case["paths"]), "zip.ENTRY_DUPLICATE")
    return {}

def _signatures(case):
    point, message, signature = (bytes.fromhex(case[name]) for name in ("point", "message", "signature"))
    trust.check_point(point)
    trust.check_der_signature(signature)
    text.require(trust.verifies(point, message, signature), "attestation.SIGNATURE_INVALID")
    return {}

def _key_files(case):
    point, period = trust.read_key_file(case["base64"], case["use"])
    dates = {"notBeforeMs": period[0], "notAfterMs": period[1], "fromCertificate": True} if period else {}
    return {"point": point.hex(), "keyId": trust.key_id(point)} | dates

def _trust_stores(case):
    return {"keys": [
        {"issuer": issuer, "keyId": kid, "purposes": sorted(set(key.purposes)), "compromised": key.compromised}
        for (issuer, kid), key in sorted(trust.TrustStore(case["base64"]).keys.items())
    ]}

def _judge_key(case):
    statement, store = case["statement"], trust.TrustStore(case["trust"])
    _, faults, notes, unchecked = store.judge(statement, statement["purpose"], statement, statement.get("asOfMs"))
    return {"valid": not faults, "codes": sorted(faults | notes), "unchecked": unchecked}

def _archives(case):
    found = archive.Archive(case["zip"], case.get("limits"))
    rows = [(name, found.read(name)) for name in found.entries]
    entries = [{"name": name, "bytes": len(data), "digest": text.sha256(data)} for name, data in rows]
    return {"entries": entries, "warnings": sorted(found.warnings)}

def _bundle_manifests(case):
    manifest = strict_json.parse_canonical(case["manifest"])
    forms.check_bundle_manifest(manifest, *case.get("limits", {}).values())
    return {"digest": text.sha256(case["manifest"]), "objects": len(manifest["objects"])}

def _export_manifests(case):
    manifest = strict_json.parse_canonical(case["manifest"])
    forms.check_export_manifest(manifest, *case.get("limits", {}).values())
    counts = {name: len(manifest[name]) for name in ("parts", "localReports")}
    return {"digest": text.sha256(case["manifest"]), "selectionDigest": exports.selection_digest(manifest)} | counts

def _attestations(case):
    signed = statements.verify_attestation(case["attestation"], "evidence", case, _caller(case))
    subject = signed.statement["subject"] if signed.statement else {}
    if subject.get("manifestDigest") != case.get("manifestDigest", subject.get("manifestDigest")) and subject:
        signed.codes.add("attestation.SUBJECT_MISMATCH")
    return _verdict(signed.result(), signed.codes)

def _bundles(case):
    bundle = bundles.Bundle(case["zip"], _caller(case))
    return None if "coverage" in case else _verdict(bundle.verdict, bundle.codes)

def _dsse(case):
    caller, purpose = _caller(case), case.get("purpose", "evidence")
    if "part" in case:
        bundle = bundles.Bundle(case["part"], caller, [case["envelope"]])
        return _verdict(bundle.verdict, bundle.codes)
    signed = bundles.verify_detached(case["envelope"], purpose, case.get("manifest"), caller)
    return _verdict(signed.result(), signed.codes)

def _exports(case):
    envelopes = [envelope.encode() for envelope in case.get("envelopes", [])]
    files, codes = {row["path"]: row["data"].__bytes__ for row in case.get("files", [])}, set()
    if "zip" in case:
        files, codes = exports.archive_files(case["zip"])
    export = exports.Export(files, _caller(case), case.get("irregular", ()), envelopes, codes)
    return None if "coverage" in case else _verdict(export.verdict, export.all_codes(), completeness=export.completeness)

def answer(folder):
    """The exit code of a case and its details."""
    case = json.loads((folder / "case.json").read_text("utf-8"))
    kind = globals().get("_" + case["kind"].replace("-", "_"))
    if kind is None:
        return 77, None
    files = {name: (folder / file).read_bytes() for name, file in case["files"].items()}
    for row in case["input"].get("files", []) if case["kind"] == "exports" else []:
        row["data"] = (folder / row["file"]).read_bytes()
    try:
        details = kind({**case["input"], **files})
    except text.Fault as fault:
        return 1, {"code": fault.code} if fault.code else {}
    return 0 if details.pop("valid", True) else 1, details

if __name__ == "__main__":
    code, details = answer(pathlib.Path(sys.argv[1]))
    print(json.dumps(details))
    sys.exit(code)
