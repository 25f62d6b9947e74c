"""What no verdict depends on: contradictions of runs, and the coverage of bytes (formats §4)."""
import json
import re

from .documents import codes_of

def find_contradictions(result):
    """The warnings about a run result that contradicts itself (formats §4, Runs)."""
    final = [checkpoint["verdict"] for checkpoint in result["checkpoints"] if checkpoint["kind"] == "final"]
    holders, verdict = [result, *result["checkpoints"]], result["verdict"]
    gates = [row["status"] for holder in holders for row in holder["assertionResults"] if row["gate"]]
    bound = {row["bindingEvidence"] for row in (result, *result["interactions"])}
    tools, events = result["budgetUsage"]["toolCalls"], result["budgetUsage"]["scheduledEvents"]

    def contradicts(outcomes):
        unlike = verdict == "passed" and set(outcomes) - {"passed"}
        return unlike or verdict != "failed" and "failed" in outcomes

    return codes_of({
        "run.WORLD_INCONSISTENT": result["worldConsistency"] != "consistent",
        "run.BINDING_PARTIAL": bound != {"complete"},
        "run.ASSERTION_FAILED": contradicts(gates),
        "run.CHECKPOINT_FAILED": contradicts(final),
        "run.BUDGET_EXCEEDED": tools["rejected"] > 0 or tools["attempted"] > tools["limit"]
                               or events["exhausted"] or events["processed"] > events["limit"],
    })

class Coverage:
    """How many bytes there are, how many a digest covers, and how many a trusted key signed."""
    def __init__(self, total, covered, attested, excused=0):
        self.counts = {"totalBytes": total, "coveredBytes": covered, "attestedBytes": attested}
        self.codes = codes_of({"coverage.LOW": (total - covered - excused) * 10 >= total})

def count_part(archive, trusted, proven):
    """The coverage of a part that no row lists, and of which everything or the attestation may be signed."""
    sizes = {name: min(entry.compressed, entry.size) for name, entry in archive.entries.items()}
    content, excused = sum(sizes.values()), 0 if proven else sizes.get("attestation.json", 0)
    headers = 22 + sum(76 + 2 * len(name.encode()) for name in sizes)
    return Coverage(len(archive.data), content - excused, content if trusted else 0, headers + excused)

def count_export(export):
    """The coverage of an export that did not fail."""
    sizes = {path: len(export.files[path]()) for path in export.files.keys() - export.mirror}
    total, archive = sum(sizes.values()), export.archive
    if archive:
        total = len(archive.data) - sum(archive.entries[path].compressed for path in export.mirror)
    raw = export.files["export.json"]()
    document = json.loads(raw)
    rest = {name: document[name] for name in document.keys() & export.fixed}
    short, rest = (json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in (document, rest))
    claims = len(short.encode()) - len(rest.encode())
    regular = re.sub(r'("(?:[^"\\]|\\.)*")|\s', r"\1", raw.decode()) == short
    most = len(json.dumps(document, ensure_ascii=False, indent=2).encode()) + 1  # with a final line feed
    covered = min(len(raw), most) - claims if regular else 0
    signed = sizes["manifest.json"] + sizes.get("export-attestation.json", 0) if export.list_signed else 0
    covered += sum(sizes[row["path"]] for row in export.parts + export.reports)
    covered += signed or sizes["manifest.json"]
    for row, bundle in zip(export.parts, export.bundles):
        whole = export.list_signed and bundle.trusted
        signed += sizes[row["path"]] if whole else bundle.coverage.counts["attestedBytes"]
    return Coverage(total - claims, covered, signed)
