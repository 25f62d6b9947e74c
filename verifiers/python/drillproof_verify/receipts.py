"""The chain of the receipts of a mirror (formats §1, Receipts)."""

import datetime
import re

from . import strict_json
from .forms import fits
from .text import Fault, sha256

RECEIPT_NAME = re.compile(r"receipts/[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{12}\.json")

def read_receipt(data):
    """The receipt, or `None` if it breaks its format."""
    try:
        receipt = strict_json.parse(data)
    except Fault:
        return None
    valid = fits("mirror-receipt.v1", receipt) or fits("mirror-receipt.v2", receipt)
    return receipt if valid and (receipt["outcome"] == "complete") == (not receipt["failures"]) else None

def receipt_name(raw, receipt):
    """The only name that a receipt may have; `None` if its time has no such form."""
    seconds, milliseconds = divmod(receipt["finishedAtMs"], 1000)
    try:
        moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return f"receipts/{moment:%Y%m%dT%H%M%S}.{milliseconds:03}Z-{sha256(raw)[7:19]}.json"

def verify_receipts(files, expect_head=None, single=None):
    """The codes of the chain of receipts among the files, and whether there is a receipt."""
    raws = {path: data for path, data in files.items() if path.startswith("receipts/")}
    receipts = {path: read_receipt(data) for path, data in raws.items()}
    codes = {"receipt.DAMAGED"} if None in receipts.values() else set()
    receipts = {path: receipt for path, receipt in receipts.items() if receipt}
    digests = {path: sha256(raws[path]) for path in receipts}
    if single:
        return codes | {"receipt.ALONE"}, bool(receipts)
    ordered = sorted(receipts, key=lambda path: (receipts[path]["finishedAtMs"], path))
    linked = [path for path in ordered if receipts[path]["schemaVersion"] == 2]
    named = {receipts[path]["previous"]["path"] for path in linked if "previous" in receipts[path]}
    manifest = files.get("manifest.json")
    identity = None
    if manifest is not None:
        document = strict_json.parse(manifest)
        identity = (document["evidenceExportId"], document["organizationId"], sha256(manifest))
    for path in ordered:
        receipt = receipts[path]
        own = (receipt["evidenceExportId"], receipt["organizationId"], receipt["manifestDigest"])
        identity = identity or own
        codes |= {"receipt.FOREIGN"} if own != identity else set()
        codes |= {"receipt.NAME_MISMATCH"} if receipt_name(raws[path], receipt) != path else set()
        codes |= {"receipt.TIME_REVERSED"} if receipt["finishedAtMs"] < receipt["startedAtMs"] else set()
        previous = receipt.get("previous")
        if previous and previous["path"] not in raws:
            codes.add("receipt.MISSING")
            named_ms = re.sub(r"[^0-9]", "", previous["path"].split("Z")[0])
        elif previous and previous["path"] in receipts:
            codes |= {"receipt.LINK_MISMATCH"} if digests[previous["path"]] != previous["digest"] else set()
            if receipt["finishedAtMs"] < receipts[previous["path"]]["finishedAtMs"]:
                codes.add("receipt.TIME_REVERSED")
    return codes, bool(receipts)
