import { defined } from '../../../bytes/arguments.ts';
import { findLargest } from '../../../bytes/async.ts';
import { count, countNoun, isoTime } from '../../../bytes/text/wording.ts';
import type { TrustStore } from '../../../trust/store.ts';
import type { BundleReport, Coverage, ExportReport, Verdict } from '../../../verify/report.ts';
import type { ReportChain } from '../../signed/chain.ts';
import { resultOfReport, type SignableReport } from '../../signed/statement.ts';
import { size } from '../../text/page.ts';
import { partsOf } from '../../text/tally.ts';
import {
  type ItemColumn,
  quote,
  quoteText,
  renderCaveats,
  renderFacts,
  renderFindings,
  renderHeader,
  renderItems,
  renderSection,
  renderState,
  renderTime,
  renderVerdict,
  type State,
  buildTrustFact,
} from '../blocks.ts';
import { listSigners, renderResult, type Signed } from '../cover.ts';
import { dataImage, html, type Markup, type Piece, renderDocument } from '../document.ts';
import { buildKeyRows, renderKeys } from '../keys.ts';

const STATES = { valid: 'holds', invalid: 'does_not_hold', not_checked: 'not_asked' } as const;
const MEANING: Readonly<Record<ReportChain['verdict'], string>> = {
  valid: 'Trusted keys signed every report, and each report follows the one before it.',
  invalid: 'A signature, a link or an end of the chain does not hold. The findings name it.',
  not_checked: 'No trusted keys were given, so no signature was verified.',
};
const CAVEATS = [
  'A signed report shows who stated a result, and the time that the signer gives. It does not verify the evidence again.',
  'A chain shows gaps between its reports. Newer reports could be missing at its end, unless you expect its last digest.',
] as const;

function renderSignedChain(chain: ReportChain): Markup {
  const { verdict, reports, findings } = chain;
  const last = reports.at(-1)?.report?.result;
  const columns: readonly ItemColumn<ReportChain['reports'][number]>[] = [
    ['Report', ({ name }) => quote(name)],
    ['State', ({ name }) => renderState(stateOf(chain, name))],
    ['Number', ({ sequence }) => sequence, 'number'],
    ['Signed by', ({ issuer }) => quoteText(issuer)],
    ['Signed', ({ issuedAtMs: atMs }) => (atMs === undefined ? undefined : renderTime(atMs))],
    ['Result', (row) => row.report && html`${row.report.kind}: ${quoteText(row.report.result)}`],
    ['Digest', ({ digest }) => quoteText(digest)],
  ];
  return html`${renderVerdict(STATES[verdict], countNoun(reports.length, 'signed report'), [html`<p>${MEANING[verdict]}</p>`, last && html`<p>The last report states the result ${quote(last)}.</p>`])}${renderItems('Signed reports, oldest first', columns, reports)}${findings.length === 0 ? undefined : renderFindings(findings)}`;
}

const stateOf = ({ verdict, findings }: ReportChain, name: string): State =>
  findings.some(({ subject, severity }) => subject === name && severity === 'error')
    ? 'does_not_hold'
    : verdict === 'not_checked'
      ? 'not_asked'
      : 'holds';

const CHAIN = 'Chain of signed reports';

export const renderChainBody = (chain: ReportChain): Markup =>
  html`${renderHeader(
    CHAIN,
    `${CHAIN}: ${chain.verdict.replaceAll('_', ' ')}, as of ${isoTime(chain.asOfMs)}`,
    renderFacts([['Verified as of', renderTime(chain.asOfMs)], buildTrustFact(chain.trust)]),
  )}${renderSection('signed', 'Reports', [renderSignedChain(chain)])}${renderCaveats(CAVEATS)}`;

export const renderChainPage = (chain: ReportChain): string =>
  renderDocument(CHAIN, [renderChainBody(chain)]);

export type HistoryEntry = {
  readonly name: string;
  readonly report: SignableReport;
  readonly issuedAtMs?: number;
};

export type Chart = {
  readonly title: string;
  readonly kind: 'bars' | 'lines';
  readonly labels: readonly string[];
  readonly series: readonly {
    readonly name: string;
    readonly tone: 'good' | 'open' | 'bad' | 'idle';
    readonly values: readonly number[];
  }[];
};

/** Draws a chart as SVG, for light and for dark screens. */
export type DrawChart = (chart: Chart) => { readonly light: string; readonly dark: string };

