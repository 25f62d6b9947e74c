import { copyFile, link, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { digestOf } from '../../bytes/hash.ts';
import { once } from '../../bytes/once.ts';
import { memoryAccess } from '../../bytes/random-access.ts';
import type { Code } from '../../codes/index.ts';
import {
  ATTESTATION,
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  exportManifestBytes,
  parseExportManifest,
  selectionDigest,
  sumBytes,
  type ExportManifest,
  type PartRow,
} from '../../evidence/index.ts';
import { trustStore, type TrustStore } from '../../trust/index.ts';
import { openZip, writeZip, type ZipInput } from '../../zip/index.ts';
import { filesBelow } from '../pack/walk.ts';

/** A way to damage a mirror, or the trust in it, and the finding that must give it away. */
export type Damage = {
  readonly title: string;
  readonly expected: Code;
  /** Changes a copy of the mirror. */
  readonly apply?: (copy: string) => Promise<void>;
  /** Changes the trust store that the copy is judged with. */
  readonly distrust?: (trust: TrustStore, nowMs: number) => TrustStore;
};

export const DAMAGES: readonly Damage[] = [
  { title: 'one byte flipped in the middle of a part', expected: 'part.DIGEST_MISMATCH', apply: flipByte },
  {
    title: 'the attestation of a part swapped for that of another, every digest recomputed',
    expected: 'attestation.SUBJECT_MISMATCH',
    apply: swapAttestation,
  },
  { title: 'a part taken away', expected: 'part.MISSING', apply: takePartAway },
  {
    title: 'a bundle struck from the manifest, every digest recomputed',
    expected: 'export.ATTESTATION_SUBJECT_MISMATCH',
    apply: strikeBundle,
  },
  {
    title: 'the signing key revoked as compromised',
    expected: 'trust.KEY_REVOKED',
    distrust: ({ keys }, nowMs) =>
      trustStore(keys.map((key) => ({ ...key, revokedAtMs: nowMs, compromised: true }))),
  },
];

/** Copies a mirror. Files are linked: a damage replaces the file it changes and never writes into a shared one. */
export async function copyMirror(from: string, to: string): Promise<void> {
  for (const path of await filesBelow(from)) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await link(join(from, path), join(to, path));
  }
}

async function replace(path: string, bytes: Uint8Array): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, bytes, { flag: 'wx' });
}

async function flipByte(copy: string): Promise<void> {
  const { row } = await somePart(copy);
  const path = join(copy, row.path);
  const own = `${path}.own`;
  await copyFile(path, own);
  const file = await open(own, 'r+');
  const at = Math.floor(Number(row.bytes) / 2);
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Uint8Array.of(buffer[0]! ^ 1), 0, 1, at);
  await file.close();
  await rename(own, path);
}

async function takePartAway(copy: string): Promise<void> {
  const { row } = await somePart(copy);
  await rm(join(copy, row.path));
}

/** What somebody would do who can write everything but has no key. */
async function swapAttestation(copy: string): Promise<void> {
  const { manifest, row, other } = await somePart(copy);
  const [target, donor] = [await readFile(join(copy, row.path)), await readFile(join(copy, other.path))];
  const bytes = await withAttestationOf(target, donor);
  await replace(join(copy, row.path), bytes);
  const parts = manifest.parts.map((one) =>
    one === row ? { ...row, digest: digestOf(bytes), bytes: String(bytes.length) } : one,
  );
  await rewriteDocuments(copy, { ...manifest, parts });
  await rm(join(copy, EXPORT_ATTESTATION));
}

async function strikeBundle(copy: string): Promise<void> {
  const { manifest, row } = await somePart(copy);
  const parts = manifest.parts.filter((one) => one !== row).map((one, ordinal) => ({ ...one, ordinal }));
  await rm(join(copy, row.path));
  await rewriteDocuments(copy, {
    ...manifest,
    parts,
    selectionDigest: selectionDigest(parts, manifest.localReports),
  });
}

/** Two of the smaller parts, and the manifest that lists them. */
async function somePart(copy: string): Promise<{ manifest: ExportManifest; row: PartRow; other: PartRow }> {
  const manifest = parseExportManifest(await readFile(join(copy, EXPORT_MANIFEST)));
  const [row, other] = manifest.parts.toSorted((a, b) => Number(a.bytes) - Number(b.bytes));
  if (row === undefined || other === undefined) throw new TypeError('the demonstration needs two parts');
  return { manifest, row, other };
}

async function withAttestationOf(target: Uint8Array, donor: Uint8Array): Promise<Uint8Array> {
  const foreign = (await entriesOf(donor)).find(({ name }) => name === ATTESTATION);
  const entries = (await entriesOf(target)).map((entry) =>
    entry.name === ATTESTATION && foreign ? foreign : entry,
  );
  return collect(writeZip(entries, { compression: 'store' }));
}

async function entriesOf(bytes: Uint8Array): Promise<ZipInput[]> {
  const archive = await openZip(memoryAccess(bytes));
  const entries: ZipInput[] = [];
  for (const entry of archive.entries) {
    const content = await collect(archive.read(entry));
    entries.push({ name: entry.name, open: () => once(content) });
  }
  return entries;
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** Writes a changed manifest and makes export.json agree with it. */
async function rewriteDocuments(copy: string, manifest: ExportManifest): Promise<void> {
  const bytes = exportManifestBytes(manifest);
  await replace(join(copy, EXPORT_MANIFEST), bytes);
  const path = join(copy, EXPORT_RESOURCE);
  const resource = {
    ...(JSON.parse(await readFile(path, 'utf8')) as object),
    selectionDigest: manifest.selectionDigest,
    bundleCount: manifest.parts.length,
    completedBundleCount: manifest.parts.length,
    archiveBytes: sumBytes([...manifest.parts, ...manifest.localReports].map((row) => row.bytes)),
    manifestDigest: digestOf(bytes),
    manifestBytes: String(bytes.length),
  };
  await replace(path, Buffer.from(JSON.stringify(resource)));
}
