import { BAG_MANIFEST, CHECKSUMS } from '../../evidence/index.ts';
import type { FileState, MirrorReceipt } from '../../mirror/index.ts';
import { isS3Url } from '../../node/s3/index.ts';
import { count, counted, size } from '../../report/index.ts';
import { FILE_STATES, type MirrorTally } from './tally.ts';
import { timeSpan } from '../shared/options/quantities.ts';
import { shellWord } from '../shared/input/signature-files.ts';
import { facts } from '../shared/output/table.ts';

const PROVEN = 'Every byte has the digest that the manifest says. Who signed it, verify says:';

/** What a mirror brought, for people, and the command lines that prove it once more. */
export function receiptText(
  receipt: MirrorReceipt,
  to: string,
  { bagit = false }: { readonly bagit?: boolean },
  tally: MirrorTally,
): string {
  const { files, evidenceExportId, manifestDigest, withoutLocalReports } = receipt;
  const bytes = files.reduce((sum, file) => sum + Number(file.bytes), 0);
  const states = statesText((state) => files.filter((file) => file.state === state).length);
  const lines = facts([
    ['mirrored', evidenceExportId],
    [isS3Url(to) ? 'bucket' : 'folder', to],
    ['manifest', manifestDigest],
    ['files', `${counted(files.length, 'file')}, ${size(bytes)} (${states})`],
    ['transfer', transferText(tally)],
    ['took', shortSpan(receipt.finishedAtMs - receipt.startedAtMs)],
    ['local reports', withoutLocalReports ? 'left out, as asked' : undefined],
  ]);
  const word = shellWord(to);
  const checksums = bagit ? BAG_MANIFEST : CHECKSUMS;
  const alone = isS3Url(to) ? '' : `Without this tool:\n  (cd ${word} && sha256sum -c ${checksums})\n`;
  return `${lines}\n${PROVEN}\n  drillproof verify ${word} --trust trust.json --expect-manifest ${manifestDigest}\n${alone}`;
}

/** What an incomplete mirror brought all the same; what failed stands in the error that follows. */
export const incompleteText = (tally: MirrorTally): string =>
  facts([
    [
      'files',
      `${count(tally.done)} of ${counted(tally.files, 'file')}, ${size(tally.provenBytes)} (${talliedText(tally)})`,
    ],
    ['transfer', transferText(tally)],
    ['failed', tally.failed === 0 ? undefined : counted(tally.failed, 'file')],
  ]);

/** `12 fetched, 3 kept`. */
export const talliedText = ({ states }: Pick<MirrorTally, 'states'>): string =>
  statesText((state) => states[state]);

function statesText(timesOf: (state: FileState) => number): string {
  const told = FILE_STATES.map((state) => [state, timesOf(state)] as const).filter(([, times]) => times > 0);
  return told.length === 0 ? 'none' : told.map(([state, times]) => `${count(times)} ${state}`).join(', ');
}

type Transfer = Pick<MirrorTally, 'moved' | 'transferMs' | 'retries'>;

/** What came over the network, in which time and how fast; `undefined` when nothing did. */
export function transferText({ moved, transferMs, retries }: Transfer): string | undefined {
  if (moved === 0 && retries === 0) return undefined;
  const rate = transferMs < 100 ? '' : `, ${size(Math.round((moved / transferMs) * 1000))}/s`;
  const again = retries === 0 ? '' : `; ${counted(retries, 'retry', 'retries')}`;
  return `${size(moved)} in ${shortSpan(transferMs)}${rate}${again}`;
}

const shortSpan = (ms: number): string => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : timeSpan(ms));
