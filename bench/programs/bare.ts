/**
 * The limit of `verify`: the same bytes read, hashed, inflated and their signatures verified on all cores, with nothing
 * checked that only matters for bad evidence, and no report.
 *
 *     node bare.ts digest|full EXPORT TRUST.json
 */
import { createHash, createPublicKey, hash, verify } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { crc32, inflateRawSync } from 'node:zlib';

type Row = { readonly path: string; readonly digest: string };

const [, , depth = '', folder = '', trust = ''] = process.argv;
const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const { parts } = readJson(join(folder, 'manifest.json')) as { parts: readonly Row[] };
const { keys } = readJson(trust) as { keys: { kid: string }[] };
const signers = new Map(keys.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]));
const buffer = Buffer.allocUnsafe(2 ** 20);

const require = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(`${what} does not match`);
};
const digestOf = (bytes: Uint8Array): string => `sha256:${hash('sha256', bytes)}`;

function hashFile(path: string): string {
  const file = openSync(path, 'r');
  const sha256 = createHash('sha256');
  for (let length; (length = readSync(file, buffer)) > 0;) sha256.update(buffer.subarray(0, length));
  closeSync(file);
  return `sha256:${sha256.digest('hex')}`;
}

let whole = Buffer.alloc(0);
/** Into the same memory each time. */
function readWhole(path: string): Buffer {
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  if (size > whole.length) whole = Buffer.allocUnsafeSlow(size);
  const length = readSync(file, whole, 0, size, 0);
  closeSync(file);
  return whole.subarray(0, length);
}

/** The entries of an archive that is known to be good: no comment, no ZIP64. */
function unzip(archive: Buffer): Map<string, Buffer> {
  const entries = new Map<string, Buffer>();
  const end = archive.length - 22;
  let at = archive.readUInt32LE(end + 16);
  for (let count = archive.readUInt16LE(end + 10); count > 0; count--) {
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('latin1', at + 46, at + 46 + nameLength);
    const local = archive.readUInt32LE(at + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const packed = archive.subarray(start, start + archive.readUInt32LE(at + 20));
    const bytes = archive.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed);
    require(crc32(bytes) === archive.readUInt32LE(at + 16), name);
    entries.set(name, bytes);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

function verifyPart(path: string, digest: string): void {
  const archive = readWhole(path);
  require(digestOf(archive) === digest, path);
  const entries = unzip(archive);
  const manifest = entries.get('manifest.json')!;
  const { statement, signature } = JSON.parse(String(entries.get('attestation.json'))) as {
    statement: { keyId: string; subject: { manifestDigest: string } };
    signature: string;
  };
  require(digestOf(manifest) === statement.subject.manifestDigest, 'manifest.json');
  const signed = Buffer.from(JSON.stringify(statement)); // the document is canonical, so this is the signed message
  const signer = signers.get(statement.keyId)!;
  require(verify('sha256', signed, signer, Buffer.from(signature, 'base64url')), 'signature');
  const { objects } = JSON.parse(String(manifest)) as { objects: Row[] };
  for (const object of objects) require(digestOf(entries.get(object.path)!) === object.digest, object.path);
}

if (isMainThread) {
  const next = new Int32Array(new SharedArrayBuffer(4));
  const start = () => new Worker(import.meta.filename, { workerData: next, argv: [depth, folder, trust] });
  Array.from({ length: availableParallelism() }, start);
} else {
  const next = workerData as Int32Array;
  for (let i; (i = Atomics.add(next, 0, 1)) < parts.length;) {
    const { path, digest } = parts[i]!;
    if (depth === 'full') verifyPart(join(folder, path), digest);
    else require(hashFile(join(folder, path)) === digest, path);
  }
}
