import type { TrustStore } from '../../trust/index.ts';
import type { BundleReport, ExportReport } from '../../verify/index.ts';
import { caveatsOf } from '../text/caveats.ts';
import { findingsIn } from '../text/findings.ts';
import { renderCaveats, renderSection } from './blocks.ts';
import { chainOf, type Link } from './chain.ts';
import { renderCommands, renderCoverage } from './closing.ts';
import { renderCover, signersIn, titleOf } from './cover.ts';
import { renderDocument } from './document.ts';
import { renderFindings } from './findings.ts';
import { keyRowsOf, matchingTrust, renderKeys } from './keys.ts';
import { html, type Markup } from './markup.ts';
import { renderLocalReports, renderParts } from './parts.ts';
import { renderState, toneOf } from './states.ts';

export type ReportViewOptions = {
  /** The trust store of the verification: the report itself does not have the validity of keys. */
  readonly trust?: TrustStore;
};

/** The sections of a report about an export or a bundle, in their order. A page may replace some of them. */
export function renderReportSections(
  report: ExportReport | BundleReport,
  { trust }: ReportViewOptions = {},
): Readonly<Record<ReportSection, Markup>> {
  const keys = keyRowsOf(signersIn(report), matchingTrust(report, trust));
  return {
    cover: renderCover(report),
    findings: renderSection('findings', 'Findings', [renderFindings(findingsIn(report))]),
    chain: renderSection('chain', 'Chain from the evidence to the signatures', [
      renderChain(chainOf(report)),
    ]),
    keys: renderSection('keys', 'Keys', [renderKeys(keys, report.asOfMs)]),
    coverage: renderSection('coverage', 'Byte coverage', [renderCoverage(report.coverage)]),
    caveats: renderCaveats(
      report.kind === 'export' ? caveatsOf('export', report) : caveatsOf('bundle', report),
    ),
    commands: renderSection('commands', 'Check it again by hand', [renderCommands(report)]),
    parts: renderSection('parts', 'Appendix: every part', [renderParts(report)]),
    local: renderSection(
      'local',
      'Local reports',
      report.kind === 'export' ? renderLocalReports(report.localReports) : [],
    ),
  };
}
type ReportSection =
  | 'cover'
  | 'chain'
  | 'findings'
  | 'keys'
  | 'coverage'
  | 'caveats'
  | 'commands'
  | 'parts'
  | 'local';

/** Each link with its state; the first one that does not hold is marked. */
export const renderChain = (chain: readonly Link[]): Markup =>
  html`<ol class="chain">
    ${chain.map(
      ({ title, claim, state, why, first }) =>
        html`<li class="${toneOf(state)}${first ? ' first' : ''}">
          <div class="head"><strong>${title}</strong>${renderState(state)}</div>
          <p>${claim}</p>
          ${why === undefined ? undefined : html`<p class="soft">${why}</p>`}${first ? html`<p><strong>The chain breaks here. Nothing behind this link is claimed.</strong></p>` : undefined}
        </li> `,
    )}
  </ol> `;

/** A report as a page in one file: for people, for print, and without a script. */
export const renderReportPage = (
  report: ExportReport | BundleReport,
  options: ReportViewOptions = {},
): string => renderDocument(titleOf(report), html`${Object.values(renderReportSections(report, options))}`);
