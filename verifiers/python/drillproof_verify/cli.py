"""The command drillproof-verify."""

import argparse
import datetime
import json
import os
import pathlib
import sys
import time

from .bundles import Bundle, verify_detached
from .exports import Export, archive_files
from .statements import Caller
from .text import Fault
from .trust import TrustStore

_EXIT = {"verified": 0, "valid": 0, "incomplete": 3, "not_checked": 3}

def read_folder(root):
    """The files of a folder as functions that read them, and its links and devices."""
    files, irregular = {}, set()
    for folder, names, leaves in os.walk(root, onerror=_raise):
        here = pathlib.Path(folder)
        for path in [here / name for name in names + leaves]:
            name = path.relative_to(root).as_posix()
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                irregular.add(name)
            elif path.is_file():
                files[name] = path.read_bytes
            elif not any(path.iterdir()) and name not in ("parts", "local-reports", "receipts"):
                files[name + "/"] = bytes
    return files, irregular

def _raise(error):
    raise error

def verify(path, trust, as_of):
    """The verdict of a part, an export or an envelope as one JSON object."""
    store = TrustStore(pathlib.Path(trust).read_bytes()) if trust else None
    caller, path = Caller(store, as_of), pathlib.Path(path)
    if path.is_dir():
        export = Export(*_folder_arguments(path, caller))
    else:
        data = path.read_bytes()
        if data.lstrip()[:1] == b"{":
            signed = verify_detached(data, "evidence", None, caller)
            return {"verdict": signed.result(), "codes": sorted(signed.codes)}
        try:
            files, warnings = archive_files(data)
        except Fault as fault:
            return {"verdict": "failed", "codes": [fault.code]}
        if not any(name == "export.json" or name.startswith(("parts/", "local-reports/")) for name in files):
            bundle = Bundle(data, caller)
            return {"verdict": bundle.verdict, "codes": sorted(bundle.codes)}
        export = Export(files, caller, codes=warnings)
    return {"verdict": export.verdict, "completeness": export.completeness, "codes": export.all_codes()}

def _folder_arguments(path, caller):
    files, irregular = read_folder(path)
    return files, caller, irregular

def _batch():
    for line in sys.stdin:
        try:
            case = json.loads(line)
            answer = verify(case["path"], case.get("trust"), case["at"])
        except Exception as error:  # a crash must never end the process, nor look like a verdict
            answer = {"crash": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)

def _milliseconds(text):
    if text.lstrip("-").isdigit():
        return int(text)
    moment = datetime.datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return round(moment.timestamp() * 1000)

def main(arguments=None):
    parser = argparse.ArgumentParser(prog="drillproof-verify", description="Verify drillproof evidence.")
    parser.add_argument("path", nargs="?", help="a part, an export (folder, bag or one file), or a DSSE envelope")
    parser.add_argument("--trust", help="the trust store, a JWK Set")
    parser.add_argument("--at", type=_milliseconds, help="the time of the verification (default: now)")
    parser.add_argument("--json", action="store_true", help="accepted for symmetry; the output is always JSON")
    parser.add_argument("--batch", action="store_true", help="answer JSON lines {path, trust, at} from stdin")
    options = parser.parse_args(arguments)
    if options.batch:
        return _batch()
    if options.path is None:
        parser.error("give a path")
    try:
        answer = verify(options.path, options.trust, options.at if options.at is not None else int(time.time() * 1000))
    except (Fault, FileNotFoundError) as error:
        print(json.dumps({"error": str(error)}))
        return 2
    except Exception as error:  # whatever went wrong, the evidence was not verified
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
        return 3
    print(json.dumps(answer))
    return _EXIT.get(answer["verdict"], 1)

if __name__ == "__main__":
    sys.exit(main())
