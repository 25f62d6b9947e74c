import type { Finding } from '../report.ts';
import { digestAccess, holdSmall, type RandomAccess } from '../../bytes/index.ts';
import { openZip, type ZipArchive, type ZipNote } from '../../zip/index.ts';
import type { Bundle } from './state.ts';
import { finding, findingsOf } from '../finding.ts';

/**
 * `part.bytes`: the archive as a whole, against the row that lists it.
 * @returns where to read the archive from now on: a small one is read only once
 */
export async function checkBytes(bundle: Bundle, access: RandomAccess): Promise<RandomAccess> {
  const { ledger, settings, subject } = bundle;
  try {
    const held = await holdSmall(access);
    bundle.archive = await digestAccess(held, settings.signal);
    checkListedDigest(bundle, bundle.archive.digest);
    return held;
  } catch (error) {
    settings.signal?.throwIfAborted();
    ledger.ran('part.bytes', findingsOf(error, subject));
    return access;
  }
}

function checkListedDigest({ ledger, listed, subject }: Bundle, actual: string): void {
  if (listed === undefined) {
    ledger.skipped('part.bytes', 'not_applicable', 'no export manifest lists this archive');
    return;
  }
  const { path, digest: expected } = listed.row;
  const message = 'the SHA-256 of the archive does not match';
  const mismatch = finding('part.DIGEST_MISMATCH', subject, { path, message, expected, actual });
  ledger.ran('part.bytes', actual === expected ? [] : [mismatch]);
}

/**
 * `part.bytes` again, at the end: the archive is read to be digested and read to be used, and a digest that is not that
 * of the bytes that were used would let the report speak of two archives as one.
 */
export function checkUnchanged(bundle: Bundle, access: RandomAccess): void {
  try {
    access.assertUnchanged?.();
  } catch (error) {
    delete bundle.archive;
    bundle.ledger.amend('part.bytes', findingsOf(error, bundle.subject));
  }
}

/** `part.archive`: the strict reader accepts one reading of the archive only. */
export async function openArchive(
  { ledger, settings, subject }: Bundle,
  access: RandomAccess,
): Promise<ZipArchive | undefined> {
  try {
    const archive = await openZip(access, settings.zipLimits);
    ledger.ran('part.archive', metadataWarnings(subject, archive.notes));
    return archive;
  } catch (error) {
    ledger.ran('part.archive', findingsOf(error, subject));
    return undefined;
  }
}

/** One warning for each kind of unusual metadata, however many entries have it. */
export function metadataWarnings(subject: string, notes: readonly ZipNote[]): Finding[] {
  const first = new Map<string, { finding: Finding; count: number }>();
  for (const { code, entry, message } of notes) {
    const known = first.get(code);
    if (known === undefined)
      first.set(code, {
        finding: finding(code, subject, { ...(entry !== undefined && { path: entry }), message }),
        count: 1,
      });
    else known.count++;
  }
  return [...first.values()].map(({ finding: one, count }) =>
    count === 1 ? one : { ...one, message: `${one.message} (and ${count - 1} more like it)` },
  );
}

/** `second.reader`: an independent reader must see the same entries and bytes. */
export async function checkSecondReader(
  { ledger, settings, subject, read }: Bundle,
  access: RandomAccess,
  archive: ZipArchive,
): Promise<void> {
  if (settings.secondOpinion === undefined) return;
  const found: Finding[] = [];
  const unseen = new Set(read.keys());
  const seen = new Set<string>();
  // An entry that is there and was not read has a finding of its own: it is no disagreement of the readers.
  const unread = new Set(archive.entries.map(({ name }) => name).filter((name) => !read.has(name)));
  try {
    for await (const entry of settings.secondOpinion.readZip(access)) {
      const twice = seen.has(entry.name);
      seen.add(entry.name);
      if (unread.has(entry.name) && !twice) continue;
      const ours = twice ? undefined : read.get(entry.name);
      unseen.delete(entry.name);
      if (ours?.digest === entry.digest && ours.bytes === entry.bytes) continue;
      found.push(secondOpinion(subject, entry.name, ours?.digest ?? 'absent', entry.digest));
    }
    for (const name of unseen) found.push(secondOpinion(subject, name, read.get(name)!.digest, 'absent'));
    if (found.length === 0 && unread.size > 0)
      ledger.skipped('second.reader', 'not_checked', 'not every entry could be read');
    else ledger.ran('second.reader', found);
  } catch (error) {
    ledger.ran('second.reader', findingsOf(error, subject));
  }
}

const secondOpinion = (subject: string, path: string, expected: string, actual: string): Finding =>
  finding('zip.SECOND_OPINION', subject, { path, message: 'the two ZIP readers disagree', expected, actual });
