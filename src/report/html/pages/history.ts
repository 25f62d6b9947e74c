import { defined, isoTime } from '../../../bytes/index.ts';
import type { TrustStore } from '../../../trust/index.ts';
import type { BundleReport, Coverage, ExportReport, SignedBy, Verdict } from '../../../verify/index.ts';
import type { ReportChain } from '../../signed/chain.ts';
import { resultOfReport, type SignableReport } from '../../signed/statement.ts';
import { count, counted, size } from '../../text/page.ts';
import { quote, renderFacts, renderSection, renderTable } from '../blocks.ts';
import { renderSignedChain } from './chained.ts';
import { signersIn } from '../cover.ts';
import { renderDocument } from '../document.ts';
import { keyRowsOf, renderKeys } from '../keys.ts';
import { dataImage, html, type Markup } from '../markup.ts';

/** One report of a history, and when it was signed if it was. */
export type HistoryEntry = {
  readonly name: string;
  readonly report: SignableReport;
  readonly issuedAtMs?: number;
};

/** The data of a chart; its words and labels are ours. */
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

type HistoryOptions = {
  readonly asOfMs: number;
  /** Draws a chart as SVG for each color scheme, without a browser. */
  readonly draw: (chart: Chart) => { readonly light: string; readonly dark: string };
  readonly trust?: TrustStore;
  /** The result of verifying the signed reports among them. */
  readonly chain?: ReportChain;
};

type Counts = Readonly<Record<Verdict, number>>;
type Bytes = Pick<Coverage, 'totalBytes' | 'coveredBytes' | 'attestedBytes'>;
type Moment = HistoryEntry & {
  readonly atMs?: number;
  readonly counts: Counts;
  readonly bytes: Bytes;
  readonly signers: readonly SignedBy[];
};

/** Many reports over time as a page in one file: verdicts, bytes, and keys with their expiry. */
export function renderHistoryPage(entries: readonly HistoryEntry[], options: HistoryOptions): string {
  const { asOfMs, draw, trust, chain } = options;
  const moments = entries.map(momentOf).toSorted((a, b) => (a.atMs ?? Infinity) - (b.atMs ?? Infinity));
  const keys = keyRowsOf(
    moments.flatMap(({ signers }) => signers),
    trust,
  );
  const body = html`<header class="cover">
<h1>Reports over time</h1>
${renderFacts(coverFacts(moments, asOfMs))}
</header>
${chain === undefined ? undefined : renderSection('signed', 'Signed reports', [renderSignedChain(chain)])}${renderSection(
    'plots',
    'Verdicts and bytes',
    chartsOf(moments).map((chart) => renderChart(chart, draw(chart))),
  )}${renderSection('keys', 'Keys and their expiry', [renderKeys(keys, asOfMs)])}${renderSection(
    'reports',
    'Appendix: every report',
    [renderMoments(moments)],
  )}`;
  return renderDocument('Reports over time', body, { images: true });
}

function coverFacts(moments: readonly Moment[], asOfMs: number) {
  const times = moments.flatMap(({ atMs }) => atMs ?? []);
  const last = moments.findLast(({ atMs }) => atMs !== undefined);
  return [
    ['Reports', count(moments.length)],
    ['From', times[0] === undefined ? undefined : isoTime(times[0])],
    ['To', last?.atMs === undefined ? undefined : isoTime(last.atMs)],
    ['Last result', last && quote(resultOfReport(last.report))],
    ['Page made', isoTime(asOfMs)],
    [
      'Without a time',
      times.length === moments.length
        ? undefined
        : `${counted(moments.length - times.length, 'report')}, which the charts omit: reports of scrubs and differences have a time only if they are signed`,
    ],
  ] as const;
}

function momentOf(entry: HistoryEntry): Moment {
  const { report, issuedAtMs } = entry;
  const evidence = evidenceIn(report);
  const atMs = timeOf(report, evidence) ?? issuedAtMs;
  return {
    ...entry,
    ...defined({ atMs }),
    counts: countsOf(report, evidence),
    bytes: bytesOf(report, evidence),
    signers: evidence.flatMap(signersIn),
  };
}

type Evidence = ExportReport | BundleReport;

function evidenceIn(report: SignableReport): readonly Evidence[] {
  if (report.kind === 'export' || report.kind === 'bundle') return [report];
  if (report.kind !== 'reports') return [];
  return report.results.flatMap(({ result }) => (result.kind === 'error' ? [] : [result]));
}

function timeOf(report: SignableReport, evidence: readonly Evidence[]): number | undefined {
  if (report.kind === 'decision') return report.asOfMs;
  return evidence.length === 0 ? undefined : Math.max(...evidence.map(({ asOfMs }) => asOfMs));
}

