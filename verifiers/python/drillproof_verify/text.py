"""Faults, digests, encodings, identifiers and paths (formats §1; control API, Identifiers)."""

import base64
import binascii
import hashlib
import re
import unicodedata


class Fault(Exception):
    """A violated rule; `code` names it."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def require(condition, code):
    """Raise the fault unless the condition holds."""
    if not condition:
        raise Fault(code)


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def from_hex(text):
    require(re.fullmatch("(?:[0-9a-f]{2})*", text), "encoding.HEX_INVALID")
    return bytes.fromhex(text)


def from_base64url(text):
    """Decode base64url without padding, whose spare bits must be zero."""
    require(re.fullmatch("[A-Za-z0-9_-]*", text) and len(text) % 4 != 1, "encoding.BASE64URL_INVALID")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text, "encoding.BASE64URL_INVALID")
    return data


def from_base64(text, code):
    """Decode padded base64 in either alphabet, but not in both, with spare bits zero."""
    require(not (set(text) & set("+/") and set(text) & set("-_")), code)
    standard = text.replace("-", "+").replace("_", "/")
    try:
        data = base64.b64decode(standard, validate=True)
    except (ValueError, binascii.Error) as error:
        raise Fault(code) from error
    require(base64.b64encode(data).decode() == standard, code)
    return data


def _prefixed(prefix):
    return prefix + "_[0-9a-z]{12,32}"


DIGEST = "sha256:[0-9a-f]{64}"
SLUG = "(?=.{1,96}$)[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*"
DECIMAL_BYTES = "0|[1-9][0-9]{0,37}"
_SEMVER_WORD = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
IDENTIFIERS = {
    "organizationId": _prefixed("org"), "projectId": _prefixed("prj"), "environmentId": _prefixed("env"),
    "sessionId": _prefixed("ses"), "operationId": _prefixed("op"), "hostedRunId": _prefixed("hrun"),
    "authoringSessionId": _prefixed("authsess"), "evidenceExportId": _prefixed("evexp"),
    "evidenceBundleId": _prefixed("evidence"), "buildAttemptId": _prefixed("attempt"),
    "sourceDraftId": _prefixed("draft"), "runId": "run_[A-Za-z0-9][A-Za-z0-9_-]{5,95}",
    "localReportId": "[A-Za-z0-9_-]{1,128}", "digest": DIGEST, "slug": SLUG, "seed": "(?s:.){1,20}",
    "idempotencyKey": "[A-Za-z0-9._:-]{8,128}", "revision": "[0-9a-f]{40}", "decimalBytes": DECIMAL_BYTES,
    "semver": r"(?:(?:0|[1-9]\d*)\.){2}(?:0|[1-9]\d*)"
              rf"(?:-{_SEMVER_WORD}(?:\.{_SEMVER_WORD})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
}

_DEVICE = re.compile("(?:con|prn|aux|nul|conin\\$|conout\\$|(?:com|lpt)[0-9¹²³]) *(?:\\..*)?", re.IGNORECASE | re.ASCII)
_FORBIDDEN = re.compile("[\\\\:\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def is_path(path):
    """Whether evidence may contain this path (formats §1, Paths)."""
    if _FORBIDDEN.search(path) or unicodedata.normalize("NFC", path) != path or len(path.encode()) > 1024:
        return False
    return all(segment and segment[-1] not in ". " and not _DEVICE.fullmatch(segment) for segment in path.split("/"))


def twin(path):
    """The form that is equal for two paths that some file system treats as one."""
    return unicodedata.normalize("NFC", path.upper().lower().upper().lower())
