"""Exports: a folder, one file, or a BagIt bag (formats §1, §4)."""

import re

from . import strict_json
from .archive import Archive
from .bundles import Bundle
from .forms import check_export_manifest, fits
from .receipts import RECEIPT_NAME, read_receipt, receipt_name
from .statements import failed, read_envelope, verify_attestation, verify_envelope
from .text import Fault, is_path, require, sha256

_SHARED = ("evidenceExportId", "organizationId", "scope", "fromAtMs", "throughAtMs", "selectionDigest")
_MIRROR_FILE = re.compile(r"\.drillproof-mirror/(?:lock|claim\.json|lease/\d+|partial/[^/]+)|\.drillproof/scrub/[^/]+\.jsonl")
_RANK = ("verified", "intact", "incomplete", "failed")

def archive_files(data):
    """The files of a one-file export as functions that read them, and the warnings about the container."""
    found = Archive(data)
    return {name: (lambda name=name: found.read(name)) for name in found.entries}, found.warnings

def selection_digest(manifest):
    """The digest that the rows of an export manifest give."""
    rows = [
        {name: row[name], "manifestDigest": row["manifestDigest"]}
        for name, rows in (("evidenceBundleId", manifest["parts"]), ("localReportId", manifest["localReports"]))
        for row in rows
    ]
    return sha256(strict_json.canonical(rows))

