import { isoTime } from '../../bytes/index.ts';
import type { BundleReport, ExportReport, LocalReportReport } from '../../verify/index.ts';
import { count, counted } from '../text/page.ts';
import { isOutcomeCounted } from '../text/tally.ts';
import { type Column, quote, renderRow, renderTable } from './blocks.ts';
import { chainOf } from './chain.ts';
import { quoted } from './cover.ts';
import { html, type Markup, type Piece } from './markup.ts';
import { renderState } from './states.ts';

/** The columns of a table of parts. */
export const PART_COLUMNS: readonly Column[] = [
  ['Bundle'],
  ['Verdict'],
  ['Chain'],
  ['Outcome of the drill'],
  ['Signed by'],
  ['Archive'],
  ['Bytes', 'number'],
];

/** One part in a table of parts. */
export const renderPartRow = (part: BundleReport): Markup => renderRow(PART_COLUMNS, partCells(part));

/** Every part and every local report of an export, or the single part. */
export function renderParts(report: ExportReport | BundleReport): Markup {
  const parts = report.kind === 'export' ? report.parts : [report];
  const local = report.kind === 'export' ? report.localReports : [];
  return html`${renderTable(
    counted(parts.length, 'part'),
    PART_COLUMNS,
    parts.map(partCells),
  )}${local.length === 0 ? undefined : renderLocalReports(local)}`;
}

const partCells = (part: BundleReport): readonly Piece[] => [
  html`${quote(part.evidenceBundleId ?? 'unknown')}<br />${quoted(part.path)}`,
  renderState(part.verdict),
  chainWords(part),
  isOutcomeCounted(part)
    ? html`${quote(part.outcome.verdict)} ${quote(part.outcome.drillId)}`
    : 'not counted',
  part.signer === undefined
    ? 'no trusted key'
    : html`${quote(part.signer.issuer)} ${isoTime(part.signer.issuedAtMs)}`,
  part.archive === undefined ? 'not read' : quote(part.archive.digest),
  part.archive === undefined ? '' : count(part.archive.bytes),
];

/** The first link that does not hold; else the first that was not settled. */
function chainWords(part: BundleReport): Markup {
  const chain = chainOf(part);
  const link = chain.find(({ first }) => first) ?? chain.find(({ state }) => state !== 'holds');
  if (link === undefined) return renderState('holds', 'every link holds');
  return renderState(link.state, `${link.title}: ${STATE_WORDS[link.state]}`);
}

const STATE_WORDS = {
  holds: 'holds',
  does_not_hold: 'does not hold',
  could_not_tell: 'could not tell',
  not_asked: 'not asked',
} as const;

const renderLocalReports = (local: readonly LocalReportReport[]): Markup =>
  renderTable(
    `${counted(local.length, 'local report')} from users, which no key attests`,
    [['Local report'], ['Verdict'], ['Path']],
    local.map(({ localReportId, verdict, path }) => [
      quote(localReportId),
      renderState(verdict),
      quote(path),
    ]),
  );
