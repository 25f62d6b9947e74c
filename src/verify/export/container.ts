import type { Finding } from '../report.ts';
import { type Digest, digestAccess } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { EvidenceSource, OpenFile } from '../../evidence/index.ts';
import { pathsOfWrongSize, type Files } from './files.ts';
import { EXPORT, type Export } from './state.ts';
import { finding, findingsOf } from '../finding.ts';

/** `second.reader` of a one-file export: the second ZIP reader must see the same files with the same bytes in it. */
export async function checkContainerTwice(state: Export, files: Files): Promise<void> {
  const { source, ledger, settings } = state;
  const { secondOpinion, signal } = settings;
  if (secondOpinion === undefined || source.checkContainer === undefined) return;
  if (pathsOfWrongSize(state.manifest, files.all).size > 0)
    return ledger.skipped('second.reader', 'not_checked', 'a file of the wrong size was not read');
  if (source.container === undefined)
    return ledger.skipped('second.reader', 'not_checked', 'the container is not there to be read again');
  const found: Finding[] = [];
  const unseen = new Set(files.all.map(({ path }) => path));
  try {
    for await (const entry of secondOpinion.readZip(source.container)) {
      const ours = unseen.delete(entry.name) ? await digestOfFile(source, entry.name, signal) : 'absent';
      if (ours !== COMPRESSED && ours !== entry.digest)
        found.push(disagreement(entry.name, ours, entry.digest));
    }
    for (const path of unseen)
      found.push(disagreement(path, await digestOfFile(source, path, signal), 'absent'));
    ledger.ran('second.reader', found);
  } catch (error) {
    signal?.throwIfAborted();
    ledger.ran('second.reader', findingsOf(error, EXPORT));
  }
}

/** A compressed entry is never evidence, and is not opened: that both readers see it is all there is to compare. */
const COMPRESSED = 'compressed';

async function digestOfFile(
  source: EvidenceSource,
  path: string,
  signal?: AbortSignal,
): Promise<Digest | typeof COMPRESSED> {
  const file = await openStored(source, path);
  if (file === undefined) return COMPRESSED;
  try {
    return (await digestAccess(file, signal)).digest;
  } finally {
    await file.close();
  }
}

async function openStored(source: EvidenceSource, path: string): Promise<OpenFile | undefined> {
  try {
    return await source.open(path);
  } catch (error) {
    if (error instanceof DrillproofError && error.code === 'zip.METHOD_UNSUPPORTED') return undefined;
    throw error;
  }
}

const disagreement = (path: string, expected: string, actual: string): Finding =>
  finding('zip.SECOND_OPINION', EXPORT, { path, message: 'the two ZIP readers disagree', expected, actual });