class Export:
    """The verification of an export: `files` are functions that read them, `irregular` are links and devices."""

    def __init__(self, files, caller, irregular=(), envelopes=(), codes=()):
        self.codes, self.completeness, self.caller = set(codes), "claimed", caller
        self.root, self.files, self.irregular = "", dict(files), set(irregular)
        self.bundles, self.local_reports, self.attested = [], False, False
        self.rows = {}
        try:
            if "bagit.txt" in files and "manifest.json" not in files and any(p.startswith("data/") for p in files):
                self.codes |= check_bag(files)
                self.files = {path[5:]: read for path, read in files.items() if path.startswith("data/")}
            self._verify(envelopes)
        except Fault as fault:
            self.codes.add(fault.code)
        if self.completeness == "claimed":
            self.codes.add("export.COMPLETENESS_CLAIMED")

    @property
    def verdict(self):
        verdicts = [bundle.verdict for bundle in self.bundles if bundle]
        own = "failed" if failed(self.codes) else "verified" if self.bundles else "intact" if self.local_reports else "incomplete"
        if own != "failed" and any(code.startswith("io.") for code in self.codes):
            own = "incomplete"
        if self.caller.depth == "digest" and own == "verified":
            own = "intact"
        return max([own, *verdicts], key=_RANK.index)

    def all_codes(self):
        return sorted(self.codes.union(*(bundle.codes for bundle in self.bundles if bundle)))

    def _read(self, path, missing):
        if path in self.irregular or any(name.startswith(path + "/") for name in self.files):
            raise Fault("export.FILE_IRREGULAR")
        require(path in self.files, missing)
        return self.files[path]()

    def _attempt(self, step, *arguments):
        """Run a step whose faults do not stop the others."""
        try:
            step(*arguments)
        except Fault as fault:
            self.codes.add(fault.code)

    def _verify(self, envelopes):
        raw = self._read("manifest.json", "export.MANIFEST_MISSING")
        self.manifest, self.raw, self.digest = strict_json.parse_canonical(raw), raw, sha256(raw)
        check_export_manifest(self.manifest, self.caller.limits.get("parts", 10_000))
        parts, reports = self.manifest["parts"], self.manifest["localReports"]
        self.local_reports = bool(reports)
        self.codes |= (set() if parts else {"export.EMPTY"}) | ({"local-report.UNATTESTED"} if reports else set())
        self._check_expected()
        self._attempt(self._check_selection)
        self._attempt(self._check_attestation)
        by_subject = self._sort_envelopes(envelopes)
        self._check_files()
        for row in parts:
            self._attempt(self._check_part, row, by_subject.get(row["manifestDigest"], []))
        for row in reports:
            self._attempt(self._check_archive, row, "local-report")
        self._attempt(self._check_resource)

    def _check_expected(self):
        expect, manifest = self.caller.expect, self.manifest
        if expect.get("manifestDigest") == self.digest:
            self.completeness = "pinned"
        project = expect.get("projectId")
        projects = {row["projectId"] for row in manifest["parts"] + manifest["localReports"]}
        differs = {
            "MANIFEST": expect.get("manifestDigest", self.digest) != self.digest,
            "EXPORT": expect.get("evidenceExportId", manifest["evidenceExportId"]) != manifest["evidenceExportId"],
            "ORGANIZATION": expect.get("organizationId", manifest["organizationId"]) != manifest["organizationId"],
            "PROJECT": project is not None and (manifest["scope"].get("projectId", project) != project or projects - {project}),
            "BUNDLES": expect.get("bundles", len(manifest["parts"])) != len(manifest["parts"]),
        }
        self.codes |= {f"expect.{name}_MISMATCH" for name, differ in differs.items() if differ}

    def _check_selection(self):
        require(selection_digest(self.manifest) == self.manifest["selectionDigest"], "export.SELECTION_MISMATCH")

    def _check_attestation(self):
        path = "export-attestation.json"
        if path in self.files or path in self.irregular or any(name.startswith(path) for name in self.files):
            self._accept_list(verify_attestation(self._read(path, None), "export", self._scope(), self.caller))

    def _scope(self):
        return {"organizationId": self.manifest["organizationId"], **self.manifest["scope"]}

    def _accept_list(self, signed):
        self.codes |= signed.codes
        if signed.statement:
            subject, names = signed.statement["subject"], ("evidenceExportId", "organizationId")
            same = subject["manifestDigest"] == self.digest and all(subject[name] == self.manifest[name] for name in names)
            require(same, "export.ATTESTATION_SUBJECT_MISMATCH")
        if signed.trusted and self.completeness == "claimed":
            self.completeness = "attested"

    def _sort_envelopes(self, envelopes):
        """The envelopes about each bundle; those about the list are verified at once."""
        by_subject = {row["manifestDigest"]: [] for row in self.manifest["parts"]}
        for envelope in envelopes:
            try:
                subject = read_envelope(envelope).subject
                if subject == self.digest:
                    self._accept_list(verify_envelope(envelope, "export", self._scope(), self.caller))
                else:
                    require(subject in by_subject, "dsse.SUBJECT_UNKNOWN")
                    by_subject[subject].append(envelope)
            except Fault as fault:
                self.codes.add(fault.code)
        return by_subject

    def _check_files(self):
        listed = {row["path"] for row in self.manifest["parts"] + self.manifest["localReports"]}
        listed |= {"manifest.json", "export.json", "export-attestation.json"}
        if len(self.files) > self.caller.limits.get("files", 50_000):
            self.codes.add("export.FILES_EXCEEDED")
        for path in (self.files.keys() | self.irregular) - listed:
            if path in self.irregular:
                self.codes.add("export.FILE_IRREGULAR")
            elif path.startswith("parts/"):
                self.codes.add("part.EXTRA")
            elif path.startswith("local-reports/"):
                self.codes.add("local-report.EXTRA")
            elif path == "SHA256SUMS":
                self.codes |= set() if self._are_checksums(self.files[path]()) else {"receipt.INVALID"}
            elif RECEIPT_NAME.fullmatch(path):
                raw = self.files[path]()
                receipt = read_receipt(raw)
                self.codes |= set() if receipt and receipt_name(raw, receipt) == path else {"receipt.INVALID"}
            elif not _MIRROR_FILE.fullmatch(path):
                self.codes.add("export.FILE_UNCOVERED")
        for path in self.files.keys() - listed:
            try:
                self.files[path]()
            except Fault as fault:
                self.codes.add(fault.code)

    def _are_checksums(self, data):
        """Whether SHA256SUMS has its format and agrees with the manifest and the documents."""
        lines = data.decode("utf-8", "replace").split("\n")
        rows = [re.fullmatch("([0-9a-f]{64}) [ *](.+)", line) for line in lines[:-1]]
        if lines[-1] or None in rows:
            return False
        paths = [row[2] for row in rows]
        digests = {row["path"]: row["digest"] for row in self.manifest["parts"] + self.manifest["localReports"]}
        digests |= {
            path: sha256(self.files[path]())
            for path in ("manifest.json", "export.json", "export-attestation.json") if path in self.files
        }
        agree = all(digests.get(row[2], "sha256:" + row[1]) == "sha256:" + row[1] for row in rows)
        return agree and all(map(is_path, paths)) and paths == sorted(set(paths), key=str.encode)

    def _check_archive(self, row, kind):
        """The bytes of an archive, compared with its row; `None` if they were not read."""
        data = self._read(row["path"], f"{kind}.MISSING")
        require(str(len(data)) == row["bytes"], f"{kind}.BYTES_MISMATCH")
        if sha256(data) != row["digest"]:
            self.codes.add(f"{kind}.DIGEST_MISMATCH")
        return data

    def _check_part(self, row, envelopes):
        data = self._check_archive(row, "part")
        if self.caller.depth == "digest":
            self.bundles.append(None)
            return
        bundle = Bundle(data, self.caller, envelopes, False)
        self.bundles.append(bundle)
        found = bundle.manifest
        if found:
            same = (
                all(found[name] == row[name] for name in ("evidenceBundleId", "projectId"))
                and bundle.digest == row["manifestDigest"] and bundle.signed == row["signed"]
                and found["organizationId"] == self.manifest["organizationId"]
                and self.manifest["fromAtMs"] <= found["createdAtMs"] < self.manifest["throughAtMs"]
            )
            require(same, "part.ROW_MISMATCH")

    def _check_resource(self):
        resource = strict_json.parse(self._read("export.json", "export.RESOURCE_MISSING"), strict_json.MEBIBYTE)
        require(fits("export-resource.v1", resource), "export.RESOURCE_INVALID")
        parts, reports = self.manifest["parts"], self.manifest["localReports"]
        expected = {name: self.manifest[name] for name in _SHARED} | {
            "state": "available", "manifestDigest": self.digest, "manifestBytes": str(len(self.raw)),
            "bundleCount": len(parts), "localReportCount": len(reports) or None,
            "archiveBytes": str(sum(int(row["bytes"]) for row in parts + reports)),
        }
        found = [bundle.manifest for bundle in self.bundles if bundle and bundle.manifest]
        order = [(manifest["createdAtMs"], manifest["evidenceBundleId"]) for manifest in found]
        if order != sorted(order):
            self.codes.add("export.SELECTION_MISMATCH")
        sizes = [bundle.source_bytes if bundle and bundle.manifest else None for bundle in self.bundles]
        if len(sizes) == len(parts) and None not in sizes:
            expected["sourceBytes"] = str(sum(sizes) + sum(int(row["expandedBytes"]) for row in reports))
        same = all(resource.get(name) == value for name, value in expected.items())
        require(same, "export.RESOURCE_MISMATCH")

