"""A runner in Python: `drillproof worker --runner docs/examples/runner-python` starts it for each queued job.

It answers prompts with their own words in capitals and "reproduces" runs by copying the result of the original. Replace
both with your own agent and your own world. It needs Python 3.9, the command drillproof, and a key in RUNNER_KEY.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

# Events go to descriptor 3. Standard output and error are the log.
events = os.fdopen(3, "w", encoding="utf-8")


def write(event):
    print(json.dumps(event), file=events, flush=True)


def progress(**facts):
    write({"progress": facts})


def answer(job):
    """An authoring turn: `turn` has the prompt and its limits, `history` the earlier turns of the conversation."""
    prompt = job["turn"]["prompt"]
    progress(actualModel="capitals-1", turnsUsed=0)
    if prompt.strip() == "":
        # An intended failure: the operation and the turn fail with this error.
        return {"outcome": "failed", "error": {"code": "author.PROMPT_EMPTY", "message": "the prompt has no words"}}
    return {"outcome": "succeeded", "turnsUsed": 1, "resultText": prompt.upper()}


def reproduce(job):
    """A rerun: `identity` has the pinned inputs, `session` is its world, `original` the run that it reproduces."""
    progress(session="ready")
    if "result" not in job["original"]:
        return {"outcome": "failed", "error": {"code": "drill.RESULT_ABSENT", "message": "the original has no result"}}
    result = job["original"]["result"]
    world = {"worldInstanceId": job["session"]["sessionId"]}
    result = {**result, "identity": {**result["identity"], **job["identity"], **world}}
    # A real runner records these files while the run takes place.
    objects = Path(job["folder"], "objects")
    objects.mkdir()
    for role, member in ("evidence", "evidenceHash"), ("state", "stateHash"), ("trajectory", "trajectoryHash"):
        text = f"the {role} of {job['run']['request']['runId']}".encode()
        (objects / f"{role}.txt").write_bytes(text)
        result[member] = "sha256:" + hashlib.sha256(text).hexdigest()
    return {"outcome": "succeeded", "result": result, "evidence": pack(job, result)}


def pack(job, result):
    """Packs and signs the evidence of a run. The path of the part is relative to the folder of the job."""
    folder, run = Path(job["folder"]), job["run"]
    secrets = json.loads(Path(job["secrets"]).read_text(encoding="utf-8"))
    key = os.open(folder / "key.pem", os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(key, "w") as file:
        file.write(secrets["RUNNER_KEY"])
    counters = ("trial", "trialCount", "attempt", "attemptLimit")
    ids = ("evidenceBundleId", "organizationId", "projectId", "hostedRunId", "rerunOfHostedRunId")
    description = {
        **{name: run[name] for name in ids},
        "runId": run["request"]["runId"],
        "createdAtMs": int(time.time() * 1000),
        "runResult": result,
        "original": {name: job["original"]["request"][name] for name in counters},
    }
    (folder / "run.json").write_text(json.dumps(description), encoding="utf-8")
    roles = [word for role in ("evidence", "state", "trajectory") for word in ("--role", f"{role}.txt={role}")]
    signing = ["--key", folder / "key.pem", "--issuer", "example runner"]
    paths = [folder / "objects", "--run", folder / "run.json", "--out", folder / "part.zip"]
    subprocess.run(["drillproof", "pack", *paths, *signing, *roles], check=True)
    return "part.zip"


write({"v": [1], "kinds": ["authoring.turn", "run.rerun"]})
line = sys.stdin.readline()
if line:  # none: the worker only asked for the kinds
    document = json.loads(line)
    print("attempt", document["attempt"], "of", document["operationId"], flush=True)
    write({"result": {"authoring.turn": answer, "run.rerun": reproduce}[document["kind"]](document)})
