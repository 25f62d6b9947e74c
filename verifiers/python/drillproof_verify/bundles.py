"""Bundles: part archives and what is signed about them (formats §1, §2, §4)."""
from .archive import Archive
from .documents import (SIGNED_ROLES, codes_of, collect, fits, parse_canonical, read_manifest, refuse,
                        sha256)
from .remarks import count_part, find_contradictions
from .trust import failed, verify_attestation, verify_envelope

_INPUTS = ("drillId", "targetId", "buildHash", "packageLockHash", "seed", "scenarioId", "setupHash")
_COUNTERS = ("trial", "trialCount", "attempt", "attemptLimit")

class Bundle:
    """The verification of one part archive, alone or as a part of an export."""
    def __init__(self, data, caller, envelopes=(), alone=True):
        self.codes, self.manifest, self.signed, self.trusted = set(), None, False, False
        with collect(self.codes):
            self._verify(data, caller, envelopes, alone)
        self.verdict = "failed" if failed(self.codes) else "verified" if self.trusted else "intact"

    def _verify(self, data, caller, envelopes, alone):
        archive = Archive(data)
        self.codes |= archive.warnings
        self.signed = "attestation.json" in archive.entries
        refuse({"bundle.MANIFEST_MISSING": "manifest.json" not in archive.entries})
        raw = archive.read("manifest.json")
        self.manifest, self.digest = read_manifest(raw, "bundle"), sha256(raw)
        manifest = self.manifest
        self.source_bytes = len(raw) + sum(row["bytes"] for row in manifest["objects"])
        self.codes |= compare_expected(caller.expect if alone else {}, manifest, self.digest)
        result, damaged, faults = self._check_objects(archive)
        signed = [verify_envelope(envelope, "evidence", manifest, caller) for envelope in envelopes]
        if self.signed:
            signed.append(verify_attestation(archive.read("attestation.json"), "evidence", manifest, caller))
        for statement in signed:
            self.codes |= statement.codes | check_binding(statement, self.digest, manifest, result, damaged)
        self.codes |= faults
        self.codes |= codes_of({"bundle.UNSIGNED": not signed})
        self.trusted = bool(signed) and all(statement.verdict == "valid" for statement in signed)
        self.coverage = count_part(archive, self.trusted, self.signed and signed[-1].verdict == "valid")
        self.codes |= self.coverage.codes if alone and not failed(self.codes) else set()

    def _check_objects(self, archive):
        """The run result if it is valid, the roles of objects that do not match their rows, and the codes."""
        rows, result, codes = {row["path"]: row for row in self.manifest["objects"]}, None, set()
        damaged = {row.get("role") for row in rows.values()}
        expected = [name for name in ("manifest.json", "attestation.json", *rows) if name in archive.entries]
        actual = sorted(archive.entries, key=lambda name: archive.entries[name].offset)
        extra = [name for name in actual if name not in expected]
        codes |= codes_of({"object.EXTRA": extra, "zip.ORDER_UNUSUAL": actual != expected + extra})
        for path, row in rows.items():
            with collect(codes):
                refuse({"object.MISSING": path not in archive.entries})
                raw = archive.read(path)
                faults = codes_of({"object.BYTES_MISMATCH": len(raw) != row["bytes"],
                                   "object.DIGEST_MISMATCH": sha256(raw) != row["digest"]})
                codes |= faults
                damaged -= set() if faults else {row.get("role")}
                if row.get("role") == "run-result" and not faults:
                    document = parse_canonical(raw)
                    refuse({"bundle.RUN_RESULT_INVALID": not fits("run-result.v1", document)})
                    result = document
                    codes |= find_contradictions(result)
        return result, damaged & SIGNED_ROLES.keys(), codes

def compare_expected(expect, actual, digest):
    """The codes of what the caller expects and a manifest does not have."""
    names = {"manifestDigest": "MANIFEST", "evidenceExportId": "EXPORT", "organizationId": "ORGANIZATION",
             "projectId": "PROJECT", "bundles": "BUNDLES"}
    actual = {**actual, "manifestDigest": digest}
    return {f"expect.{names[name]}_MISMATCH" for name, value in expect.items() if actual.get(name) != value}

def check_binding(signed, digest, manifest, result=None, damaged=frozenset()):
    """Compare signed fields with what they name, unless it is damaged (formats §2, Bound when signed)."""
    if signed.statement is None:
        return set()
    subject = signed.statement["subject"]
    roles = {row.get("role"): row["digest"] for row in manifest["objects"]}
    intact = SIGNED_ROLES.keys() - damaged
    pairs = [(subject[SIGNED_ROLES[role] + "Hash"], roles.get(role)) for role in intact]
    pairs += [] if damaged else [(subject["runId"], manifest["runId"])]
    if result:
        identity, inputs = result["identity"], subject["reproduction"]
        pairs.append((subject["runId"], identity["runId"]))
        pairs += [(inputs.get(name), identity.get(name)) for name in _INPUTS]
        pairs += [(subject[name], result[name]) for name in ("stateHash", "evidenceHash", "trajectoryHash")]
        if "rerunOfHostedRunId" not in manifest:
            pairs += [(inputs["original" + name[0].upper() + name[1:]], identity[name]) for name in _COUNTERS]
    return codes_of({
        "attestation.SUBJECT_MISMATCH": subject["manifestDigest"] != digest,
        "bundle.MANIFEST_INVALID": SIGNED_ROLES.keys() - roles.keys(),
        "bundle.BINDING_MISMATCH": any(named != actual for named, actual in pairs),
        "run.AFTER_SIGNATURE": manifest["createdAtMs"] > signed.statement["issuedAtMs"],
    })

def verify_list(verify, data, digest, manifest, caller):
    """Verify a statement about the list of an export with this manifest."""
    names = ("evidenceExportId", "organizationId")
    named = {"manifestDigest": digest} | {name: manifest[name] for name in names}
    # an export of a whole organization is of no project, so no list of projects contains it
    signed = verify(data, "export", {"projectId": ""} | named | manifest["scope"], caller)
    differs = signed.statement and signed.statement["subject"] != named
    signed.codes |= codes_of({"export.ATTESTATION_SUBJECT_MISMATCH": differs})
    return signed

def verify_detached(envelope, purpose, raw, caller):
    """Verify an envelope with the manifest that it must be about, if there is one, and nothing else."""
    manifest = parse_canonical(raw) if raw is not None else {}
    if manifest and purpose == "export":
        return verify_list(verify_envelope, envelope, sha256(raw), manifest, caller)
    signed = verify_envelope(envelope, purpose, manifest, caller)
    signed.codes |= check_binding(signed, sha256(raw), manifest) if manifest else set()
    return signed