def check_bag(files):
    """The faults of the bag around an export (RFC 8493)."""
    codes = set()
    try:
        text = files["bagit.txt"]().decode("utf-8")
    except UnicodeDecodeError:
        return {"bag.INVALID"}
    lines = re.fullmatch("BagIt-Version: (\\d+\\.\\d+)\r?\nTag-File-Character-Encoding: ([^\r\n]+)(?:\r?\n)?", text)
    if not lines:
        return {"bag.INVALID"}
    if lines[1] not in ("0.97", "1.0") or lines[2] != "UTF-8" or "manifest-sha256.txt" not in files:
        return {"bag.UNSUPPORTED"}
    payload = {path for path in files if path.startswith("data/")}
    tags = files.keys() - payload
    tag_manifests = {path for path in tags if re.fullmatch("tagmanifest-[a-z0-9]+\\.txt", path)}
    for name in sorted(tags):
        manifest = re.fullmatch("(tag)?manifest-([a-z0-9]+)\\.txt", name)
        if not manifest:
            continue
        rows = _read_checksums(files[name]())
        if rows is None:
            codes.add("bag.INVALID")
            continue
        if manifest[1]:
            codes |= _check_tags(rows, files, manifest[2], payload, tag_manifests)
            continue
        codes |= {"bag.PAYLOAD_MISSING"} if rows.keys() - payload else set()
        codes |= {"bag.PAYLOAD_EXTRA"} if payload - rows.keys() else set()
        if manifest[2] == "sha256":
            differ = any(sha256(files[path]()) != "sha256:" + rows[path] for path in rows.keys() & payload)
            codes |= {"bag.PAYLOAD_MISMATCH"} if differ else set()
    oxum = re.search(b"^Payload-Oxum: *(\\d+)\\.(\\d+)\r?$", files.get("bag-info.txt", bytes)(), re.MULTILINE)
    if oxum and (int(oxum[1]), int(oxum[2])) != (sum(len(files[path]()) for path in payload), len(payload)):
        codes.add("bag.PAYLOAD_MISMATCH")
    return codes

def _check_tags(rows, files, algorithm, payload, tag_manifests):
    codes = set()
    for path, checksum in rows.items():
        if path in payload or path in tag_manifests:
            codes.add("bag.INVALID")
        elif path not in files:
            codes.add("bag.TAG_MISSING")
        elif algorithm == "sha256" and sha256(files[path]()) != "sha256:" + checksum:
            codes.add("bag.TAG_MISMATCH")
    return codes | ({"bag.TAG_UNLISTED"} if files.keys() - payload - tag_manifests - rows.keys() else set())

def _read_checksums(data):
    """The checksums of a manifest by path, or `None` if it breaks its format."""
    rows = {}
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        row = re.fullmatch("([0-9A-Fa-f]+)[ \t]+\\*?(.+)", line)
        if not row or not is_path(row[2]) or row[2] in rows:
            return None
        rows[row[2]] = row[1].lower()
    return rows
