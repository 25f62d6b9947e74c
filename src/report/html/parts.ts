import { isoTime } from '../../bytes/index.ts';
import type { BundleReport, ExportReport, LocalReportReport } from '../../verify/index.ts';
import { count, counted } from '../text/page.ts';
import { isOutcomeCounted } from '../text/tally.ts';
import { type Column, quote, renderRow, renderTable } from './blocks.ts';
import { chainOf } from './chain.ts';
import { quoted } from './cover.ts';
import { html, type Markup, type Piece } from './markup.ts';
import { renderState, wordOf } from './states.ts';

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

/** Every part of an export, or the single part. */
export function renderParts(report: ExportReport | BundleReport): Markup {
  const parts = report.kind === 'export' ? report.parts : [report];
  return renderTable(counted(parts.length, 'part'), PART_COLUMNS, parts.map(partCells));
}

const partCells = (part: BundleReport): readonly Piece[] => [
  html`${quote(part.evidenceBundleId ?? 'unknown')}<br />${quoted(part.path)}`,
  renderState(part.verdict),
  renderChainEnd(part),
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
export function renderChainEnd(report: ExportReport | BundleReport): Markup {
  const chain = chainOf(report);
  const link = chain.find(({ first }) => first) ?? chain.find(({ state }) => state !== 'holds');
  if (link === undefined) return renderState('holds', 'every link holds');
  return renderState(link.state, `${link.title}: ${wordOf(link.state)}`);
}

/** Every local report of an export, or nothing. */
export const renderLocalReports = (local: readonly LocalReportReport[]): readonly Markup[] =>
  local.length === 0
    ? []
    : [
        renderTable(
          `${counted(local.length, 'local report')} from users, which no key attests`,
          [['Local report'], ['Verdict'], ['Path']],
          local.map(({ localReportId, verdict, path }) => [
            quote(localReportId),
            renderState(verdict),
            quote(path),
          ]),
        ),
      ];
