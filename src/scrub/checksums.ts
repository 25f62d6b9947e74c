import { digestOf } from '../bytes/index.ts';
import { type Checksum, CHECKSUMS, DEFAULT_LIMITS, parseChecksums, readFile } from '../evidence/index.ts';
import { DrillproofError } from '../errors.ts';
import { type ExportTreeReport, finding, findingsOf } from '../verify/index.ts';
import type { ScrubView } from './place.ts';
import { faultsOf, type ScrubFault } from './result.ts';

/**
 * Compares the checksums of a mirror with what its manifest lists and with its documents as they are: of a document
 * nothing else covers every byte, and of the checksums nothing does.
 */
export async function checkChecksums(view: ScrubView, tree: ExportTreeReport): Promise<ScrubFault[]> {
  if (!view.files.has(CHECKSUMS)) return [];
  try {
    return await compare(view, tree);
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return faultsOf(findingsOf(error, 'export', CHECKSUMS));
  }
}

async function compare(view: ScrubView, { manifest }: ExportTreeReport): Promise<ScrubFault[]> {
  const rows = await stated(view);
  if (rows === undefined) return broken();
  const listed = new Map(
    [...(manifest?.parts ?? []), ...(manifest?.localReports ?? [])].map((row) => [row.path, row.digest]),
  );
  const faults: ScrubFault[] = [];
  for (const { path, digest } of rows) {
    if (manifest === undefined && isEvidence(path)) continue; // nothing tells how large it may be
    try {
      const actual = listed.get(path) ?? (await digestOfDocument(view, path));
      if (actual !== digest) faults.push(...mismatch(path, listed.has(path)));
    } catch (error) {
      if (!(error instanceof DrillproofError)) throw error;
      faults.push(...faultsOf(findingsOf(error, 'export', path)));
    }
  }
  return faults;
}

/** The lines; `undefined` where they are none. @throws DrillproofError when they cannot be read */
async function stated(view: ScrubView): Promise<Checksum[] | undefined> {
  const bytes = await readFile(view.source, CHECKSUMS, DEFAULT_LIMITS.manifestBytes);
  try {
    return parseChecksums(bytes);
  } catch (error) {
    if (error instanceof DrillproofError) return undefined;
    throw error;
  }
}

/** Whether a path is that of a part or a local report. */
export const isEvidence = (path: string): boolean =>
  path.startsWith('parts/') || path.startsWith('local-reports/');

const digestOfDocument = async (view: ScrubView, path: string): Promise<string> =>
  digestOf(await readFile(view.source, path, DEFAULT_LIMITS.manifestBytes));

function broken(): ScrubFault[] {
  const message = `${CHECKSUMS} is damaged: its lines are not those of checksums`;
  return faultsOf([finding('scrub.CHECKSUMS_MISMATCH', 'export', { path: CHECKSUMS, message })]);
}

function mismatch(path: string, listed: boolean): ScrubFault[] {
  const message = listed
    ? `${CHECKSUMS} states another digest of ${path} than manifest.json`
    : `${path} has another digest than ${CHECKSUMS} states`;
  return faultsOf([
    finding('scrub.CHECKSUMS_MISMATCH', 'export', { path: listed ? CHECKSUMS : path, message }),
  ]);
}
