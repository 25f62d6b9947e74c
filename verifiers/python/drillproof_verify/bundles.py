"""Bundles: part archives and what is signed about them (formats §1, §2, §4)."""

import hashlib

from . import strict_json
from .archive import Archive
from .forms import SIGNED_ROLES, check_bundle_manifest, fits
from .statements import failed, verify_attestation, verify_envelope
from .text import Fault, require, sha256

_INPUTS = ("drillId", "targetId", "buildHash", "packageLockHash", "seed", "scenarioId", "setupHash")
_COUNTERS = {
    "originalTrial": "trial", "originalTrialCount": "trialCount", "originalAttempt": "attempt",
    "originalAttemptLimit": "attemptLimit",
}

class Bundle:
    """The verification of one part archive, alone or by the row of an export."""

    def __init__(self, data, caller, envelopes=(), row=None):
        self.codes, self.manifest, self.signed, self.trusted = set(), None, False, False
        self.source_bytes = None
        try:
            self._verify(data, caller, envelopes, row)
        except Fault as fault:
            self.codes.add(fault.code)

    @property
    def verdict(self):
        return "failed" if failed(self.codes) else "verified" if self.trusted else "intact"

    def _verify(self, data, caller, envelopes, row):
        archive = Archive(data)
        self.codes |= archive.warnings
        self.signed = "attestation.json" in archive.entries
        require("manifest.json" in archive.entries, "bundle.MANIFEST_MISSING")
        raw = archive.entries["manifest.json"].read()
        manifest = strict_json.parse_canonical(raw)
        check_bundle_manifest(manifest)
        self.manifest, self.digest = manifest, sha256(raw)
        self.source_bytes = len(raw) + sum(item["bytes"] for item in manifest["objects"])
        self._compare_expected(caller.expect if row is None else {})
        before = set(self.codes)
        result = self._check_objects(archive)
        intact = not failed(self.codes - before)
        scope = {name: manifest[name] for name in ("projectId", "organizationId")}
        statements = [verify_envelope(envelope, "evidence", scope, caller) for envelope in envelopes]
        if self.signed:
            raw = archive.entries["attestation.json"].read()
            statements.append(verify_attestation(raw, "evidence", scope, caller))
        for signed in statements:
            self.codes |= signed.codes
            if signed.statement:
                self.codes |= check_binding(signed.statement, self.digest, manifest, result, intact)
        self.trusted = bool(statements) and all(signed.trusted for signed in statements)
        if not statements:
            self.codes.add("bundle.UNSIGNED")

    def _compare_expected(self, expect):
        actual = {**self.manifest, "manifestDigest": self.digest}
        for name in ("manifest", "organization", "project"):
            member = "manifestDigest" if name == "manifest" else name + "Id"
            if expect.get(member, actual[member]) != actual[member]:
                self.codes.add(f"expect.{name.upper()}_MISMATCH")

    def _check_objects(self, archive):
        """Compare the entries with the manifest; the run result if it is valid."""
        rows = {row["path"]: row for row in self.manifest["objects"]}
        expected = [name for name in ("manifest.json", "attestation.json", *rows) if name in archive.entries]
        extra = [name for name in archive.in_file_order if name not in expected]
        if archive.in_file_order != expected + extra:
            self.codes.add("zip.ORDER_UNUSUAL")
        self.codes |= {"object.EXTRA"} if extra else set()
        result = None
        for path, row in rows.items():
            try:
                require(path in archive.entries, "object.MISSING")
                intact = self._compare_bytes(archive.entries[path], row)
                if intact and row.get("role") == "run-result":
                    found = strict_json.parse_canonical(archive.entries[path].read())
                    require(fits("run-result.v1", found), "bundle.RUN_RESULT_INVALID")
                    self.codes |= find_contradictions(found)
                    result = found
            except Fault as fault:
                self.codes.add(fault.code)
        return result

    def _compare_bytes(self, entry, row):
        digest = hashlib.sha256()
        for chunk in entry.chunks():
            digest.update(chunk)
        faults = set()
        if entry.size != row["bytes"]:
            faults.add("object.BYTES_MISMATCH")
        if "sha256:" + digest.hexdigest() != row["digest"]:
            faults.add("object.DIGEST_MISMATCH")
        self.codes |= faults
        return not faults

