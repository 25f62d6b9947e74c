"""Strict JSON and its canonical form (formats §1, Canonical or parsed; RFC 8785)."""

import json
import re

from .text import Fault, require

MEBIBYTE = 1 << 20
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?(?P<name>[ \t\r\n]*:)?|[\[\]{}]|[^\s\[\]{},:"]+', re.DOTALL)
_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?)(\d+))?", re.ASCII)


def format_number(value):
    """A double as ECMAScript writes it."""
    number = float(value)
    require(number - number == 0, "json.NOT_REPRESENTABLE")
    digits, exponent = _decimal(repr(abs(number)))
    if not digits:
        return "0"
    point = len(digits) + exponent  # the decimal point is after this many digits
    if 0 < point <= 21:
        text = digits.ljust(point, "0")[:point] + ("." + digits[point:] if exponent < 0 else "")
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        fraction = "." + digits[1:] if len(digits) > 1 else ""
        text = f"{digits[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return ("-" if number < 0 else "") + text


def _decimal(text):
    """The significant digits of a number and the power of ten of the last one."""
    _, whole, fraction, sign, power = _NUMBER.fullmatch(text).groups(default="")
    digits = (whole + fraction).lstrip("0")
    short = digits.rstrip("0")
    power = power.lstrip("0")[:18] or "0"
    return short, int(sign + power) - len(fraction) + len(digits) - len(short) if short else 0


def _parse_number(text):
    number = float(text)
    exact = number - number == 0 and _decimal(text) == _decimal(format_number(number))
    require(exact, "json.NUMBER_INEXACT")
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number


def _parse_object(pairs):
    members = dict(pairs)
    require(len(members) == len(pairs), "json.MEMBER_DUPLICATE")
    return members


def _refuse(_text):
    raise Fault("json.INVALID")


def parse(data, max_bytes=64 * MEBIBYTE, max_values=1_000_000):
    """Parse the bytes of a document and refuse whatever two readers could read differently."""
    require(len(data) <= max_bytes, "json.TOO_LARGE")
    require(not data.startswith(b"\xef\xbb\xbf"), "json.BOM")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fault("encoding.UTF8_INVALID") from error
    depth = values = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        values += token[0] not in "]}" and not token["name"]
        require(depth <= 64, "json.DEPTH_EXCEEDED")
        require(values <= max_values, "json.VALUES_EXCEEDED")
    try:
        value = json.loads(
            text, parse_int=_parse_number, parse_float=_parse_number, parse_constant=_refuse,
            object_pairs_hook=_parse_object,
        )
        canonical(value)
    except (ValueError, RecursionError) as error:
        raise Fault("json.INVALID") from error
    except Fault as fault:
        raise Fault("json.SURROGATE_LONE") if fault.code == "json.NOT_REPRESENTABLE" else fault
    return value


def parse_canonical(data, max_bytes=64 * MEBIBYTE):
    """Parse a document that must equal its own RFC 8785 form."""
    value = parse(data, max_bytes)
    require(canonical(value) == data, "json.NOT_CANONICAL")
    return value


def canonical(value):
    """The UTF-8 of the RFC 8785 form."""
    try:
        return _write(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Fault("json.NOT_REPRESENTABLE") from error


def _write(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_write(name)}:{_write(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return format_number(value)
    return json.dumps(value, ensure_ascii=False)
