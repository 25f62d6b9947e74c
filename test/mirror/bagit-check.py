"""Checks a bag by the text of RFC 8493 with only the standard library, independently of drillproof.

    python3 bagit-check.py BAG      prints "valid" and exits with 0, or prints each broken rule and exits with 1
"""
import hashlib
import os
import re
import sys


def lines(path):
    with open(path, encoding="utf-8", newline=None) as file:
        return file.read().splitlines()


def rows(path):
    for line in lines(path):
        checksum, name = re.fullmatch(r"([0-9A-Fa-f]+)[ \t]+\*?(\S.*)", line).groups()
        yield re.sub(r"%(0[AaDd]|25)", lambda found: chr(int(found[1], 16)), name), checksum.lower()


def digest(path, algorithm):
    sum_ = hashlib.new(algorithm)
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            sum_.update(chunk)
    return sum_.hexdigest()


def tree(root):
    for folder, _, names in os.walk(root):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def problems(bag):
    declaration = lines(os.path.join(bag, "bagit.txt"))
    if declaration != ["BagIt-Version: 1.0", "Tag-File-Character-Encoding: UTF-8"]:
        yield "2.1.1: bagit.txt is not the declaration of version 1.0"
    files = set(tree(bag))
    payload = {path for path in files if path.startswith("data/")}
    if not os.path.isdir(os.path.join(bag, "data")):
        yield "2.1.2: the payload directory is missing"
    manifests = [path for path in files if re.fullmatch(r"manifest-[a-z0-9]+\.txt", path)]
    if not manifests:
        yield "2.1.3: the payload manifest is missing"
    for manifest in manifests + [path for path in files if re.fullmatch(r"tagmanifest-[a-z0-9]+\.txt", path)]:
        algorithm = manifest.split("-")[1][:-4]
        listed = list(rows(os.path.join(bag, manifest)))
        names = [name for name, _ in listed]
        if len(set(names)) != len(names):
            yield f"2.1.3: {manifest} lists a file twice"
        of_tags = manifest.startswith("tag")
        if not of_tags and set(names) != payload:
            yield f"3: {manifest} and data/ differ: {sorted(set(names) ^ payload)}"
        for name, checksum in listed:
            if name.startswith("data/") == of_tags or ".." in name.split("/") or name.startswith(("/", "~")):
                yield f"2.1.3, 2.2.1: {manifest} may not list {name}"
            elif name not in files:
                yield f"3: {name} in {manifest} is missing"
            elif digest(os.path.join(bag, name), algorithm) != checksum:
                yield f"3: {name} does not match its checksum in {manifest}"
    if "bag-info.txt" in files:
        stated = [line.split(":", 1)[1].strip() for line in lines(os.path.join(bag, "bag-info.txt")) if line.lower().startswith("payload-oxum:")]
        size = sum(os.path.getsize(os.path.join(bag, path)) for path in payload)
        if stated and stated != [f"{size}.{len(payload)}"]:
            yield f"2.2.2: Payload-Oxum is {stated}, the payload {size}.{len(payload)}"
    if "fetch.txt" in files:
        yield "2.2.3: fetch.txt is not expected"


found = list(problems(sys.argv[1]))
print("\n".join(found) or "valid")
sys.exit(1 if found else 0)
