"""What an auditor could write in an afternoon: verify every part of an export with zipfile, hashlib and cryptography.

usage: verify.py EXPORT TRUST.json
"""

import base64
import hashlib
import json
import sys
from pathlib import Path
from zipfile import ZipFile

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256


def unbase64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def integer(text):
    return int.from_bytes(unbase64(text), "big")


def require_digest(data, digest, what):
    if "sha256:" + hashlib.sha256(data).hexdigest() != digest:
        sys.exit(f"{what}: the digest does not match")


export, trust = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_bytes())
keys = {
    key["kid"]: ec.EllipticCurvePublicNumbers(integer(key["x"]), integer(key["y"]), ec.SECP256R1()).public_key()
    for key in trust["keys"]
}
parts = json.loads((export / "manifest.json").read_bytes())["parts"]
for part in parts:
    path = export / part["path"]
    archive = path.read_bytes()
    if len(archive) != int(part["bytes"]):
        sys.exit(f"{path}: the size does not match")
    require_digest(archive, part["digest"], path)
    with ZipFile(path) as entries:
        manifest = entries.read("manifest.json")
        attestation = json.loads(entries.read("attestation.json"))
        statement = attestation["statement"]
        require_digest(manifest, statement["subject"]["manifestDigest"], path)
        signed = json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        keys[statement["keyId"]].verify(unbase64(attestation["signature"]), signed, ec.ECDSA(SHA256()))
        for entry in json.loads(manifest)["objects"]:
            require_digest(entries.read(entry["path"]), entry["digest"], f"{path} {entry['path']}")
print(f"{len(parts)} parts verified")
