"""Answers the cases of `drillproof selftest --exec "python3 -m drillproof_verify.selftest"`."""
import base64
import json
import pathlib
import re
import sys

from .archive import Archive
from .documents import (Fault, are_distinct, canonical, from_base64url, from_hex, is_path, parse,
                        read_manifest, refuse, selection_digest, sha256)

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

def _check(faults):
    refuse(faults)
    return {}

def _verdict(found, **members):
    valid = found.verdict in ("verified", "intact", "valid", "not_checked")
    return {"valid": valid, "result": found.verdict, "codes": sorted(found.codes)} | members

def _archives(case):
    found = Archive(case["zip"], case.get("limits"))
    rows = [(name, found.read(name)) for name in found.entries]
    entries = [{"name": name, "bytes": len(data), "digest": sha256(data)} for name, data in rows]
    return {"entries": entries, "warnings": sorted(found.warnings)}

def _manifests(case, kind):
    manifest = read_manifest(case["manifest"], kind, *case.get("limits", {}).values())
    counts = {name: len(manifest[name]) for name in ("objects", "parts", "localReports") if name in manifest}
    selection = {"selectionDigest": selection_digest(manifest)} if kind == "export" else {}
    return {"digest": sha256(case["manifest"])} | counts | selection

def _load_trust():
    """The kinds that need `cryptography`, which takes longer to load than the other kinds to answer."""
    from . import bundles, exports, trust

    def caller(case):
        store = trust.TrustStore(case["trust"]) if "trust" in case else None
        options = {name: case[name] for name in ("expect", "limits", "depth", "threshold") if name in case}
        return trust.Caller(trust=store, as_of=case["asOfMs"], **options)

    def check_signature(case):
        point, message, signature = (bytes.fromhex(case[name]) for name in ("point", "message", "signature"))
        trust.read_point(point)
        return _check({"encoding.DER_INVALID": not trust.is_der_signature(signature),
                       "attestation.SIGNATURE_INVALID": not trust.verifies(point, message, signature)})

    def read_key(case):
        point, period = trust.read_key_file(case["base64"], case["use"])
        dates = {"notBeforeMs": period[0], "notAfterMs": period[1], "fromCertificate": True} if period else {}
        return {"point": point.hex(), "keyId": trust.key_id(point)} | dates

    def read_store(case):
        rows = sorted(trust.TrustStore(case["base64"]).keys.items())
        return {"keys": [{"issuer": issuer, "keyId": kid, "purposes": sorted(set(key.purposes)),
                          "compromised": key.compromised} for (issuer, kid), key in rows]}

    def judge(case):
        claims, store = case["statement"], trust.TrustStore(case["trust"])
        _, faults, notes, unchecked = store.judge(claims, claims["purpose"], claims, claims.get("asOfMs"))
        return {"valid": not faults, "codes": sorted(faults | notes), "unchecked": unchecked}

    def attest(case):
        signed = trust.verify_attestation(case["attestation"], "evidence", case, caller(case))
        digest = signed.statement and signed.statement["subject"]["manifestDigest"]
        differs = digest and digest != case.get("manifestDigest", digest)
        signed.codes |= {"attestation.SUBJECT_MISMATCH"} if differs else set()
        return _verdict(signed)

    def read_dsse(case):
        if "part" in case:
            return _verdict(bundles.Bundle(case["part"], caller(case), [case["envelope"]]))
        purpose, manifest = case.get("purpose", "evidence"), case.get("manifest")
        return _verdict(bundles.verify_detached(case["envelope"], purpose, manifest, caller(case)))

    def read_export(case):
        files = {row["path"]: row["data"].__bytes__ for row in case.get("files", [])}
        source, envelopes = Archive(case["zip"]) if "zip" in case else files, case.get("envelopes", [])
        export = exports.Export(source, caller(case), case.get("irregular", ()), map(str.encode, envelopes))
        return _verdict(export, completeness=export.completeness)

    def read_receipts(case):
        files = {path: text.encode() for path, text in case["files"].items()}
        return _verdict(exports.Receipts(files, case.get("expectHead"), case.get("single")))

    return {
        "signatures": check_signature, "key-files": read_key, "trust-stores": read_store, "judge-key": judge,
        "attestations": attest, "dsse": read_dsse, "exports": read_export, "receipts": read_receipts,
        "bundles": lambda case: _verdict(bundles.Bundle(case["zip"], caller(case))),
        "der-signatures": lambda case: _check({
            "encoding.DER_INVALID": not trust.is_der_signature(bytes.fromhex(case["hex"]))}),
    }

_KINDS = {
    "hex": lambda case: {"base64": base64.b64encode(from_hex(case["text"])).decode()},
    "base64url": lambda case: {"hex": from_base64url(case["text"]).hex()},
    "strict-json": lambda case: {"canonical": canonical(parse(
        case["hex"], case.get("maxBytes", 1 << 26), case.get("maxValues", 1_000_000))).decode()},
    "canonical-json": lambda case: {
        "canonical": canonical(json.loads(case["json"], parse_int=float)).decode()},
    "identifiers": lambda case: _check({
        "": not re.fullmatch(_IDENTIFIERS[case["format"]], case["text"], re.ASCII)}),
    "paths": lambda case: _check({"zip.NAME_INVALID": not all(map(is_path, case["paths"])),
                                  "zip.ENTRY_DUPLICATE": not are_distinct(case["paths"])}),
    "archives": _archives, "bundle-manifests": lambda case: _manifests(case, "bundle"),
    "export-manifests": lambda case: _manifests(case, "export"),
}

def answer(folder):
    """The exit code of a case and its details."""
    case = json.loads((folder / "case.json").read_text("utf-8"))
    kind = _KINDS.get(case["kind"]) or _load_trust().get(case["kind"])
    if kind is None or case["input"].get("coverage"):
        return 77, None
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
