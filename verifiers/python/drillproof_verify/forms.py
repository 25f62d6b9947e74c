"""The forms of documents: the published JSON Schemas, and the rules that a schema cannot express."""

import functools
import json
import pathlib
import re

from .text import is_path, require, twin

ATTESTATIONS = {"evidence": "attestation.v1", "export": "export-attestation.v1"}
SIGNED_ROLES = {"run-result": "runResult", "evidence": "evidence", "state": "state", "trajectory": "trajectory"}
_TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
}

@functools.cache
def schema(name):
    """A published schema, such as "attestation.v1"."""
    return json.loads((pathlib.Path(__file__).parent / "schemas" / f"{name}.schema.json").read_text("utf-8"))

def fits(form, value):
    """Whether a parsed JSON value has the form of a schema; a name stands for a published one."""
    form = schema(form) if isinstance(form, str) else form
    if "type" in form:
        as_number = isinstance(value, bool) and form["type"] != "boolean"
        if as_number or not isinstance(value, _TYPES[form["type"]]):
            return False
    if "const" in form and value != form["const"] or "enum" in form and value not in form["enum"]:
        return False
    if "anyOf" in form or "oneOf" in form:
        return any(fits(choice, value) for choice in form.get("anyOf", form.get("oneOf")))
    if isinstance(value, str):
        pattern = form.get("pattern", "").removesuffix("$") + (r"\Z" if "pattern" in form else "")
        return (
            form.get("minLength", 0) <= len(value) <= form.get("maxLength", len(value))
            and re.search(pattern, value, re.ASCII) is not None
        )
    if isinstance(value, list):
        return len(value) >= form.get("minItems", 0) and all(fits(form.get("items", {}), item) for item in value)
    if isinstance(value, dict):
        members = form.get("properties", {})
        closed = form.get("additionalProperties", {}) is False
        return (
            all(name in value for name in form.get("required", []))
            and all(fits(members.get(name, {}), item) for name, item in value.items())
            and not (closed and value.keys() - members.keys())
        )
    if isinstance(value, (int, float)):
        return form.get("minimum", value) <= value <= form.get("maximum", value) and not (
            "exclusiveMinimum" in form and value <= form["exclusiveMinimum"]
        )
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
    require(
        all(path.startswith("objects/") and is_path(path) for path in paths)
        and paths == sorted(paths, key=str.encode)
        and len(set(map(twin, paths))) == len(paths)
        and len(set(roles)) == len(roles),
        "bundle.MANIFEST_INVALID",
    )

def check_export_manifest(manifest, limit=10_000):
    """Check everything that an export manifest can break by itself, except the selection digest."""
    require(max(_count(manifest, "parts"), _count(manifest, "localReports")) <= limit, "export.PARTS_EXCEEDED")
    require(fits("export-manifest.v1", manifest), "export.MANIFEST_INVALID")
    project = manifest["scope"].get("projectId")
    valid = manifest["fromAtMs"] <= manifest["throughAtMs"]
    for rows, folder, name in (
        (manifest["parts"], "parts", "evidenceBundleId"), (manifest["localReports"], "local-reports", "localReportId"),
    ):
        valid = valid and len({row[name].lower() for row in rows}) == len(rows) and all(
            row["ordinal"] == ordinal and row["path"] == f"{folder}/{row[name]}.zip" and is_path(row["path"])
            and project in (None, row["projectId"]) and int(row["bytes"]) < 1 << 53
            for ordinal, row in enumerate(rows)
        )
    require(valid, "export.MANIFEST_INVALID")
