import type { BundleReport, ExportReport, LocalReportReport } from '../verify/report.ts';
import type { EvidenceInput, ReadFailure, SummaryFacts } from './inputs.ts';

/** Where something stands among the inputs, and what a violation calls it. */
export type Place = { readonly input: number; readonly subject: string };

export type ExportFact = Place & { readonly report: ExportReport };
export type BundleFact = Place & {
  readonly report: BundleReport;
  /** A trusted key vouches for the statement and every byte under it: only then its facts count. */
  readonly attested: boolean;
  /** Of a part that was given by itself: whether the caller pinned its manifest. */
  readonly alone?: { readonly pinned: boolean };
};
export type LocalReportFact = Place & { readonly report: LocalReportReport };
export type UnreadFact = Place & { readonly failure: ReadFailure };
export type SummaryFact = Place & { readonly summary: SummaryFacts };

/** Everything that rules look at, taken apart once. */
export type Facts = {
  readonly asOfMs: number;
  readonly exports: readonly ExportFact[];
  readonly bundles: readonly BundleFact[];
  readonly localReports: readonly LocalReportFact[];
  readonly unread: readonly UnreadFact[];
  readonly summaries: readonly SummaryFact[];
};

type Mutable = { [K in keyof Facts]: Facts[K] extends readonly (infer T)[] ? T[] : Facts[K] };

export function factsOf(inputs: readonly EvidenceInput[], asOfMs: number): Facts {
  const facts: Mutable = {
    asOfMs,
    exports: [],
    bundles: [],
    localReports: [],
    unread: [],
    summaries: [],
  };
  for (const [input, one] of inputs.entries()) add(facts, one, input);
  return facts;
}

function add(facts: Mutable, one: EvidenceInput, input: number): void {
  const subject = one.name;
  if ('failure' in one) facts.unread.push({ input, subject, failure: one.failure });
  else if ('summary' in one) facts.summaries.push({ input, subject, summary: one.summary });
  else if (one.report.kind === 'bundle')
    facts.bundles.push({ ...bundleFact(one.report, input), alone: { pinned: one.pinned === true } });
  else addExport(facts, one.report, input);
}

function addExport(facts: Mutable, report: ExportReport, input: number): void {
  facts.exports.push({ input, subject: report.evidenceExportId ?? 'export', report });
  facts.bundles.push(...report.parts.map((part) => bundleFact(part, input)));
  facts.localReports.push(
    ...report.localReports.map((local) => ({ input, subject: local.localReportId, report: local })),
  );
}

const bundleFact = (report: BundleReport, input: number): BundleFact => ({
  input,
  subject: report.evidenceBundleId ?? report.path ?? 'bundle',
  report,
  attested: isAttested(report),
});

// Asked twice, because a report may come from a file.
const isAttested = ({ verdict, provenance, depth }: BundleReport): boolean =>
  verdict === 'verified' && provenance === 'attested' && depth === 'full';

/** Whether nothing was given: then nothing can be told, not even that something is missing. */
export const nothingGiven = ({ exports, bundles, unread, summaries }: Facts): boolean =>
  [exports, bundles, unread, summaries].every(({ length }) => length === 0);

/** Whether there is a list of bundles that nobody got to see. */
export const unreadLists = ({ unread, exports }: Facts): boolean =>
  unread.length > 0 || exports.some(({ report }) => report.manifestDigest === undefined);

/** Whether there is nothing but summaries: then what the evidence itself would have to show is theirs to say. */
export const onlySummaries = ({ exports, bundles, unread, summaries }: Facts): boolean =>
  summaries.length > 0 && exports.length === 0 && bundles.length === 0 && unread.length === 0;
