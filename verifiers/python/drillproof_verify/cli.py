"""The command drillproof-verify."""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import sys
import time

from .archive import Archive
from .bundles import Bundle, verify_detached
from .documents import Fault
from .exports import Export
from .mirrors import Receipts
from .trust import Caller, TrustStore

_EMPTY = {"parts", "local-reports", "receipts", ".drillproof-mirror", ".drillproof-mirror/lease",
          ".drillproof-mirror/partial", ".drillproof", ".drillproof/scrub"}  # folders that can be empty
_EXIT = {"verified": 0, "valid": 0, "incomplete": 3, "not_checked": 3}

def _raise(error):
    raise error

def read_folder(root):
    """The files of a folder as functions that read them, and its links and devices."""
    files, irregular = {}, set()
    for folder, names, leaves in os.walk(root, onerror=_raise):
        for path in [pathlib.Path(folder, name) for name in names + leaves]:
            name = path.relative_to(root).as_posix()
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                irregular.add(name)
            elif path.is_file():
                files[name] = path.read_bytes
            elif not any(path.iterdir()) and name.removeprefix("data/") not in _EMPTY:
                files[name + "/"] = bytes  # an empty folder counts as a file
    return files, irregular

def verify(path, trust, as_of, receipts=False):
    """Verify a part, an export, an envelope, or the receipts of a mirror."""
    store = TrustStore(pathlib.Path(trust).read_bytes()) if trust else None
    caller, path = Caller(trust=store, as_of=as_of), pathlib.Path(path)
    if path.is_dir():
        files, irregular = read_folder(path)
        if receipts:
            return Receipts({name: read() for name, read in files.items() if name.endswith(".json")})
        return Export(files, caller, irregular)
    data = path.read_bytes()
    if data.lstrip()[:1] == b"{":
        signed = verify_detached(data, "evidence", None, caller)
        other = "attestation.PREDICATE_UNSUPPORTED" in signed.codes
        return verify_detached(data, "export", None, caller) if other else signed
    with contextlib.suppress(Fault):  # an archive that cannot be read fails as a part
        archive = Archive(data)
        marks = ("parts/", "local-reports/")
        if any(name == "export.json" or name.startswith(marks) for name in archive.entries):
            return Export(archive, caller)
    return Bundle(data, caller)

def _describe(found):
    completeness = {"completeness": found.completeness} if isinstance(found, Export) else {}
    return {"verdict": found.verdict, **completeness, "codes": sorted(found.codes)}

def _answer_lines():
    for line in sys.stdin:
        try:
            case = json.loads(line)
            answer = _describe(verify(case["path"], case.get("trust"), case["at"]))
        except Exception as error:  # a crash must neither end the process nor look like a verdict
            answer = {"crash": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)

def _milliseconds(text):
    if text.lstrip("-").isdigit():
        return int(text)
    moment = datetime.datetime.fromisoformat(text)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp() * 1000)

def main():
    parser = argparse.ArgumentParser("drillproof-verify", description="Verify evidence and print JSON.")
    parser.add_argument("path", nargs="?", help="a part, an export (folder, bag or file), or a DSSE envelope")
    parser.add_argument("--trust", help="the trust store, a JWK Set")
    parser.add_argument("--at", type=_milliseconds, help="the time of the verification (default: now)")
    parser.add_argument("--receipts", action="store_true", help="verify the receipts of the mirror PATH")
    parser.add_argument("--batch", action="store_true", help='answer JSON lines {"path", "trust", "at"}')
    options = parser.parse_args()
    if options.batch:
        return _answer_lines()
    if options.path is None:
        parser.error("name a path")
    try:
        at = time.time_ns() // 1_000_000 if options.at is None else options.at
        found = verify(options.path, options.trust, at, options.receipts)
    except Exception as error:  # whatever went wrong, nothing was verified
        print(f"drillproof-verify: {type(error).__name__}: {error}", file=sys.stderr)
        return 2 if isinstance(error, (Fault, FileNotFoundError)) else 3
    print(json.dumps(_describe(found)))
    return _EXIT.get(found.verdict, 1)
