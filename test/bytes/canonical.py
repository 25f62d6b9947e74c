"""RFC 8785 by the means of Python alone, as the other side of the tests: a JSON text a line in, its form a line out.

Numbers are rendered from repr(), the shortest digits that round-trip, by the rules of ECMA-262 (Number::toString).
"""

import json
import sys


def number(value):
    if value == 0:
        return "0"
    mantissa, _, power = repr(abs(float(value))).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.digits times ten to the power of n.
    n = int(power or 0) + len(whole) if whole.strip("0") else int(power or 0) - (len(fraction) - len(digits))
    digits = digits.rstrip("0")
    k = len(digits)
    if k <= n <= 21:
        text = digits + "0" * (n - k)
    elif 0 < n <= 21:
        text = digits[:n] + "." + digits[n:]
    elif -6 < n <= 0:
        text = "0." + "0" * -n + digits
    else:
        exponent = f"e{'+' if n > 0 else '-'}{abs(n - 1)}"
        text = digits[0] + ("." + digits[1:] if k > 1 else "") + exponent
    return ("-" if value < 0 else "") + text


def canonical(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


for line in sys.stdin.buffer:
    value = json.loads(line, parse_int=float)
    sys.stdout.buffer.write(canonical(value).encode() + b"\n")
