import type { TrustStore } from '../../trust/store.ts';
import type { BundleReport, Coverage, ExportReport } from '../../verify/report.ts';
import { caveatsOf } from '../text/caveats.ts';
import { allFindings } from '../../verify/finding.ts';
import {
  type Anchors,
  quote,
  renderCaveats,
  renderClosedSection,
  renderFindings,
  renderSection,
  renderState,
  renderTable,
  toneOf,
} from './blocks.ts';
import { chainOf, type Link } from './chain.ts';
import { renderCover, listSigners, titleOf } from './cover.ts';
import { html, type Markup, renderDocument } from './document.ts';
import { buildKeyRows, selectTrust, renderKeys } from './keys.ts';
import { listAnchors, renderLocalReports, renderParts, sortParts } from './parts.ts';
import { count } from '../../bytes/text/wording.ts';
import { quoteShellWord } from '../printable.ts';
import { formatCall } from '../text/facts.ts';
import { percent, size } from '../text/page.ts';

type ReportViewOptions = {
  /** The trust store of the verification: the report itself does not have the validity of keys. */
  readonly trust?: TrustStore;
};

/** The sections of a report about an export or a bundle, in their order, without the table of parts. */
export function renderReportSections(
  report: ExportReport | BundleReport,
  { trust }: ReportViewOptions = {},
  anchors?: Anchors,
) {
  const keys = buildKeyRows(listSigners(report), selectTrust(report, trust));
  return {
    cover: renderCover(report, anchors),
    findings: renderSection('findings', 'Findings', [renderFindings(allFindings(report), anchors)]),
    chain: renderSection('chain', 'Chain from the evidence to the signatures', [
      renderChain(chainOf(report)),
    ]),
    keys: renderClosedSection('keys', 'Keys', [renderKeys(keys, report.asOfMs)]),
    coverage: renderClosedSection('coverage', 'Byte coverage', [renderCoverage(report.coverage)]),
    caveats: renderCaveats(caveatsOf(report)),
    commands: renderClosedSection('commands', 'Check it again by hand', [renderCommands(report)]),
    local: renderSection(
      'local',
      'Local reports',
      report.kind === 'export' ? renderLocalReports(report) : [],
    ),
  } satisfies Readonly<Record<string, Markup>>;
}

export const renderChain = (chain: readonly Link[]): Markup =>
  html`<ol class="chain">
    ${chain.map(
      ({ title, claim, state, why, first }) =>
        html`<li class="${toneOf(state)}${first ? ' first' : ''}">
          <div class="head"><strong>${title}</strong>${renderState(state)}</div>
          <p>${claim}</p>
          ${why === undefined ? undefined : html`<p class="soft">${why}</p>`}${first ? html`<p><strong>The chain breaks here. Nothing that depends on this link is claimed.</strong></p>` : undefined}
        </li> `,
    )}
  </ol> `;

/** The report of a page: its sections and the table of parts. */
export function renderReportBody(
  report: ExportReport | BundleReport,
  options: ReportViewOptions = {},
): readonly Markup[] {
  const parts = sortParts(report);
  const sections = renderReportSections(report, options, listAnchors(parts));
  const table = renderSection('parts', 'Parts', parts.length === 0 ? [] : [renderParts(parts)]);
  return [...Object.values(sections), table];
}

/** A report as a page in one file, for people and for print. */
export const renderReportPage = (
  report: ExportReport | BundleReport,
  options: ReportViewOptions = {},
): string => renderDocument(titleOf(report), renderReportBody(report, options));

const MAX_FILES = 100;

function renderCoverage(coverage: Coverage): Markup {
  const { totalBytes, coveredBytes, attestedBytes, uncovered, mirrorFiles } = coverage;
  const rows = [
    ['examined', totalBytes],
    ['match a digest in the chain', coveredBytes],
    ['are under a trusted signature', attestedBytes],
  ] as const;
  return html`${renderTable(
    'Byte coverage',
    [['Bytes that'], ['Number', 'number'], ['Size', 'number'], ['Share', 'number']],
    rows.map(([name, bytes]) => [name, count(bytes), size(bytes), percent(bytes, totalBytes)]),
  )}${renderFiles('Files that no digest covers', uncovered)}${renderFiles('Files that the mirror adds, outside coverage', mirrorFiles)}`;
}

function renderFiles(title: string, files: readonly string[]): Markup | undefined {
  if (files.length === 0) return undefined;
  const more = files.length - MAX_FILES;
  return html`<h3>${title}: ${count(files.length)}</h3>
    <ul>
      ${files.slice(0, MAX_FILES).map((file) => html`<li>${quote(file)}</li>`)}${more > 0 ? html`<li>and ${count(more)} more, which the JSON report lists</li>` : undefined}
    </ul> `;
}

function renderCommands(report: ExportReport | BundleReport): Markup {
  return html`${listCheckCommands(report).map(
    ([purpose, command]) =>
      html`<p>${purpose}</p>
        <pre><code class="copy">${command}</code></pre> `,
  )}`;
}

type Purpose = readonly [purpose: string, command: string];

function listCheckCommands(report: ExportReport | BundleReport): readonly Purpose[] {
  const again: Purpose = ['With drillproof, as of the same time:', formatAgain(report)];
  return [again, ...(report.kind === 'export' ? listExportCommands(report) : listPartCommands(report))];
}

function formatAgain({ run, asOfMs, depth }: ExportReport | BundleReport): string {
  const options = run?.options ?? { depth, trust: 'TRUST.json' };
  const { tool = { name: 'drillproof' }, path = 'EVIDENCE' } = run ?? {};
  return formatCall({ tool, path, options: { ...options, 'as-of': asOfMs } });
}

const hexOf = (digest: string): string => digest.replace(/^sha256:/, '');
/** Paths from the evidence are put into a command only if no shell reads anything into them. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/;

function listExportCommands({ manifestDigest, parts }: ExportReport): readonly Purpose[] {
  const list = 'Without it, in the folder of the export, the digest of the list of bundles:';
  const part = 'One part, by the digest that was read; the table of parts has that of every part:';
  const readable = parts.flatMap(({ verdict, archive, path = '' }) =>
    verdict !== 'incomplete' && archive !== undefined && PLAIN.test(path) ? [{ archive, path }] : [],
  );
  return [
    ...(manifestDigest === undefined ? [] : [[list, checkLine(manifestDigest, 'manifest.json')] as const]),
    ...readable.slice(0, 1).flatMap(({ archive, path }): Purpose[] => [
      [part, checkLine(archive.digest, path)],
      ['The manifest of its bundle:', `unzip -p ${quoteShellWord(path)} manifest.json | sha256sum`],
    ]),
  ];
}

const checkLine = (digest: string, path: string): string =>
  `echo "${hexOf(digest)}  ${path}" | sha256sum --check`;

function listPartCommands({ archive, manifestDigest }: BundleReport): readonly Purpose[] {
  const commands: Purpose[] = [];
  if (archive !== undefined)
    commands.push(['Without it, the digest of the archive:', checkLine(archive.digest, 'PART.zip')]);
  if (manifestDigest !== undefined) {
    const purpose = `The manifest of its bundle, which has the SHA-256 ${hexOf(manifestDigest)}:`;
    commands.push([purpose, 'unzip -p PART.zip manifest.json | sha256sum']);
  }
  return commands;
}
