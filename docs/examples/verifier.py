#!/usr/bin/env python3
"""A verifier of two kinds of vectors, for `drillproof selftest --exec "python3 docs/examples/verifier.py"`.

It is given the folder of one case, and answers with its exit code and one line of JSON (docs/formats/selftest.md).
"""

import json
import re
import sys
from pathlib import Path

VALID, INVALID, UNSUPPORTED = 0, 1, 77


def hexadecimal(case):
    """Lowercase hexadecimal, two digits for each byte; bytes.fromhex alone would take "AB" and "ab cd" too."""
    import base64

    text = case["input"]["text"]
    if re.fullmatch(r"(?:[0-9a-f]{2})*", text) is None:
        return INVALID, {"code": "encoding.HEX_INVALID"}
    return VALID, {"base64": base64.b64encode(bytes.fromhex(text)).decode()}


FORMATS = {
    "digest": r"sha256:[0-9a-f]{64}",
    "revision": r"[0-9a-f]{40}",
    "projectId": r"prj_[0-9a-z]{12,32}",
    "runId": r"run_[A-Za-z0-9][A-Za-z0-9_-]{5,95}",
}


def identifier(case):
    """Four of the formats of identifiers; fullmatch, because "$" lets a line feed pass."""
    pattern = FORMATS.get(case["input"]["format"])
    if pattern is None:
        return UNSUPPORTED, {}
    return (VALID if re.fullmatch(pattern, case["input"]["text"]) else INVALID), {}


KINDS = {"hex": hexadecimal, "identifiers": identifier}


def main(folder):
    case = json.loads((Path(folder) / "case.json").read_text(encoding="utf-8"))
    verify = KINDS.get(case["kind"])
    if case["protocol"] != 1 or verify is None:
        return UNSUPPORTED
    exit_code, found = verify(case)
    print(json.dumps(found))
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
