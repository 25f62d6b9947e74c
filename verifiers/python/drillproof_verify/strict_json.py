"""Strict JSON and its canonical form (formats §1, Canonical or parsed; RFC 8785)."""
import decimal
import json
import re

from .text import Fault, blame, require

MEBIBYTE = 1 << 20
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?(?P<name>[ \t\r\n]*:)?|[\[\]{}]|[^\s\[\]{},:"]+', re.DOTALL)

def _format_number(value):
    """A double as ECMAScript writes it."""
    number = float(value)
    require(number - number == 0, "json.NOT_REPRESENTABLE")
    _, digits, power = decimal.Decimal(repr(number)).normalize().as_tuple()
    digits, sign = "".join(map(str, digits)), "-" if number < 0 else ""
    point = len(digits) + power  # the decimal point is after this many digits
    if number == 0:
        return "0"
    if 0 < point <= 21:
        return sign + digits[:point].ljust(point, "0") + ("." + digits[point:] if power < 0 else "")
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    return f"{sign}{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}e{point - 1:+}"

def _parse_number(text):
    number = float(text)
    with blame("json.NUMBER_INEXACT", decimal.InvalidOperation):
        zero = number == 0 and not re.search("[1-9]", re.split("[eE]", text)[0])
        require(zero or decimal.Decimal(text) == decimal.Decimal(repr(number)), "json.NUMBER_INEXACT")
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number

def _parse_object(pairs):
    members = dict(pairs)
    require(len(members) == len(pairs), "json.MEMBER_DUPLICATE")
    return members

def _refuse(_literal):
    raise Fault("json.INVALID")

def parse(data, max_bytes=64 * MEBIBYTE, max_values=1_000_000):
    """Parse the bytes of a document and refuse what two readers could read differently."""
    require(len(data) <= max_bytes, "json.TOO_LARGE")
    require(not data.startswith(b"\xef\xbb\xbf"), "json.BOM")
    with blame("encoding.UTF8_INVALID", UnicodeDecodeError):
        text = data.decode("utf-8")
    depth = values = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        values += token[0] not in "]}" and not token["name"]
        require(depth <= 64, "json.DEPTH_EXCEEDED")
        require(values <= max_values, "json.VALUES_EXCEEDED")
    try:
        value = json.loads(text, parse_int=_parse_number, parse_float=_parse_number, parse_constant=_refuse,
                           object_pairs_hook=_parse_object)
    except (ValueError, RecursionError) as error:
        raise Fault("json.INVALID") from error
    with blame("json.SURROGATE_LONE"):
        canonical(value)
    return value

def parse_canonical(data, max_bytes=64 * MEBIBYTE):
    """Parse a document that must equal its own RFC 8785 form."""
    value = parse(data, max_bytes)
    require(canonical(value) == data, "json.NOT_CANONICAL")
    return value

def canonical(value):
    """The UTF-8 of the RFC 8785 form."""
    with blame("json.NOT_REPRESENTABLE", UnicodeEncodeError):
        return _write(value).encode("utf-8")

def _write(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_write(name)}:{_write(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _format_number(value)
    return json.dumps(value, ensure_ascii=False)
