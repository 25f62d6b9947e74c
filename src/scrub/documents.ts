import { defined, digestOf } from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';
import {
  type Checksum,
  CHECKSUMS,
  DEFAULT_LIMITS,
  EXPORT_MANIFEST,
  isReceiptFile,
  parseChecksums,
  readFile,
} from '../evidence/index.ts';
import {
  type ExportTreeReport,
  finding,
  findingsOf,
  verifyExportTree,
  verifyReceipts,
} from '../verify/index.ts';
import type { Scrub, ScrubPlace, ScrubView } from './options.ts';
import { faultsOf, ifReadable, type ScrubFault } from './result.ts';

export type Documents = {
  /** The mirror as it was when they were read. */
  readonly view: ScrubView;
  readonly tree: ExportTreeReport;
  readonly faults: readonly ScrubFault[];
};

/** How often the documents of a mirror are read while its files keep changing. */
const TRIES = 4;

/**
 * Reads the documents, checksums and receipts of a mirror and the set of its files. Faults are reported if nothing
 * changed meanwhile.
 */
export async function readDocuments(place: ScrubPlace, first: ScrubView, scrub: Scrub): Promise<Documents> {
  let view = first;
  for (let tries = 1; ; tries++) {
    const tree = await verifyExportTree(view.source, scrub.verify);
    const faults = [
      ...faultsOf(tree.findings).filter(({ found, path }) => found !== 'extra' || view.files.has(path)),
      ...(await checkReceipts(view, scrub)),
      ...(await checkChecksums(view, tree)),
    ];
    const after = faults.length === 0 ? view : await place.look();
    if (tries === TRIES || sameFiles(view, after))
      return { view: after, tree, faults: isUnfinished(after) ? reportUnfinished() : faults };
    view = after;
  }
}

/** A mirror has receipts from its first run on; an export that was never mirrored has neither them nor checksums. */
async function checkReceipts({ source, files }: ScrubView, { verify }: Scrub): Promise<ScrubFault[]> {
  if (!files.has(CHECKSUMS) && ![...files.keys()].some(isReceiptFile)) return [];
  return faultsOf(
    (await verifyReceipts(source, defined({ limits: verify.limits, signal: verify.signal }))).findings,
    'receipts',
  );
}

/** A mirror that was never complete has no reference for its files; a complete one has checksums, if not its manifest. */
const isUnfinished = ({ unfinished, files }: ScrubView): boolean =>
  unfinished && !files.has(EXPORT_MANIFEST) && !files.has(CHECKSUMS);

const sameFiles = (before: ScrubView, after: ScrubView): boolean =>
  before === after ||
  (before.files.size === after.files.size &&
    [...before.files].every(([path, file]) => file.identity === after.files.get(path)?.identity));

function reportUnfinished(): ScrubFault[] {
  const message = 'a mirror is running here, or was interrupted before it was complete';
  return faultsOf([finding('scrub.MIRROR_UNFINISHED', 'export', { path: EXPORT_MANIFEST, message })]);
}

export const isEvidence = (path: string): boolean =>
  path.startsWith('parts/') || path.startsWith('local-reports/');

/**
 * Compares the checksums of a mirror with its manifest and its documents. Nothing else covers every byte of the
 * documents, and nothing covers the checksums themselves.
 */
async function checkChecksums(view: ScrubView, { manifest }: ExportTreeReport): Promise<ScrubFault[]> {
  if (!view.files.has(CHECKSUMS)) return [];
  return orFaults(CHECKSUMS, async () => {
    const bytes = await readFile(view.source, CHECKSUMS, DEFAULT_LIMITS.manifestBytes);
    const rows = await ifReadable(() => parseChecksums(bytes));
    if (rows === undefined)
      return mismatch(CHECKSUMS, `${CHECKSUMS} is damaged: its lines are not checksums`);
    const listed = new Map(
      [...(manifest?.parts ?? []), ...(manifest?.localReports ?? [])].map((row) => [row.path, row.digest]),
    );
    const faults: ScrubFault[] = [];
    for (const row of rows) {
      if (manifest === undefined && isEvidence(row.path)) continue; // its size is unknown
      faults.push(...(await orFaults(row.path, () => compare(view, row, listed.get(row.path)))));
    }
    return faults;
  });
}

async function compare(
  { source }: ScrubView,
  { path, digest }: Checksum,
  listed: string | undefined,
): Promise<ScrubFault[]> {
  const actual = listed ?? digestOf(await readFile(source, path, DEFAULT_LIMITS.manifestBytes));
  if (actual === digest) return [];
  return listed === undefined
    ? mismatch(path, `${path} does not match its digest in ${CHECKSUMS}`)
    : mismatch(CHECKSUMS, `the digests of ${path} in ${CHECKSUMS} and manifest.json differ`);
}

async function orFaults(path: string, check: () => Promise<ScrubFault[]>): Promise<ScrubFault[]> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return faultsOf(findingsOf(error, 'export', path));
  }
}

const mismatch = (path: string, message: string): ScrubFault[] =>
  faultsOf([finding('scrub.CHECKSUMS_MISMATCH', 'export', { path, message })]);
