import { closeAfter } from '../../bytes/async.ts';
import { type Digest, digestAccess } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import type { EvidenceSource, OpenFile } from '../../evidence/source.ts';
import type { ExportManifest } from '../../evidence/export/manifest.ts';
import { findingsOf } from '../finding.ts';
import { disagreementFinding, warnAboutMetadata } from '../part/archive.ts';
import { endCheck, NOTHING, recordCheck, type Step } from '../step.ts';
import { EXPORT, type ExportContext } from './context.ts';
import { listWrongSizes } from './files.ts';
import type { Finding } from '../report.ts';

/** `export.container`: a one-file export is a sound ZIP archive, including the CRC-32 of every entry. */
export async function checkContainer(
  { source, settings: { signal }, files }: ExportContext,
  manifest: ExportManifest | undefined,
): Promise<Step> {
  if (source.checkContainer === undefined) return NOTHING;
  try {
    const notes = await source.checkContainer(signal, listWrongSizes(manifest, files.all));
    return recordCheck('export.container', warnAboutMetadata(EXPORT, notes));
  } catch (error) {
    signal?.throwIfAborted();
    return recordCheck('export.container', findingsOf(error, EXPORT));
  }
}

/** `second.reader` of a one-file export: the second ZIP reader must see the same files with the same bytes. */
export async function checkContainerTwice(
  { source, settings: { secondOpinion, signal }, files }: ExportContext,
  manifest: ExportManifest | undefined,
): Promise<Step> {
  if (secondOpinion === undefined) return NOTHING;
  if (source.checkContainer === undefined)
    return source.container === undefined
      ? NOTHING
      : endCheck('second.reader', 'not_checked', 'the ZIP of another program was read by one reader');
  if (listWrongSizes(manifest, files.all).size > 0)
    return endCheck('second.reader', 'not_checked', 'a file of the wrong size was not read');
  if (source.container === undefined)
    return endCheck('second.reader', 'not_checked', 'the container is not available to be read again');
  const findings: Finding[] = [];
  const unseen = new Set(files.all.map(({ path }) => path));
  try {
    for await (const entry of secondOpinion.readZip(source.container)) {
      const ours = unseen.delete(entry.name) ? await digestFile(source, entry.name, signal) : 'absent';
      if (ours !== COMPRESSED && ours !== entry.digest)
        findings.push(disagreementFinding(EXPORT, entry.name, ours, entry.digest));
    }
    for (const path of unseen)
      findings.push(disagreementFinding(EXPORT, path, await digestFile(source, path, signal), 'absent'));
    return recordCheck('second.reader', findings);
  } catch (error) {
    signal?.throwIfAborted();
    return recordCheck('second.reader', findingsOf(error, EXPORT));
  }
}

/** A compressed entry is never evidence and is not opened. Both readers only have to see it. */
const COMPRESSED = 'compressed';

async function digestFile(
  source: EvidenceSource,
  path: string,
  signal?: AbortSignal,
): Promise<Digest | typeof COMPRESSED> {
  const file = await openStored(source, path);
  if (file === undefined) return COMPRESSED;
  return closeAfter(file, async () => (await digestAccess(file, signal)).digest);
}

async function openStored(source: EvidenceSource, path: string): Promise<OpenFile | undefined> {
  try {
    return await source.open(path);
  } catch (error) {
    if (error instanceof DrillproofError && error.code === 'zip.METHOD_UNSUPPORTED') return undefined;
    throw error;
  }
}