type HistoryOptions = {
  readonly asOfMs: number;
  /** Draws a chart as SVG for each color scheme, without a browser. */
  readonly draw: DrawChart;
  readonly trust?: TrustStore;
  /** The result of verifying the signed reports among them. */
  readonly chain?: ReportChain;
};

type Counts = Readonly<Record<Verdict, number>>;
const BYTES = ['totalBytes', 'coveredBytes', 'attestedBytes'] as const;
type Bytes = Pick<Coverage, (typeof BYTES)[number]>;
type Moment = HistoryEntry & {
  readonly atMs?: number;
  readonly counts: Counts;
  readonly bytes: Bytes;
  readonly signers: readonly Signed[];
};

export function renderHistoryPage(entries: readonly HistoryEntry[], options: HistoryOptions): string {
  const { asOfMs, draw, trust, chain } = options;
  const moments = entries.map(buildMoment).toSorted((a, b) => (a.atMs ?? Infinity) - (b.atMs ?? Infinity));
  const keys = buildKeyRows(
    moments.flatMap(({ signers }) => signers),
    trust,
  );
  return renderDocument(
    'Reports over time',
    [
      renderHeader(
        'Reports over time',
        `Reports over time, as of ${isoTime(asOfMs)}`,
        renderFacts(listCoverFacts(moments, asOfMs)),
      ),
      renderSection('signed', 'Signed reports', chain === undefined ? [] : [renderSignedChain(chain)]),
      renderSection(
        'plots',
        'Verdicts and bytes',
        buildCharts(moments).map((chart) => renderChart(chart, draw(chart))),
      ),
      renderSection('keys', 'Keys and their expiry', [
        renderKeys(keys, asOfMs, 'the time that this page is as of'),
      ]),
      renderSection('reports', 'Appendix: every report', [
        renderItems(countNoun(moments.length, 'report'), MOMENT_COLUMNS, moments),
      ]),
    ],
    { images: true },
  );
}

function renderAnyResult(report: SignableReport): Piece {
  if (report.kind === 'export' || report.kind === 'bundle') return renderResult(report);
  if (report.kind === 'decision') return renderState(report.answer);
  return report.kind === 'scrub' ? renderState(report.outcome) : quote(resultOfReport(report));
}

function listCoverFacts(moments: readonly Moment[], asOfMs: number) {
  const times = moments.flatMap(({ atMs }) => atMs ?? []);
  const last = moments.findLast(({ atMs }) => atMs !== undefined);
  return [
    ['Reports', count(moments.length)],
    ['From', times[0] === undefined ? undefined : renderTime(times[0])],
    ['To', last?.atMs === undefined ? undefined : renderTime(last.atMs)],
    ['Last result', last && renderAnyResult(last.report)],
    ['Page as of', renderTime(asOfMs)],
    [
      'Without a time',
      times.length === moments.length
        ? undefined
        : `${countNoun(moments.length - times.length, 'report')}, which the charts omit: reports of scrubs and differences have a time only if they are signed`,
    ],
  ] as const;
}

function buildMoment(entry: HistoryEntry): Moment {
  const { report, issuedAtMs } = entry;
  const evidence = listEvidence(report);
  const atMs = timeOf(report, evidence) ?? issuedAtMs;
  return {
    ...entry,
    ...defined({ atMs }),
    counts: countVerdicts(report, evidence),
    bytes: bytesOf(report, evidence),
    signers: evidence.flatMap(listSigners),
  };
}

type Evidence = ExportReport | BundleReport;

function listEvidence(report: SignableReport): readonly Evidence[] {
  if (report.kind === 'export' || report.kind === 'bundle') return [report];
  if (report.kind !== 'reports') return [];
  return report.results.flatMap(({ result }) => (result.kind === 'error' ? [] : [result]));
}

function timeOf(report: SignableReport, evidence: readonly Evidence[]): number | undefined {
  if (report.kind === 'decision') return report.asOfMs;
  return evidence.length === 0 ? undefined : findLargest(evidence.map(({ asOfMs }) => asOfMs));
}