/** How many bundles have each verdict; for scrubs mirrors, for decisions inputs. */
function countsOf(report: SignableReport, evidence: readonly Evidence[]): Counts {
  if (report.kind === 'scrub') {
    const { good, damaged, unreadable, unread } = report.outcomes;
    return { verified: 0, intact: good, incomplete: unreadable + unread, failed: damaged };
  }
  const unread = report.kind === 'reports' ? report.results.length - evidence.length : 0;
  const verdicts: readonly Verdict[] =
    report.kind === 'decision'
      ? report.inputs.map(({ verdict = 'incomplete' }) => verdict)
      : evidence.flatMap((one) => (one.kind === 'export' ? one.parts : [one])).map(({ verdict }) => verdict);
  const times = (wanted: Verdict): number => verdicts.filter((verdict) => verdict === wanted).length;
  return {
    verified: times('verified'),
    intact: times('intact'),
    incomplete: times('incomplete') + unread,
    failed: times('failed'),
  };
}

function bytesOf(report: SignableReport, evidence: readonly Evidence[]): Bytes {
  if (report.kind === 'scrub') return { totalBytes: report.readBytes, coveredBytes: 0, attestedBytes: 0 };
  const sum = (name: keyof Bytes): number =>
    evidence.reduce((total, { coverage }) => total + coverage[name], 0);
  return {
    totalBytes: sum('totalBytes'),
    coveredBytes: sum('coveredBytes'),
    attestedBytes: sum('attestedBytes'),
  };
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

function chartsOf(moments: readonly Moment[]): readonly Chart[] {
  const dated = moments.filter(({ atMs, report }) => atMs !== undefined && report.kind !== 'report-diff');
  return dated.length === 0 ? [] : [verdictChart(dated), byteChart(dated)];
}

const labelsOf = (moments: readonly Moment[]): readonly string[] =>
  moments.map(({ atMs = 0 }) => isoTime(atMs).slice(0, 10));

function verdictChart(moments: readonly Moment[]): Chart {
  const values = (verdict: Verdict): readonly number[] => moments.map(({ counts }) => counts[verdict]);
  return {
    title: 'Bundles by verdict; mirrors of scrubs and inputs of decisions likewise',
    kind: 'bars',
    labels: labelsOf(moments),
    series: [
      { name: 'verified', tone: 'good', values: values('verified') },
      { name: 'intact', tone: 'idle', values: values('intact') },
      { name: 'incomplete', tone: 'open', values: values('incomplete') },
      { name: 'failed', tone: 'bad', values: values('failed') },
    ],
  };
}

/** Decisions have no bytes. */
function byteChart(all: readonly Moment[]): Chart {
  const moments = all.filter(({ report }) => report.kind !== 'decision');
  const most = Math.max(1, ...moments.map(({ bytes }) => bytes.totalBytes));
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(most) / 10));
  const values = (name: keyof Bytes): readonly number[] =>
    moments.map(({ bytes }) => Math.round((bytes[name] / 1024 ** unit) * 1000) / 1000);
  return {
    title: `Bytes looked at, under a digest, and under a trusted signature, in ${UNITS[unit]}`,
    kind: 'lines',
    labels: labelsOf(moments),
    series: [
      { name: 'looked at', tone: 'idle', values: values('totalBytes') },
      { name: 'under a digest', tone: 'open', values: values('coveredBytes') },
      { name: 'under a trusted signature', tone: 'good', values: values('attestedBytes') },
    ],
  };
}

/** Images cannot run scripts or ask for anything, and the table of reports has the same numbers. */
const renderChart = (
  { title }: Chart,
  { light, dark }: { light: string; dark: string },
): Markup => html`<h3>${title}</h3>
<picture><source media="(prefers-color-scheme: dark) and (not print)" srcset="${dataImage(dark)}"><img class="plot" src="${dataImage(light)}" width="720" height="300" alt="${title}, over time. The table of reports has the same numbers."></picture>
`;

const renderMoments = (moments: readonly Moment[]): Markup =>
  renderTable(
    counted(moments.length, 'report'),
    [
      ['Report'],
      ['Kind'],
      ['As of'],
      ['Result'],
      ['Verified', 'number'],
      ['Intact', 'number'],
      ['Incomplete', 'number'],
      ['Failed', 'number'],
      ['Bytes', 'number'],
      ['Under a signature', 'number'],
    ],
    moments.map(({ name, report, atMs, counts, bytes }) => [
      quote(name),
      report.kind,
      atMs === undefined ? 'not known' : isoTime(atMs),
      quote(resultOfReport(report)),
      count(counts.verified),
      count(counts.intact),
      count(counts.incomplete),
      count(counts.failed),
      size(bytes.totalBytes),
      size(bytes.attestedBytes),
    ]),
  );
