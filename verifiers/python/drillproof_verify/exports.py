"""Exports: folders, archives and bags (formats §1, §4)."""
import functools
import re

from .archive import Archive
from .bundles import Bundle, compare_expected, verify_list
from .documents import (MEBIBYTE, blame, codes_of, collect, fits, parse, read_manifest, refuse,
                        selection_digest, sha256)
from .mirrors import RECEIPT, check_bag, read_receipt, read_sums, receipt_name
from .remarks import count_export
from .trust import failed, read_envelope, verify_attestation, verify_envelope

_RANK = ("verified", "intact", "incomplete", "failed")
_DOCUMENTS = ("manifest.json", "export.json", "export-attestation.json")
_SHARED = ("evidenceExportId", "organizationId", "scope", "fromAtMs", "throughAtMs", "selectionDigest")
_MIRROR = re.compile(r"\.drillproof-mirror/(lock|claim\.json|lease/\d+|partial/[^/]+)"
                     r"|\.drillproof/scrub/[^/]+\.jsonl")

class Export:
    """The verification of an archive, or of functions that read files and the names of links and devices."""
    def __init__(self, source, caller, irregular=(), envelopes=()):
        self.codes, self.completeness, self.caller, self.bundles = set(), "claimed", caller, []
        files, self.irregular, self.parts, self.reports, self.deflated = source, set(irregular), [], [], set()
        self.archive = source if isinstance(source, Archive) else None
        self.mirror, self.list_signed = set(), False
        if self.archive:
            files = {name: functools.partial(source.read, name, checked=False) for name in source.entries}
            self.codes |= source.warnings
            for name in source.entries:
                with collect(self.codes):
                    source.read(name)
            self.deflated = {name for name, entry in source.entries.items() if entry.method}
        self.files = files
        with collect(self.codes):
            payload = {path[5:]: read for path, read in files.items() if path.startswith("data/")}
            if payload and "bagit.txt" in files and "manifest.json" not in files:
                self.files = payload
                with collect(self.codes):
                    self.codes |= check_bag(files)
            self._verify(envelopes)
        self.codes |= codes_of({"export.COMPLETENESS_CLAIMED": self.completeness == "claimed"})
        self.codes = self.codes.union(*(bundle.codes for bundle in self.bundles))
        best = "verified" if self.parts else "intact" if self.reports else "incomplete"
        worse = {"failed": failed(self.codes), "incomplete": "io.UNREADABLE" in self.codes,
                 "intact": caller.depth == "digest"}
        verdicts = [best, *codes_of(worse), *(bundle.verdict for bundle in self.bundles)]
        self.verdict = max(verdicts, key=_RANK.index)
        self.coverage = count_export(self) if self.verdict in ("verified", "intact") else None
        self.codes |= self.coverage.codes if self.coverage else set()

    def _read(self, path, missing):
        below = any(name.startswith(path + "/") for name in self.files)
        refuse({"export.FILE_IRREGULAR": path in self.irregular or below, missing: path not in self.files,
                "zip.METHOD_UNSUPPORTED": path in self.deflated})
        return self.files[path]()

    def _verify(self, envelopes):
        resource = None
        with collect(self.codes):
            document = parse(self._read("export.json", "export.RESOURCE_MISSING"), MEBIBYTE)
            refuse({"export.RESOURCE_INVALID": not fits("export-resource.v1", document)})
            resource = document
        raw = self._read("manifest.json", "export.MANIFEST_MISSING")
        self.manifest = manifest = read_manifest(raw, "export", self.caller.limits.get("parts"))
        self.parts, self.reports, self.digest = manifest["parts"], manifest["localReports"], sha256(raw)
        rows, expect = self.parts + self.reports, self.caller.expect
        self.codes |= codes_of({
            "export.EMPTY": not self.parts, "local-report.UNATTESTED": self.reports,
            "export.SELECTION_MISMATCH": selection_digest(manifest) != manifest["selectionDigest"],
            "export.FILES_EXCEEDED": len(self.files) > self.caller.limits.get("files", 50_000)})
        projects = {row["projectId"] for row in rows} | {manifest["scope"].get("projectId")} - {None}
        project = expect.get("projectId") if projects <= {expect.get("projectId")} else None
        actual = {**manifest, "projectId": project, "bundles": len(self.parts)}
        self.codes |= compare_expected(expect, actual, self.digest)
        self.completeness = "pinned" if expect.get("manifestDigest") == self.digest else "claimed"
        with collect(self.codes):
            path = "export-attestation.json"
            if any(name == path or name.startswith(path + "/") for name in (*self.files, *self.irregular)):
                self._accept_list(verify_attestation, self._read(path, ""))
        about = self._sort_envelopes(envelopes)
        for path in (self.files.keys() | self.irregular) - {row["path"] for row in rows}:
            with collect(self.codes):
                self._check_other(path)
        for row in self.parts:
            with collect(self.codes):
                self._check_part(row, about[row["manifestDigest"]])
        for row in self.reports:
            with collect(self.codes):
                self._check_bytes(row, "local-report")
        self._check_resource(resource, len(raw), rows)

    def _accept_list(self, verify, data):
        signed = verify_list(verify, data, self.digest, self.manifest, self.caller)
        self.codes |= signed.codes
        self.list_signed = self.list_signed or signed.verdict == "valid"
        if self.list_signed and self.completeness == "claimed":
            self.completeness = "attested"

    def _sort_envelopes(self, envelopes):
        """The envelopes about each bundle; those about the list are verified here."""
        about = {row["manifestDigest"]: [] for row in self.parts}
        for envelope in envelopes:
            with collect(self.codes):
                subject = read_envelope(envelope)[3]
                refuse({"dsse.SUBJECT_UNKNOWN": subject not in about and subject != self.digest})
                if subject == self.digest:
                    self._accept_list(verify_envelope, envelope)
                else:
                    about[subject].append(envelope)
        return about

    def _check_other(self, path):
        """Check a file that no row lists."""
        refuse({"export.FILE_IRREGULAR": path in self.irregular})
        if path not in _DOCUMENTS and path != "SHA256SUMS" and not RECEIPT.fullmatch(path):
            extra = {"parts": "part.EXTRA", "local-reports": "local-report.EXTRA"}
            code = extra.get(path.partition("/")[0], "export.FILE_UNCOVERED")
            self.codes |= codes_of({code: not _MIRROR.fullmatch(path)})
        raw = self.files[path]()
        with blame("receipt.INVALID"):
            if path == "SHA256SUMS":
                digests = {row["path"]: row["digest"] for row in self.parts + self.reports}
                digests |= {name: sha256(self.files[name]()) for name in _DOCUMENTS if name in self.files}
                rows = read_sums(raw, "[0-9a-f]{64}", " [ *]")
                differ = any(digests.get(name, row) != row for name, row in rows.items())
                refuse({"": differ or not raw.endswith(b"\n")})
            elif RECEIPT.fullmatch(path):
                refuse({"": receipt_name(raw, read_receipt(raw)) != path})
        self.mirror |= {path} - set(_DOCUMENTS)  # a file of the mirror that follows its format

    def _check_bytes(self, row, kind):
        """The bytes of an archive, compared with its row."""
        data = self._read(row["path"], f"{kind}.MISSING")
        refuse({f"{kind}.BYTES_MISMATCH": str(len(data)) != row["bytes"]})
        self.codes |= codes_of({f"{kind}.DIGEST_MISMATCH": sha256(data) != row["digest"]})
        return data

    def _check_part(self, row, envelopes):
        data = self._check_bytes(row, "part")
        if self.caller.depth == "digest":
            return
        bundle = Bundle(data, self.caller, envelopes, alone=False)
        self.bundles.append(bundle)
        if bundle.manifest:
            actual = {**bundle.manifest, "manifestDigest": bundle.digest, "signed": bundle.signed}
            names = ("evidenceBundleId", "projectId", "manifestDigest", "signed")
            wanted = {name: row[name] for name in names}
            wanted["organizationId"] = self.manifest["organizationId"]
            inside = self.manifest["fromAtMs"] <= actual["createdAtMs"] < self.manifest["throughAtMs"]
            refuse({"part.ROW_MISMATCH": not inside or any(actual[name] != wanted[name] for name in wanted)})

    def _check_resource(self, resource, manifest_bytes, rows):
        expected = {name: self.manifest[name] for name in _SHARED} | {
            "state": "available", "manifestDigest": self.digest, "manifestBytes": str(manifest_bytes),
            "bundleCount": len(self.parts), "localReportCount": len(self.reports) or None,
            "archiveBytes": str(sum(int(row["bytes"]) for row in rows))}
        found = [bundle for bundle in self.bundles if bundle.manifest]
        order = [(bundle.manifest["createdAtMs"], bundle.manifest["evidenceBundleId"]) for bundle in found]
        if len(found) == len(self.parts):
            reports = sum(int(row["expandedBytes"]) for row in self.reports)
            expected["sourceBytes"] = str(reports + sum(bundle.source_bytes for bundle in found))
        self.fixed = {"schemaVersion", *expected}  # all others are claims
        differs = resource and any(resource.get(name) != expected[name] for name in expected)
        self.codes |= codes_of({"export.SELECTION_MISMATCH": order != sorted(order),
                                "export.RESOURCE_MISMATCH": differs})
