"""Bags, checksums and the receipts of mirrors, which no signature covers (formats §1; RFC 8493)."""
import datetime
import re

from .documents import blame, codes_of, collect, fits, is_path, parse, refuse, sha256
from .trust import failed

RECEIPT = re.compile(r"receipts/[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{12}\.json")

def read_sums(raw, checksum, gap):
    """The digests in a file of checksums by path."""
    with blame("bag.INVALID", UnicodeDecodeError):
        lines = raw.decode("utf-8").removesuffix("\n").split("\n") if raw else []
    rows = [re.fullmatch(f"({checksum}){gap}(.+?)\r?", line) for line in lines]
    valid = all(row and is_path(row[2]) for row in rows) and len({row[2] for row in rows}) == len(rows)
    refuse({"bag.INVALID": not valid})
    return {row[2]: "sha256:" + row[1].lower() for row in rows}

def check_bag(files):
    """The codes of the bag around an export."""
    pattern = rb"BagIt-Version: (\d+\.\d+)\r?\nTag-File-Character-Encoding: ([^\r\n]+)(\r?\n)?"
    declaration, codes = re.fullmatch(pattern, files["bagit.txt"]()), set()
    supported = declaration and declaration[1] in (b"0.97", b"1.0") and declaration[2] == b"UTF-8"
    refuse({"bag.INVALID": not declaration})
    if not supported or "manifest-sha256.txt" not in files:
        return {"bag.UNSUPPORTED"}
    payload = {path: read() for path, read in files.items() if path.startswith("data/")}
    tags = {path: read() for path, read in files.items() if path not in payload}
    sums = {path for path in tags if re.fullmatch(r"tagmanifest-[a-z0-9]+\.txt", path)}
    for path in [path for path in tags if re.fullmatch(r"(tag)?manifest-[a-z0-9]+\.txt", path)]:
        with collect(codes):
            rows, kind, own = read_sums(tags[path], "[0-9A-Fa-f]+", "[ \t]+\\*?"), "PAYLOAD", payload
            if path in sums:
                refuse({"bag.INVALID": rows.keys() & (payload.keys() | sums)})
                kind, own = "TAG", {name: raw for name, raw in tags.items() if name not in sums}
            differs = any(sha256(own[name]) != rows[name] for name in rows.keys() & own.keys())
            codes |= codes_of({
                f"bag.{kind}_MISSING": rows.keys() - own.keys(),
                f"bag.{kind}_MISMATCH": path.endswith("sha256.txt") and differs,
                "bag.TAG_UNLISTED" if path in sums else "bag.PAYLOAD_EXTRA": own.keys() - rows.keys()})
    with collect(codes):
        actual = [sum(map(len, payload.values())), len(payload)]
        refuse({"bag.PAYLOAD_MISMATCH": read_oxum(tags.get("bag-info.txt", b"")) not in (None, actual)})
    return codes

def read_oxum(raw):
    """The bytes and the number of files that bag-info.txt states."""
    with blame("bag.INVALID", UnicodeDecodeError):
        lines = re.split("\r\n|\r|\n", raw.decode("utf-8"))
    labels = [line for at, line in enumerate(lines) if (line or at + 1 < len(lines)) and not (at and line[:1] in (" ", "\t"))]
    rows = [re.fullmatch(r"([^:\s][^:]*?)[ \t]*:[ \t]*(.*)", line) for line in labels]
    values = [row[2].strip() for row in rows if row and row[1].lower() == "payload-oxum"]
    valid = all(re.fullmatch(r"[0-9]{1,15}\.[0-9]{1,15}", value) for value in values)
    refuse({"bag.INVALID": None in rows or len(values) > 1 or not valid})
    return [int(number) for number in values[0].split(".")] if values else None

def read_receipt(raw):
    """The receipt, which must have the form of one of its two versions."""
    with blame("receipt.DAMAGED"):
        receipt = parse(raw)
        refuse({"": not fits("mirror-receipt.v1", receipt) and not fits("mirror-receipt.v2", receipt)})
        refuse({"": (receipt["outcome"] == "complete") != (not receipt["failures"])})
    return receipt

def receipt_name(raw, receipt):
    """The only name that a receipt may have."""
    seconds, milliseconds = divmod(receipt["finishedAtMs"], 1000)
    with blame("receipt.DAMAGED", ValueError, OverflowError, OSError):
        moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"receipts/{moment:%Y%m%dT%H%M%S}.{milliseconds:03}Z-{sha256(raw)[7:19]}.json"

class Receipts:
    """The verification of the chain of receipts among the bytes of files, or of a single receipt."""
    def __init__(self, files, head=None, single=None):
        self.codes, receipts = codes_of({"receipt.ALONE": single}), {}
        for path in sorted(path for path in files if path.startswith("receipts/")):
            with collect(self.codes):
                receipts[path] = read_receipt(files[path])
        digests = {path: sha256(raw) for path, raw in files.items()}
        if not single:
            self._check_chain(receipts, digests, files)
            self.codes |= codes_of({"receipt.HEAD_MISMATCH": head and head not in digests.values()})
        self.verdict = "invalid" if failed(self.codes) or not receipts else "valid"

    def _check_chain(self, receipts, digests, files):
        names = ("evidenceExportId", "organizationId", "manifestDigest")
        identities = [tuple(receipt[name] for name in names) for receipt in receipts.values()]
        if "manifest.json" in files:
            manifest = parse(files["manifest.json"])
            identities.insert(0, (*(manifest[name] for name in names[:2]), digests["manifest.json"]))
        links = [receipt["previous"]["path"] for receipt in receipts.values() if "previous" in receipt]
        old = [path for path in receipts if receipts[path]["schemaVersion"] == 1 and path not in links]
        new = [path for path in receipts if path not in old]
        firsts = [path for path in new if "previous" not in receipts[path]]
        chain_start = min((receipts[path]["finishedAtMs"] for path in new), default=None)
        self.codes |= codes_of({
            "receipt.FOREIGN": len(set(identities)) > 1,
            "receipt.FORKED": len(set(links)) < len(links) or len(firsts) > 1 or any(
                new and receipts[path]["finishedAtMs"] > chain_start for path in old),
            "receipt.UNLINKED": len(old) > (0 if new else 1)})
        for path, receipt in receipts.items():
            link = receipt.get("previous", {"path": path, "digest": digests[path]})
            start = max(receipt["startedAtMs"], receipts.get(link["path"], receipt)["finishedAtMs"])
            self.codes |= codes_of({
                "receipt.NAME_MISMATCH": receipt_name(files[path], receipt) != path,
                "receipt.TIME_REVERSED": receipt["finishedAtMs"] < start,
                "receipt.MISSING": link["path"] not in files,
                "receipt.LINK_MISMATCH": digests.get(link["path"], link["digest"]) != link["digest"]})
