import { defined } from '../bytes/arguments.ts';
import { DrillproofError } from '../errors.ts';
import { CHECKSUMS, parseChecksums } from '../evidence/export/checksums.ts';
import { DEFAULT_LIMITS } from '../evidence/document.ts';
import { EXPORT_MANIFEST } from '../evidence/export/pack-export.ts';
import { isReceiptFile } from '../evidence/export/receipt.ts';
import { readFile } from '../evidence/source.ts';
import { type ExportTreeReport, verifyExportTree } from '../verify/export/export.ts';
import { compareChecksums } from '../verify/export/mirror-files.ts';
import { finding, type FindingDetail, findingsOf } from '../verify/finding.ts';
import { verifyReceipts } from '../verify/receipts/receipts.ts';
import type { Scrub, ScrubPlace, ScrubView } from './options.ts';
import { toFaults, ifReadable } from './result.ts';
import type { ScrubFault } from '../report/many/scrubs.ts';

export type Documents = {
  /** The mirror when they were read. */
  readonly view: ScrubView;
  readonly tree: ExportTreeReport;
  readonly faults: readonly ScrubFault[];
};

/** The most readings of the documents of a mirror while its files change. */
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
      ...toFaults(tree.findings),
      ...(await checkReceipts(view, scrub)),
      ...(await checkChecksums(view, tree)),
    ];
    const after = faults.length === 0 ? view : await place.look();
    if (tries === TRIES || sameFiles(view, after))
      return { view: after, tree, faults: isUnfinished(after) ? createUnfinishedFault() : faults };
    view = after;
  }
}

/** A mirror has receipts since its first run. An export that was never mirrored has no receipts and no checksums. */
async function checkReceipts({ source, files }: ScrubView, { verify }: Scrub): Promise<ScrubFault[]> {
  if (!files.has(CHECKSUMS) && ![...files.keys()].some(isReceiptFile)) return [];
  const { findings } = await verifyReceipts(source, defined({ signal: verify.signal }));
  return toFaults(findings, 'receipts');
}

/** A mirror that was never complete has no manifest and no checksums. A complete one has lost at most one of them. */
const isUnfinished = ({ unfinished, files }: ScrubView): boolean =>
  unfinished && !files.has(EXPORT_MANIFEST) && !files.has(CHECKSUMS);

const sameFiles = (before: ScrubView, after: ScrubView): boolean =>
  before === after ||
  (before.files.size === after.files.size &&
    [...before.files].every(([path, file]) => file.identity === after.files.get(path)?.identity));

function createUnfinishedFault(): ScrubFault[] {
  const message = 'a mirror is running in this place, or was interrupted before it was complete';
  return toFaults([finding('scrub.MIRROR_UNFINISHED', 'export', { path: EXPORT_MANIFEST, message })]);
}

/**
 * Compares the checksums of a mirror with its manifest and its documents. Nothing else covers every byte of the
 * documents, and nothing covers the checksums themselves.
 */
async function checkChecksums(view: ScrubView, { manifest }: ExportTreeReport): Promise<ScrubFault[]> {
  if (!view.files.has(CHECKSUMS)) return [];
  return reportErrors(CHECKSUMS, async () => {
    const bytes = await readFile(view.source, CHECKSUMS, DEFAULT_LIMITS.manifestBytes);
    const rows = await ifReadable(() => parseChecksums(bytes));
    if (rows === undefined)
      return mismatch({ path: CHECKSUMS, message: `${CHECKSUMS} is damaged: its lines are not checksums` });
    const compare = compareChecksums(view.source, manifest);
    const faults: ScrubFault[] = [];
    for (const row of rows)
      faults.push(...(await reportErrors(row.path, async () => (await compare(row)).flatMap(mismatch))));
    return faults;
  });
}

async function reportErrors(path: string, check: () => Promise<ScrubFault[]>): Promise<ScrubFault[]> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return toFaults(findingsOf(error, 'export', path));
  }
}

const mismatch = (detail: FindingDetail): ScrubFault[] =>
  toFaults([finding('scrub.CHECKSUMS_MISMATCH', 'export', detail)]);
