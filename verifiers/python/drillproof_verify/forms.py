"""The forms of documents: the published JSON Schemas, and the rules that a schema cannot express."""
import functools
import json
import pathlib
import re

from .text import are_distinct, is_path, require

ATTESTATIONS = {"evidence": "attestation.v1", "export": "export-attestation.v1"}
SIGNED_ROLES = {"run-result": "runResult", "evidence": "evidence", "state": "state", "trajectory": "trajectory"}
_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}

@functools.cache
def schema(name):
    """A published schema, such as "attestation.v1"."""
    return json.loads((pathlib.Path(__file__).parent / "schemas" / f"{name}.schema.json").read_text("utf-8"))

def fits(form, value):
    """Whether a parsed value has the form of a schema; a name stands for a published one."""
    form = schema(form) if isinstance(form, str) else form
    kind = form.get("type")
    if kind and (not isinstance(value, _TYPES[kind]) or isinstance(value, bool) != (kind == "boolean")):
        return False
    if "const" in form and value != form["const"] or "enum" in form and value not in form["enum"]:
        return False
    if choices := form.get("anyOf", form.get("oneOf")):
        return any(fits(choice, value) for choice in choices)
    if kind == "object":
        members, closed = form["properties"], form.get("additionalProperties") is False
        return (value.keys() >= set(form.get("required", ())) and not (closed and value.keys() - members.keys())
                and all(fits(members.get(name, {}), item) for name, item in value.items()))
    if kind == "array":
        return len(value) >= form.get("minItems", 0) and all(fits(form["items"], item) for item in value)
    if kind == "string":
        pattern = form["pattern"].removesuffix("$") + r"\Z" if "pattern" in form else ""
        return (form.get("minLength", 0) <= len(value) <= form.get("maxLength", len(value))
                and re.search(pattern, value, re.ASCII) is not None)
    if kind in ("integer", "number"):
        return form.get("minimum", form.get("exclusiveMinimum", value - 1) + 1) <= value <= form.get("maximum", value)
    return True

def _count(document, name):
    rows = document.get(name) if isinstance(document, dict) else None
    return len(rows) if isinstance(rows, list) else 0

def check_bundle_manifest(manifest, limit=99_998):
    """Check everything that a bundle manifest can break by itself."""
    require(_count(manifest, "objects") <= limit, "bundle.OBJECTS_EXCEEDED")
    require(fits("bundle-manifest.v1", manifest), "bundle.MANIFEST_INVALID")
    paths = [row["path"] for row in manifest["objects"]]
    roles = [row["role"] for row in manifest["objects"] if row.get("role") in SIGNED_ROLES]
    valid = all(path.startswith("objects/") and is_path(path) for path in paths) and len(set(roles)) == len(roles)
    require(valid and are_distinct(paths) and paths == sorted(paths, key=str.encode), "bundle.MANIFEST_INVALID")

def check_export_manifest(manifest, limit=10_000):
    """Check everything that an export manifest can break by itself, except the selection digest."""
    require(max(_count(manifest, "parts"), _count(manifest, "localReports")) <= limit, "export.PARTS_EXCEEDED")
    require(fits("export-manifest.v1", manifest), "export.MANIFEST_INVALID")
    require(manifest["fromAtMs"] <= manifest["throughAtMs"], "export.MANIFEST_INVALID")
    lists = {("parts", "evidenceBundleId"): manifest["parts"], ("local-reports", "localReportId"): manifest["localReports"]}
    for (folder, name), rows in lists.items():
        distinct = len({row[name].lower() for row in rows}) == len(rows)
        require(distinct and all(
            row["ordinal"] == ordinal and row["path"] == f"{folder}/{row[name]}.zip" and is_path(row["path"])
            and int(row["bytes"]) < 1 << 53 and manifest["scope"].get("projectId") in (None, row["projectId"])
            for ordinal, row in enumerate(rows)
        ), "export.MANIFEST_INVALID")