/** Counts bundles by their verdict (or `byReport` as failed in a failed report), for scrubs mirrors, and for decisions inputs. */
function countVerdicts(report: SignableReport, evidence: readonly Evidence[], byReport = false): Counts {
  const counts = { verified: 0, intact: 0, incomplete: 0, failed: 0 };
  if (report.kind === 'scrub') {
    const { good, damaged, unreadable, unread } = report.outcomes;
    return { ...counts, intact: good, incomplete: unreadable + unread, failed: damaged };
  }
  if (report.kind === 'reports') counts.incomplete = report.results.length - evidence.length;
  const partsIn = (whole: Evidence): readonly Evidence[] =>
    byReport && whole.verdict === 'failed' ? partsOf(whole).map(() => whole) : partsOf(whole);
  const results = report.kind === 'decision' ? report.inputs : evidence.flatMap(partsIn);
  for (const { verdict = 'incomplete' } of results) counts[verdict]++;
  return counts;
}

function bytesOf(report: SignableReport, evidence: readonly Evidence[]): Bytes {
  const bytes = { totalBytes: 0, coveredBytes: 0, attestedBytes: 0 };
  if (report.kind === 'scrub') return { ...bytes, totalBytes: report.readBytes };
  for (const { coverage } of evidence) for (const name of BYTES) bytes[name] += coverage[name];
  return bytes;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

function buildCharts(moments: readonly Moment[]): readonly Chart[] {
  const dated = moments.filter(({ atMs, report }) => atMs !== undefined && report.kind !== 'report-diff');
  return dated.length === 0 ? [] : [buildVerdictChart(dated), buildByteChart(dated)];
}

const labelsOf = (moments: readonly Moment[]): readonly string[] =>
  moments.map(({ atMs = 0 }) => isoTime(atMs).slice(0, 10));

function buildVerdictChart(moments: readonly Moment[]): Chart {
  const bars = moments.map(({ report }) => countVerdicts(report, listEvidence(report), true));
  const values = (verdict: Verdict): readonly number[] => bars.map((counts) => counts[verdict]);
  return {
    title: 'Bundles by verdict; mirrors of scrubs and inputs of decisions likewise',
    kind: 'bars',
    labels: labelsOf(moments),
    series: [
      { name: 'verified', tone: 'good', values: values('verified') },
      { name: 'intact', tone: 'idle', values: values('intact') },
      { name: 'incomplete', tone: 'open', values: values('incomplete') },
      { name: 'failed, or in a failed report', tone: 'bad', values: values('failed') },
    ],
  };
}

function buildByteChart(all: readonly Moment[]): Chart {
  const moments = all.filter(({ report }) => report.kind !== 'decision');
  const most = Math.max(1, ...moments.map(({ bytes }) => bytes.totalBytes));
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(most) / 10));
  const values = (name: keyof Bytes): readonly number[] =>
    moments.map(({ bytes }) => Math.round((bytes[name] / 1024 ** unit) * 1000) / 1000);
  return {
    title: `Bytes examined, under a digest, and under a trusted signature, in ${UNITS[unit]}`,
    kind: 'lines',
    labels: labelsOf(moments),
    series: [
      { name: 'examined', tone: 'idle', values: values('totalBytes') },
      { name: 'under a digest', tone: 'open', values: values('coveredBytes') },
      { name: 'under a trusted signature', tone: 'good', values: values('attestedBytes') },
    ],
  };
}

/** Images cannot run scripts or ask for anything, and the table of reports has the same facts. */
const renderChart = (
  { title }: Chart,
  { light, dark }: { light: string; dark: string },
): Markup => html`<h3>${title}</h3>
<picture><source media="screen and (prefers-color-scheme: dark)" srcset="${dataImage(dark)}"><img class="plot" src="${dataImage(light)}" width="720" height="300" alt="${title}, over time. The table of reports has the same facts."></picture>
`;

const MOMENT_COLUMNS: readonly ItemColumn<Moment>[] = [
  ['Report', ({ name }) => quote(name)],
  ['Kind', ({ report }) => report.kind],
  ['As of', ({ atMs }) => (atMs === undefined ? 'not known' : renderTime(atMs))],
  ['Result', ({ report }) => renderAnyResult(report)],
  ['Verified', ({ counts }) => count(counts.verified), 'number'],
  ['Intact', ({ counts }) => count(counts.intact), 'number'],
  ['Incomplete', ({ counts }) => count(counts.incomplete), 'number'],
  ['Failed', ({ counts }) => count(counts.failed), 'number'],
  ['Bytes', ({ bytes }) => size(bytes.totalBytes), 'number'],
  ['Under a signature', ({ bytes }) => size(bytes.attestedBytes), 'number'],
];
