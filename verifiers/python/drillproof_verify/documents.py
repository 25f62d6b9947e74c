"""Text, paths, strict JSON and the forms of documents (formats §1; RFC 8785)."""
import base64
import contextlib
import decimal
import functools
import hashlib
import json
import os.path
import re
import unicodedata

MEBIBYTE = 1 << 20

class Fault(Exception):
    """A violated rule; its text is the code."""

def refuse(faults):
    """Raise the first fault whose condition holds."""
    for code, holds in faults.items():
        if holds:
            raise Fault(code)

def codes_of(faults):
    """All codes whose conditions hold."""
    return {code for code, holds in faults.items() if holds}

@contextlib.contextmanager
def blame(code, *errors):
    """Report every fault inside, and these errors, as one code."""
    try:
        yield
    except (Fault, *errors) as error:
        raise Fault(code) from error

@contextlib.contextmanager
def collect(codes):
    """Add a fault inside to the codes, and continue after the block."""
    try:
        yield
    except OSError:
        codes.add("io.UNREADABLE")
    except Fault as fault:
        codes.add(str(fault))

def read_file(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()

def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()

def from_hex(text):
    refuse({"encoding.HEX_INVALID": not re.fullmatch("(?:[0-9a-f]{2})*", text)})
    return bytes.fromhex(text)

def from_base64(text, code):
    """Decode padded base64 in one of its two alphabets, with spare bits zero."""
    standard = text.replace("-", "+").replace("_", "/")
    with blame(code, ValueError):
        data = base64.b64decode(standard, validate=True)
    mixed = re.search("[+/]", text) and re.search("[-_]", text)
    refuse({code: mixed or base64.b64encode(data).decode() != standard})
    return data

def from_base64url(text):
    """Decode base64url without padding, with spare bits zero."""
    refuse({"encoding.BASE64URL_INVALID": not re.fullmatch("[A-Za-z0-9_-]*", text)})
    return from_base64(text + "=" * (-len(text) % 4), "encoding.BASE64URL_INVALID")

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

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?(?P<name>[ \t\r\n]*:)?|[\[\]{}]|[^\s\[\]{},:"]+', re.DOTALL)

def _format_number(value):
    """A double as ECMAScript writes it."""
    number = float(value)
    refuse({"json.NOT_REPRESENTABLE": number - number != 0})
    _, digits, power = decimal.Decimal(repr(number)).normalize().as_tuple()
    digits, sign = "".join(map(str, digits)), "-" if number < 0 else ""
    point = len(digits) + power  # the decimal point is after this many digits
    if 0 < point <= 21:
        return sign + digits[:point].ljust(point, "0") + ("." + digits[point:] if power < 0 else "")
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    return f"{sign}{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}e{point - 1:+}"

def _parse_number(text):
    number = float(text)
    refuse({"json.INVALID": not re.match("-?[0-9]", text)})
    with blame("json.NUMBER_INEXACT", decimal.InvalidOperation):
        zero = number == 0 and not re.search("[1-9]", re.split("[eE]", text)[0])
        refuse({"": not zero and decimal.Decimal(text) != decimal.Decimal(repr(number))})
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number

def _parse_object(pairs):
    refuse({"json.MEMBER_DUPLICATE": len(dict(pairs)) != len(pairs)})
    return dict(pairs)

def parse(data, max_bytes=64 * MEBIBYTE, max_values=1_000_000):
    """Parse the bytes of a document and refuse what two readers could read differently."""
    refuse({"json.TOO_LARGE": len(data) > max_bytes, "json.BOM": data.startswith(b"\xef\xbb\xbf")})
    with blame("encoding.UTF8_INVALID", UnicodeDecodeError):
        text = data.decode("utf-8")
    depth = values = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        values += token[0] not in "]}" and not token["name"]
        refuse({"json.DEPTH_EXCEEDED": depth > 64, "json.VALUES_EXCEEDED": values > max_values})
    try:
        value = json.loads(text, object_pairs_hook=_parse_object,
                           **dict.fromkeys(("parse_int", "parse_float", "parse_constant"), _parse_number))
    except (ValueError, RecursionError) as error:
        raise Fault("json.INVALID") from error
    with blame("json.SURROGATE_LONE"):
        canonical(value)
    return value

def parse_canonical(data, max_bytes=64 * MEBIBYTE):
    """Parse a document that must equal its own RFC 8785 form."""
    value = parse(data, max_bytes)
    refuse({"json.NOT_CANONICAL": canonical(value) != data})
    return value

def canonical(value):
    """The UTF-8 of the RFC 8785 form."""
    with blame("json.NOT_REPRESENTABLE", UnicodeEncodeError):
        return _write(value).encode("utf-8")

def _write(value, encode=json.JSONEncoder(ensure_ascii=False).encode):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_write(name)}:{_write(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return _format_number(value) if is_number else encode(value)

_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
          "number": float | int}

@functools.cache
def schema(name):
    """A published JSON Schema, such as "attestation.v1"."""
    return json.loads(read_file(os.path.dirname(__file__), "schemas", f"{name}.schema.json"))

def fits(form, value):
    """Whether a parsed value has the form of a schema; a name stands for a published one."""
    form = schema(form) if isinstance(form, str) else form
    kind = form.get("type")
    if kind and (not isinstance(value, _TYPES[kind]) or isinstance(value, bool) != (kind == "boolean")):
        return False
    if value not in form.get("enum", [form.get("const", value)]):
        return False
    if kind == "object":
        members, closed = form["properties"], form.get("additionalProperties") is False
        complete = value.keys() >= set(form.get("required", ()))
        complete = complete and not (closed and value.keys() - members.keys())
        return complete and all(fits(members.get(name, {}), item) for name, item in value.items())
    if kind == "array":
        return len(value) >= form.get("minItems", 0) and all(fits(form["items"], item) for item in value)
    if kind == "string":
        pattern = form["pattern"].removesuffix("$") + r"\Z" if "pattern" in form else ""
        return (form.get("minLength", 0) <= len(value) <= form.get("maxLength", len(value))
                and re.search(pattern, value, re.ASCII) is not None)
    if kind in ("integer", "number"):
        least = form.get("minimum", form.get("exclusiveMinimum", value - 1) + 1)
        return least <= value <= form.get("maximum", value)
    choices = form.get("anyOf", form.get("oneOf"))
    return choices is None or any(fits(choice, value) for choice in choices)

SIGNED_ROLES = {"run-result": "runResult"} | {role: role for role in ("evidence", "state", "trajectory")}

def read_manifest(raw, kind, limit=None):
    """Parse a "bundle" or "export" manifest and check everything that it can break by itself."""
    manifest, invalid = parse_canonical(raw), f"{kind}.MANIFEST_INVALID"
    lists = ("objects",) if kind == "bundle" else ("parts", "localReports")
    limit = {"bundle": 99_998, "export": 10_000}[kind] if limit is None else limit
    rows = [manifest.get(name) for name in lists] if isinstance(manifest, dict) else []
    exceeded = any(isinstance(row, list) and len(row) > limit for row in rows)
    refuse({"bundle.OBJECTS_EXCEEDED" if kind == "bundle" else "export.PARTS_EXCEEDED": exceeded,
            invalid: not fits(f"{kind}-manifest.v1", manifest)})
    refuse({invalid: not (_is_bundle if kind == "bundle" else _is_export)(manifest)})
    return manifest

def _is_bundle(manifest):
    paths = [row["path"] for row in manifest["objects"]]
    roles = [row["role"] for row in manifest["objects"] if row.get("role") in SIGNED_ROLES]
    valid = all(path.startswith("objects/") and is_path(path) for path in paths) and are_distinct(paths)
    return valid and paths == sorted(paths, key=str.encode) and len(set(roles)) == len(roles)

def _is_export(manifest):
    lists = {"parts": ("evidenceBundleId", manifest["parts"]),
             "local-reports": ("localReportId", manifest["localReports"])}
    return manifest["fromAtMs"] <= manifest["throughAtMs"] and all(
        len({row[name].lower() for row in rows}) == len(rows) and all(
            row["ordinal"] == ordinal and row["path"] == f"{folder}/{row[name]}.zip" and is_path(row["path"])
            and int(row["bytes"]) < 1 << 53 and manifest["scope"].get("projectId") in (None, row["projectId"])
            for ordinal, row in enumerate(rows))
        for folder, (name, rows) in lists.items())

def selection_digest(manifest):
    """The digest that the rows of an export manifest give."""
    lists = {"evidenceBundleId": manifest["parts"], "localReportId": manifest["localReports"]}
    return sha256(canonical([{name: row[name], "manifestDigest": row["manifestDigest"]}
                             for name, rows in lists.items() for row in rows]))