def check_binding(statement, digest, manifest, result, intact=True):
    """Compare every signed field with what it names (formats §2, Bound when signed)."""
    subject, codes = statement["subject"], set()
    if subject["manifestDigest"] != digest:
        codes.add("attestation.SUBJECT_MISMATCH")
    digests = {row.get("role"): row["digest"] for row in manifest["objects"]}
    if not SIGNED_ROLES.keys() <= digests.keys():
        codes.add("bundle.MANIFEST_INVALID")
    pairs = [(subject[name + "Hash"], digests.get(role)) for role, name in SIGNED_ROLES.items()]
    pairs.append((subject["runId"], manifest["runId"]))
    if result:
        identity, reproduction = result["identity"], subject["reproduction"]
        pairs.append((subject["runId"], identity["runId"]))
        pairs += [(subject[name], result[name]) for name in ("stateHash", "evidenceHash", "trajectoryHash")]
        pairs += [(reproduction.get(name), identity.get(name)) for name in _INPUTS]
        if "rerunOfHostedRunId" not in manifest:
            pairs += [(reproduction[name], identity[counter]) for name, counter in _COUNTERS.items()]
    if intact and any(signed != actual for signed, actual in pairs):
        codes.add("bundle.BINDING_MISMATCH")
    return codes | ({"run.AFTER_SIGNATURE"} if manifest["createdAtMs"] > statement["issuedAtMs"] else set())

def find_contradictions(result):
    """The warnings about a run result that contradicts itself (formats §4, Runs)."""
    final = [checkpoint for checkpoint in result["checkpoints"] if checkpoint["kind"] == "final"]
    assertions = result["assertionResults"] + [
        assertion for checkpoint in result["checkpoints"] for assertion in checkpoint["assertionResults"]
    ]
    bound = [result["bindingEvidence"], *(row["bindingEvidence"] for row in result["interactions"])]
    tools, events = result["budgetUsage"]["toolCalls"], result["budgetUsage"]["scheduledEvents"]

    def contradicts(outcome):
        verdict = result["verdict"]
        return outcome != "passed" and verdict == "passed" or outcome == "failed" and verdict != "failed"

    warnings = {
        "run.WORLD_INCONSISTENT": result["worldConsistency"] != "consistent",
        "run.BINDING_PARTIAL": any(state != "complete" for state in bound),
        "run.ASSERTION_FAILED": any(row["gate"] and contradicts(row["status"]) for row in assertions),
        "run.CHECKPOINT_FAILED": any(contradicts(checkpoint["verdict"]) for checkpoint in final),
        "run.BUDGET_EXCEEDED": (
            tools["rejected"] > 0 or tools["attempted"] > tools["limit"]
            or events["exhausted"] or events["processed"] > events["limit"]
        ),
    }
    return {code for code, applies in warnings.items() if applies}

def verify_detached(envelope, purpose, raw, caller):
    """Verify an envelope with the manifest that it must be about, if there is one, and nothing else."""
    manifest = strict_json.parse_canonical(raw) if raw is not None else {}
    scope = {name: manifest.get(name) for name in ("projectId", "organizationId")}
    signed = verify_envelope(envelope, purpose, scope | manifest.get("scope", {}), caller)
    if signed.statement and raw is not None:
        subject = signed.statement["subject"]
        if purpose == "evidence":
            signed.codes |= check_binding(signed.statement, sha256(raw), manifest, None)
        elif subject != {**{name: manifest[name] for name in subject if name in manifest}, "manifestDigest": sha256(raw)}:
            signed.codes.add("export.ATTESTATION_SUBJECT_MISMATCH")
    return signed
