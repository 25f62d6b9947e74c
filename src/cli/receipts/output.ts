import { isoTime } from '../../bytes/index.ts';
import { count, counted, printable } from '../../report/index.ts';
import type { ReceiptLine, ReceiptsReport } from '../../verify/index.ts';
import { facts, table } from '../shared/output/product.ts';

export type MirrorReceipts = { readonly path: string; readonly report: ReceiptsReport };

const HEADLINES: Readonly<Record<ReceiptsReport['verdict'], string>> = {
  sound: 'SOUND',
  broken: 'BROKEN',
  unread: 'UNREAD',
  none: 'NO RECEIPTS',
};

const TAIL = `
A mirror cannot show that its newest receipts were removed. Store its head elsewhere,
and pass it with --expect-head DIGEST when you verify the mirror again.
`;

/** The result for every mirror, the failures last. */
export function formatVerified(mirrors: readonly MirrorReceipts[]): string {
  const last = mirrors.toSorted((a, b) => Number(failed(a)) - Number(failed(b)));
  const each = last.map(mirrorText).join('\n');
  const all = mirrors.map(({ report }) => report);
  const alone = all.every(({ findings }) => findings.some(({ code }) => code === 'receipt.ALONE'));
  return `${each}${mirrors.length > 1 ? `\n${totals(all)}` : ''}${alone ? '' : TAIL}`;
}

const failed = ({ report }: MirrorReceipts): boolean => report.verdict !== 'sound';

function mirrorText({ path, report }: MirrorReceipts): string {
  const { verdict, evidenceExportId, manifestDigest, head, receipts, findings } = report;
  const rows = findings
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, code, path: at = '', message }) => [severity, code, at, message]);
  const lines = facts([
    [HEADLINES[verdict], path],
    ['export', evidenceExportId],
    ['manifest', manifestDigest],
    ['receipts', count(receipts.length)],
    ['head', head === undefined ? undefined : `${head.digest}, ${isoTime(head.finishedAtMs)}`],
  ]);
  const notes = findings
    .filter(({ severity }) => severity === 'info')
    .map(({ message }) => `note: ${printable(message)}\n`);
  return `${lines}${notes.join('')}${table(['', 'CODE', 'WHERE', 'WHAT'], rows)}`;
}

function totals(reports: readonly ReceiptsReport[]): string {
  const of = (verdict: ReceiptsReport['verdict']): string =>
    count(reports.filter((one) => one.verdict === verdict).length);
  return `${counted(reports.length, 'mirror')}: ${of('sound')} sound, ${of('broken')} broken, ${of('unread')} unread, ${of('none')} without receipts\n`;
}

export const formatReceipts = (mirrors: readonly MirrorReceipts[]): string =>
  mirrors
    .map(({ path, report }) => {
      const name = facts([[report.evidenceExportId ?? 'mirror', path]]);
      const rows = report.receipts.map(rowOf);
      const heading = ['FINISHED', 'OUTCOME', 'FILES', 'FAILED', 'TOOL', 'DIGEST'];
      return `${name}${rows.length === 0 ? 'no receipts\n' : table(heading, rows)}`;
    })
    .join('\n');

const rowOf = (line: ReceiptLine): string[] => [
  line.finishedAtMs === undefined ? '-' : isoTime(line.finishedAtMs),
  line.outcome ?? 'damaged',
  line.files === undefined ? '-' : count(line.files),
  line.failures === undefined ? '-' : count(line.failures),
  line.tool ?? '-',
  line.digest ?? '-',
];
