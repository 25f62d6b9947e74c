import { digestAccess, digestOf, holdSmall, type RandomAccess } from '../../bytes/index.ts';
import { ATTESTATION, BUNDLE_MANIFEST } from '../../evidence/index.ts';
import { openZip, type ZipArchive, type ZipNote } from '../../zip/index.ts';
import { finding, findingsOf } from '../finding.ts';
import { NOTHING, endCheck, recordCheck, type Step, type ReadStep, type StepOf } from '../step.ts';
import type { PartContext, ReadEntry } from './context.ts';
import type { Finding } from '../report.ts';

/** What later steps read of an archive: a small one is read only once, and then from memory. */
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
  const message = 'the SHA-256 of the archive does not match';
  const mismatch = finding('part.DIGEST_MISMATCH', subject, { path, message, expected, actual });
  return { ...recordCheck('part.bytes', actual === expected ? [] : [mismatch]), value };
}

/**
 * `part.bytes` again, at the end. The archive is read once for its digest and once for its contents; if it changed in
 * between, the report would describe two archives as one.
 */
export function checkUnchanged(access: RandomAccess, subject: string): Step {
  try {
    access.assertUnchanged?.();
    return NOTHING;
  } catch (error) {
    return recordCheck('part.bytes', findingsOf(error, subject));
  }
}

/** `part.archive`: the strict reader accepts archives only that have exactly one reading. */
export async function openPartArchive(
  access: RandomAccess,
  { settings, subject }: PartContext,
): Promise<ReadStep<ZipArchive>> {
  try {
    const archive = await openZip(access, settings.zipLimits);
    return { ...recordCheck('part.archive', metadataWarnings(subject, archive.notes)), value: archive };
  } catch (error) {
    return recordCheck('part.archive', findingsOf(error, subject));
  }
}

/** One warning for each kind of unusual metadata, however many entries have it. */
export function metadataWarnings(subject: string, notes: readonly ZipNote[]): Finding[] {
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

/** What the first reader read of an archive. */
type FirstReading = {
  readonly archive: ZipArchive;
  readonly manifest: ReadEntry;
  readonly objects: ReadonlyMap<string, ReadEntry>;
  readonly attestation: Uint8Array | undefined;
};

/** `second.reader`: an independent reader must see the same entries and bytes. Nothing without a second opinion. */
export async function checkSecondReader(
  access: RandomAccess,
  first: FirstReading,
  { settings: { secondOpinion }, subject }: PartContext,
): Promise<Step> {
  if (secondOpinion === undefined) return NOTHING;
  const read = entriesOf(first);
  const findings: Finding[] = [];
  const unseen = new Set(read.keys());
  const seen = new Set<string>();
  // An entry that exists and was not read has a finding already: the readers do not disagree about it.
  const unread = new Set(first.archive.entries.map(({ name }) => name).filter((name) => !read.has(name)));
  try {
    for await (const entry of secondOpinion.readZip(access)) {
      const twice = seen.has(entry.name);
      seen.add(entry.name);
      if (unread.has(entry.name) && !twice) continue;
      const ours = twice ? undefined : read.get(entry.name);
      unseen.delete(entry.name);
      if (ours?.digest === entry.digest && ours.bytes === entry.bytes) continue;
      findings.push(disagreement(subject, entry.name, ours?.digest ?? 'absent', entry.digest));
    }
  } catch (error) {
    return recordCheck('second.reader', findingsOf(error, subject));
  }
  for (const name of unseen) findings.push(disagreement(subject, name, read.get(name)!.digest, 'absent'));
  if (findings.length === 0 && unread.size > 0)
    return endCheck('second.reader', 'not_checked', 'not every entry could be read');
  return recordCheck('second.reader', findings);
}

function entriesOf({ manifest, objects, attestation }: FirstReading): ReadonlyMap<string, ReadEntry> {
  const entries = new Map([[BUNDLE_MANIFEST, manifest], ...objects]);
  if (attestation !== undefined)
    entries.set(ATTESTATION, { bytes: attestation.length, digest: digestOf(attestation) });
  return entries;
}

const disagreement = (subject: string, path: string, expected: string, actual: string): Finding =>
  finding('zip.SECOND_OPINION', subject, { path, message: 'the two ZIP readers disagree', expected, actual });
