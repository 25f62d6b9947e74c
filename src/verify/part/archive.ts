import { digestAccess, digestOf } from '../../bytes/hash.ts';
import { holdSmall, type RandomAccess } from '../../bytes/random-access.ts';
import { ATTESTATION, BUNDLE_MANIFEST } from '../../evidence/bundle/part.ts';
import { openZip, type ZipArchive, type ZipNote } from '../../zip/read/open.ts';
import { finding, findingsOf } from '../finding.ts';
import { NOTHING, endCheck, recordCheck, type Step, type ReadStep, type StepOf } from '../step.ts';
import type { PartContext, ReadEntry } from './context.ts';
import type { Finding } from '../report.ts';

/** The archive for later steps: a small one is in memory and not read again. */
type ReadArchive = { readonly access: RandomAccess; readonly archive?: ReadEntry };

/** `part.bytes`: the archive as a whole, compared with the row that lists it. */
export async function checkBytes(
  access: RandomAccess,
  { listed, subject, settings: { signal } }: PartContext,
): Promise<StepOf<ReadArchive>> {
  let value;
  try {
    const held = await holdSmall(access);
    value = { access: held, archive: await digestAccess(held, signal) };
  } catch (error) {
    signal?.throwIfAborted();
    return { ...recordCheck('part.bytes', findingsOf(error, subject)), value: { access } };
  }
  if (listed === undefined)
    return { ...endCheck('part.bytes', 'not_applicable', 'no export manifest lists this archive'), value };
  const { path, digest: expected } = listed.row;
  const { digest: actual } = value.archive;
  if (actual === expected) return { ...recordCheck('part.bytes', []), value };
  const message = 'the SHA-256 of the archive does not match';
  const mismatch = finding('part.DIGEST_MISMATCH', subject, { path, message, expected, actual });
  return { ...recordCheck('part.bytes', [mismatch]), value };
}

/** `part.bytes` again, at the end: the digest and the contents are read separately, and must be of the same archive. */
export function checkUnchanged(access: RandomAccess, subject: string): Step {
  try {
    access.assertUnchanged?.();
    return NOTHING;
  } catch (error) {
    return recordCheck('part.bytes', findingsOf(error, subject));
  }
}

/** `part.archive`: the strict reader only accepts archives that every reader reads the same way. */
export async function openPartArchive(
  access: RandomAccess,
  { settings, subject }: PartContext,
): Promise<ReadStep<ZipArchive>> {
  try {
    const archive = await openZip(access, settings.zipLimits);
    return { ...recordCheck('part.archive', warnAboutMetadata(subject, archive.notes)), value: archive };
  } catch (error) {
    return recordCheck('part.archive', findingsOf(error, subject));
  }
}

/** One warning for each kind of unusual metadata, however many entries have it. */
export function warnAboutMetadata(subject: string, notes: readonly ZipNote[]): Finding[] {
  const counts = new Map<string, { readonly first: ZipNote; count: number }>();
  for (const note of notes) {
    const entry = counts.get(note.code) ?? { first: note, count: 0 };
    counts.set(note.code, { ...entry, count: entry.count + 1 });
  }
  return [...counts.values()].map(({ first: { code, entry, message }, count }) => {
    const more = count === 1 ? '' : ` (and ${count - 1} more like it)`;
    return finding(code, subject, { path: entry, message: message + more });
  });
}

type FirstReading = {
  readonly archive: ZipArchive;
  readonly manifest: ReadEntry;
  readonly objects: ReadonlyMap<string, ReadEntry>;
  readonly attestation: Uint8Array | undefined;
};

/** `second.reader`: an independent reader must see the same entries and bytes. Runs only with a second opinion. */
export async function checkSecondReader(
  access: RandomAccess,
  first: FirstReading,
  { settings: { secondOpinion }, subject }: PartContext,
): Promise<Step> {
  if (secondOpinion === undefined) return NOTHING;
  const read = listReadEntries(first);
  const findings: Finding[] = [];
  const unseen = new Set(read.keys());
  const seen = new Set<string>();
  // An entry that could not be read has a finding already, so it is not a disagreement.
  const unread = new Set(first.archive.entries.map(({ name }) => name).filter((name) => !read.has(name)));
  try {
    for await (const entry of secondOpinion.readZip(access)) {
      const twice = seen.has(entry.name);
      seen.add(entry.name);
      if (unread.has(entry.name) && !twice) continue;
      const ours = twice ? undefined : read.get(entry.name);
      unseen.delete(entry.name);
      if (ours?.digest === entry.digest && ours.bytes === entry.bytes) continue;
      findings.push(disagreementFinding(subject, entry.name, ours?.digest ?? 'absent', entry.digest));
    }
  } catch (error) {
    return recordCheck('second.reader', findingsOf(error, subject));
  }
  for (const name of unseen)
    findings.push(disagreementFinding(subject, name, read.get(name)!.digest, 'absent'));
  if (findings.length === 0 && unread.size > 0)
    return endCheck('second.reader', 'not_checked', 'not every entry could be read');
  return recordCheck('second.reader', findings);
}

function listReadEntries({ manifest, objects, attestation }: FirstReading): ReadonlyMap<string, ReadEntry> {
  const entries = new Map([[BUNDLE_MANIFEST, manifest], ...objects]);
  if (attestation !== undefined)
    entries.set(ATTESTATION, { bytes: attestation.length, digest: digestOf(attestation) });
  return entries;
}

export const disagreementFinding = (
  subject: string,
  path: string,
  expected: string,
  actual: string,
): Finding =>
  finding('zip.SECOND_OPINION', subject, { path, message: 'the two ZIP readers disagree', expected, actual });
