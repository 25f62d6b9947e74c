import { defined } from '../bytes/index.ts';
import { CHECKSUMS, EXPORT_MANIFEST, isReceiptFile } from '../evidence/index.ts';
import { type ExportTreeReport, finding, verifyExportTree, verifyReceipts } from '../verify/index.ts';
import { checkChecksums } from './checksums.ts';
import type { Scrub } from './options.ts';
import type { ScrubPlace, ScrubView } from './place.ts';
import { faultsOf, type ScrubFault } from './result.ts';

export type Documents = {
  /** The mirror as it stood when they were read. */
  readonly view: ScrubView;
  readonly tree: ExportTreeReport;
  readonly faults: readonly ScrubFault[];
};

/** So often are the documents of a mirror read again whose files did not stand still. */
const TRIES = 4;

/**
 * Reads the documents, checksums and receipts of a mirror and the set of its files. A fault is believed when nothing
 * changed meanwhile.
 */
export async function readDocuments(place: ScrubPlace, first: ScrubView, scrub: Scrub): Promise<Documents> {
  let view = first;
  for (let tries = 1; ; tries++) {
    const tree = await verifyExportTree(view.source, scrub.verify);
    const found = [
      ...faultsOf(tree.findings).filter((one) => one.found !== 'extra' || view.files.has(one.path)),
      ...(await checkReceipts(view, scrub)),
      ...(await checkChecksums(view, tree)),
    ];
    const after = found.length === 0 ? view : await place.look();
    if (tries === TRIES || sameFiles(view, after))
      return { view: after, tree, faults: isUnfinished(after) ? notWhole() : found };
    view = after;
  }
}

/** A mirror has receipts from its first run on; an export that nobody mirrored has neither them nor checksums. */
async function checkReceipts({ source, files }: ScrubView, { verify }: Scrub): Promise<ScrubFault[]> {
  if (!files.has(CHECKSUMS) && ![...files.keys()].some(isReceiptFile)) return [];
  return faultsOf(
    (await verifyReceipts(source, defined({ limits: verify.limits, signal: verify.signal }))).findings,
    'receipts',
  );
}

/** Nothing pins the files of a mirror that was never whole; one that was whole has checksums, if not its manifest. */
const isUnfinished = ({ unfinished, files }: ScrubView): boolean =>
  unfinished && !files.has(EXPORT_MANIFEST) && !files.has(CHECKSUMS);

const sameFiles = (before: ScrubView, after: ScrubView): boolean =>
  before === after ||
  (before.files.size === after.files.size &&
    [...before.files].every(([path, file]) => file.identity === after.files.get(path)?.identity));

function notWhole(): ScrubFault[] {
  const message = 'a mirror is under way here, or was interrupted before it was whole';
  return faultsOf([finding('scrub.MIRROR_UNFINISHED', 'export', { path: EXPORT_MANIFEST, message })]);
}
