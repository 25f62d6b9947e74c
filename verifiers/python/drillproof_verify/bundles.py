"""Bundles: part archives and what is signed about them (formats §1, §2, §4)."""
from . import strict_json
from .archive import Archive
from .forms import SIGNED_ROLES, check_bundle_manifest, fits
from .statements import failed, verify_attestation, verify_envelope
from .text import collect, require, sha256, true_ones

_INPUTS = ("drillId", "targetId", "buildHash", "packageLockHash", "seed", "scenarioId", "setupHash")
_COUNTERS = ("trial", "trialCount", "attempt", "attemptLimit")

class Bundle:
    """The verification of one part archive."""
    def __init__(self, data, caller, envelopes=(), alone=True):
        self.codes, self.manifest, self.signed, self.trusted = set(), None, False, False
        with collect(self.codes):
            self._verify(data, caller, envelopes, caller.expect if alone else {})

    @property
    def verdict(self):
        return "failed" if failed(self.codes) else "verified" if self.trusted else "intact"

    def _verify(self, data, caller, envelopes, expect):
        archive = Archive(data)
        self.codes |= archive.warnings
        self.signed = "attestation.json" in archive.entries
        require("manifest.json" in archive.entries, "bundle.MANIFEST_MISSING")
        raw = archive.read("manifest.json")
        manifest = strict_json.parse_canonical(raw)
        check_bundle_manifest(manifest)
        self.manifest, self.digest = manifest, sha256(raw)
        self.source_bytes = len(raw) + sum(row["bytes"] for row in manifest["objects"])
        for name, actual in {"manifestDigest": self.digest, **self.scope()}.items():
            if expect.get(name, actual) != actual:
                self.codes.add(f"expect.{name.removesuffix('Id').removesuffix('Digest').upper()}_MISMATCH")
        result, faults = self._check_objects(archive)
        self.codes |= faults
        statements = [verify_envelope(envelope, "evidence", self.scope(), caller) for envelope in envelopes]
        if self.signed:
            raw = archive.read("attestation.json")
            statements.append(verify_attestation(raw, "evidence", self.scope(), caller))
        for signed in statements:
            bound = check_binding(signed, self.digest, manifest, result)
            self.codes |= signed.codes | (bound - {"bundle.BINDING_MISMATCH"} if failed(faults) else bound)
        self.codes |= set() if statements else {"bundle.UNSIGNED"}
        self.trusted = bool(statements) and all(signed.trusted for signed in statements)

    def scope(self):
        return {name: self.manifest[name] for name in ("projectId", "organizationId")}

    def _check_objects(self, archive):
        """Compare the entries with the manifest: the run result if it is valid, and the codes."""
        rows, result, codes = {row["path"]: row for row in self.manifest["objects"]}, None, set()
        expected = [name for name in ("manifest.json", "attestation.json", *rows) if name in archive.entries]
        extra = [name for name in archive.names if name not in expected]
        codes |= true_ones({"object.EXTRA": extra, "zip.ORDER_UNUSUAL": archive.names != expected + extra})
        for path, row in rows.items():
            with collect(codes):
                require(path in archive.entries, "object.MISSING")
                raw = archive.read(path)
                faults = true_ones({"object.BYTES_MISMATCH": len(raw) != row["bytes"],
                                    "object.DIGEST_MISMATCH": sha256(raw) != row["digest"]})
                codes |= faults
                if row.get("role") == "run-result" and not faults:
                    document = strict_json.parse_canonical(raw)
                    require(fits("run-result.v1", document), "bundle.RUN_RESULT_INVALID")
                    result = document
                    codes |= _find_contradictions(result)
        return result, codes

def check_binding(signed, digest, manifest, result=None):
    """Compare every signed field with what it names (formats §2, Bound when signed)."""
    if signed.statement is None:
        return set()
    subject, roles = signed.statement["subject"], {row.get("role"): row["digest"] for row in manifest["objects"]}
    pairs = [(subject[name + "Hash"], roles.get(role)) for role, name in SIGNED_ROLES.items()]
    pairs.append((subject["runId"], manifest["runId"]))
    if result:
        identity, reproduction = result["identity"], subject["reproduction"]
        pairs.append((subject["runId"], identity["runId"]))
        pairs += [(subject[name], result[name]) for name in ("stateHash", "evidenceHash", "trajectoryHash")]
        pairs += [(reproduction.get(name), identity.get(name)) for name in _INPUTS]
        if "rerunOfHostedRunId" not in manifest:
            pairs += [(reproduction[f"original{name[0].upper()}{name[1:]}"], identity[name]) for name in _COUNTERS]
    return true_ones({
        "attestation.SUBJECT_MISMATCH": subject["manifestDigest"] != digest,
        "bundle.MANIFEST_INVALID": SIGNED_ROLES.keys() - roles.keys(),
        "bundle.BINDING_MISMATCH": any(named != actual for named, actual in pairs),
        "run.AFTER_SIGNATURE": manifest["createdAtMs"] > signed.statement["issuedAtMs"],
    })

def _find_contradictions(result):
    """The warnings about a run result that contradicts itself (formats §4, Runs)."""
    final = [checkpoint["verdict"] for checkpoint in result["checkpoints"] if checkpoint["kind"] == "final"]
    holders = [result, *result["checkpoints"]]
    gates = [row["status"] for holder in holders for row in holder["assertionResults"] if row["gate"]]
    bound = {row["bindingEvidence"] for row in (result, *result["interactions"])}
    tools, events = result["budgetUsage"]["toolCalls"], result["budgetUsage"]["scheduledEvents"]

    def contradicts(outcomes):
        passed = result["verdict"] == "passed" and any(outcome != "passed" for outcome in outcomes)
        return passed or result["verdict"] != "failed" and "failed" in outcomes

    return true_ones({
        "run.WORLD_INCONSISTENT": result["worldConsistency"] != "consistent",
        "run.BINDING_PARTIAL": bound != {"complete"},
        "run.ASSERTION_FAILED": contradicts(gates),
        "run.CHECKPOINT_FAILED": contradicts(final),
        "run.BUDGET_EXCEEDED": tools["rejected"] > 0 or tools["attempted"] > tools["limit"] or events["exhausted"]
                               or events["processed"] > events["limit"],
    })

def verify_detached(envelope, purpose, raw, caller):
    """Verify an envelope with the manifest that it must be about, if there is one, and nothing else."""
    manifest = strict_json.parse_canonical(raw) if raw is not None else {}
    signed = verify_envelope(envelope, purpose, {**manifest, **manifest.get("scope", {})}, caller)
    if manifest and purpose == "evidence":
        signed.codes |= check_binding(signed, sha256(raw), manifest)
    elif manifest and signed.statement:
        signed.codes |= check_list(signed.statement["subject"], sha256(raw), manifest)
    return signed

def check_list(subject, digest, manifest):
    """Compare what a statement about a list names with the export manifest."""
    names = ("evidenceExportId", "organizationId")
    same = subject["manifestDigest"] == digest and all(subject[name] == manifest[name] for name in names)
    return set() if same else {"export.ATTESTATION_SUBJECT_MISMATCH"}
