import { copyFile, link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  memoryAccess,
  openZip,
  packExport,
  partPath,
  trustStore,
  writeZip,
  type PartFacts,
  type TrustStore,
  type ZipInput,
} from 'drillproof';
import { readFacts, writeDocuments, type Evidence } from './evidence.ts';

/** A way to damage a copy of the mirror, or the trust in it, and the code of the finding that reports it. */
type Damage = {
  readonly title: string;
  readonly code: string;
  readonly damageCopy?: (copy: string, evidence: Evidence) => Promise<void>;
  readonly changeTrust?: (trust: TrustStore) => TrustStore;
};

export const DAMAGES: readonly Damage[] = [
  { title: 'Flip one bit in a part', code: 'part.DIGEST_MISMATCH', damageCopy: flipBit },
  { title: 'Delete a part', code: 'part.MISSING', damageCopy: deletePart },
  {
    title: 'Give a part the attestation of another part, and correct every digest',
    code: 'attestation.SUBJECT_MISMATCH',
    damageCopy: swapAttestation,
  },
  {
    title: 'Remove a bundle from the list, and correct every digest',
    code: 'export.ATTESTATION_SUBJECT_MISMATCH',
    damageCopy: removeBundle,
  },
  {
    title: 'Revoke the signing key as compromised',
    code: 'trust.KEY_REVOKED',
    changeTrust: ({ keys }) =>
      trustStore(keys.map((key) => ({ ...key, revokedAtMs: Date.now(), compromised: true }))),
  },
];

/** Copies a mirror. Parts are hard links, so they must be replaced, never changed in place. */
export async function copyMirror(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'parts'), { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true }))
    if (entry.isFile()) await copyFile(join(from, entry.name), join(to, entry.name));
  for (const name of await readdir(join(from, 'parts')))
    await link(join(from, 'parts', name), join(to, 'parts', name));
}

const partFile = (copy: string, { manifest }: PartFacts): string =>
  join(copy, partPath(manifest.evidenceBundleId));

/** The two smallest parts. */
function smallParts({ input }: Evidence): [PartFacts, PartFacts] {
  const [first, second] = input.parts.toSorted((a, b) => a.bytes - b.bytes);
  if (first === undefined || second === undefined) throw new TypeError('the demo needs two parts');
  return [first, second];
}

async function replacePart(path: string, chunks: AsyncIterable<Uint8Array> | Uint8Array): Promise<void> {
  await writeFile(`${path}.new`, chunks);
  await rename(`${path}.new`, path);
}

async function flipBit(copy: string, evidence: Evidence): Promise<void> {
  const path = partFile(copy, smallParts(evidence)[0]);
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await replacePart(path, bytes);
}

async function deletePart(copy: string, evidence: Evidence): Promise<void> {
  await rm(partFile(copy, smallParts(evidence)[0]));
}

/** An attacker who can write every file but has no key would do this. */
async function swapAttestation(copy: string, evidence: Evidence): Promise<void> {
  const [target, donor] = smallParts(evidence);
  const path = partFile(copy, target);
  const foreign = (await readEntries(partFile(copy, donor))).filter(isAttestation);
  const others = (await readEntries(path)).filter((entry) => !isAttestation(entry));
  await replacePart(path, writeZip([...others, ...foreign], { compression: 'store' }));
  const facts = await readFacts(path);
  await replaceList(
    copy,
    evidence,
    evidence.input.parts.map((part) => (part === target ? facts : part)),
  );
  await rm(join(copy, 'export-attestation.json')); // it would fail too, and the demo shows one finding at a time
}

async function removeBundle(copy: string, evidence: Evidence): Promise<void> {
  const [target] = smallParts(evidence);
  await rm(partFile(copy, target));
  await replaceList(
    copy,
    evidence,
    evidence.input.parts.filter((part) => part !== target),
  );
}

/** Writes a list of these parts, unsigned. */
async function replaceList(copy: string, { input }: Evidence, parts: readonly PartFacts[]): Promise<void> {
  await writeDocuments(copy, await packExport({ ...input, parts }));
}

const isAttestation = ({ name }: ZipInput): boolean => name === 'attestation.json';

async function readEntries(path: string): Promise<ZipInput[]> {
  const archive = await openZip(memoryAccess(await readFile(path)));
  return archive.entries.map((entry) => ({ name: entry.name, open: () => archive.read(entry) }));
}
