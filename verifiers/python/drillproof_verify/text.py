"""Faults, digests, encodings, identifiers and paths (formats §1; control API, Identifiers)."""
import base64
import contextlib
import hashlib
import re
import unicodedata

class Fault(Exception):
    """A violated rule, named by its code."""
    def __init__(self, code):
        super().__init__(code)
        self.code = code

def require(condition, code):
    if not condition:
        raise Fault(code)

@contextlib.contextmanager
def blame(code, *errors):
    """Report every fault inside, and these errors, as one code."""
    try:
        yield
    except (Fault, *errors) as error:
        raise Fault(code) from error

@contextlib.contextmanager
def collect(codes):
    """Add a fault inside to the codes and continue after the block."""
    try:
        yield
    except Fault as fault:
        codes.add(fault.code)

def true_ones(conditions):
    """The names of the conditions that hold."""
    return {name for name, holds in conditions.items() if holds}

def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()

def from_hex(text):
    require(re.fullmatch("(?:[0-9a-f]{2})*", text), "encoding.HEX_INVALID")
    return bytes.fromhex(text)

def from_base64(text, code):
    """Decode padded base64 in one of its two alphabets, with spare bits zero."""
    require(not re.search("[+/]", text) or not re.search("[-_]", text), code)
    standard = text.replace("-", "+").replace("_", "/")
    with blame(code, ValueError):
        data = base64.b64decode(standard, validate=True)
    require(base64.b64encode(data).decode() == standard, code)
    return data

def from_base64url(text, code="encoding.BASE64URL_INVALID"):
    """Decode base64url without padding, with spare bits zero."""
    require(re.fullmatch("[A-Za-z0-9_-]*", text), code)
    return from_base64(text + "=" * (-len(text) % 4), code)

_PREFIXES = {
    "organizationId": "org", "projectId": "prj", "environmentId": "env", "sessionId": "ses", "operationId": "op",
    "authoringSessionId": "authsess", "hostedRunId": "hrun", "evidenceExportId": "evexp",
    "evidenceBundleId": "evidence", "buildAttemptId": "attempt", "sourceDraftId": "draft",
}
_WORD = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
IDENTIFIERS = {name: prefix + "_[0-9a-z]{12,32}" for name, prefix in _PREFIXES.items()} | {
    "runId": "run_[A-Za-z0-9][A-Za-z0-9_-]{5,95}", "localReportId": "[A-Za-z0-9_-]{1,128}",
    "digest": "sha256:[0-9a-f]{64}", "slug": "(?=.{1,96}$)[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*", "seed": "(?s:.){1,20}",
    "idempotencyKey": "[A-Za-z0-9._:-]{8,128}", "revision": "[0-9a-f]{40}", "decimalBytes": "0|[1-9][0-9]{0,37}",
    "semver": r"(?:(?:0|[1-9]\d*)\.){2}(?:0|[1-9]\d*)"
              rf"(?:-{_WORD}(?:\.{_WORD})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
}
_DEVICE = re.compile(r"(?ia:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\..*)?")
_FORBIDDEN = re.compile("[\\\\:\x00-\x1f\x7f-\x9f\ud800-\udfff]")

def is_path(path):
    """Whether evidence may contain this path (formats §1, Paths)."""
    if _FORBIDDEN.search(path) or unicodedata.normalize("NFC", path) != path or len(path.encode()) > 1024:
        return False
    return all(part and part[-1] not in ". " and not _DEVICE.fullmatch(part) for part in path.split("/"))

def are_distinct(paths):
    """Whether no two paths are one to some file system."""
    twins = {unicodedata.normalize("NFC", path.upper().lower().upper().lower()) for path in paths}
    return len(twins) == len(paths)
