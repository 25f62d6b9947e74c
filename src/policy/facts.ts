import type { ChallengeLedger } from '../verify/challenge/ledger.ts';
import { checkReport } from '../verify/finding.ts';
import * as z from 'zod/mini';
import type { BundleReport, ExportReport, LocalReportReport } from '../verify/report.ts';
import { bundleReportSchema, exportReportSchema } from '../verify/report-schema.ts';
import type { Digest } from '../bytes/hash.ts';
import { isCode } from '../codes/facts.ts';
import { parameterTextsSchema } from './document/parameters.ts';
import { type CodeSchema, narrowText, typedDigestSchema as digest } from '../contract/scalars.ts';

const code: CodeSchema = narrowText(z.string(), isCode, { error: 'must be a code', abort: true });
const failureSchema = z.strictObject({
  code,
  message: z.string(),
  path: z.exactOptional(z.string()),
});

export const summarySchema = z.strictObject({
  verifierId: z.string(),
  result: z.enum(['PASSED', 'FAILED']),
  timeVerifiedMs: z.int(),
  resourceUri: z.string(),
  policyDigest: digest,
  /** Values of the parameters of the policy. Absent: the summary does not state them. */
  parameters: z.exactOptional(parameterTextsSchema),
  /** Digests of the manifests of everything it covers. */
  inputs: z.readonly(z.array(digest)),
  /** Digests of artifacts of which it states that they may be deployed. */
  artifacts: z.exactOptional(z.readonly(z.array(digest))),
  /** Thumbprints of the trusted keys of purpose `summary` that signed it. */
  thumbprints: z.readonly(z.array(digest)),
  findings: bundleReportSchema.shape.findings,
});

interface ReadFailure extends Readonly<z.infer<typeof failureSchema>> {}
/** The content of a verification summary, and the keys that signed it. */
export interface SummaryFacts extends Readonly<z.infer<typeof summarySchema>> {}

/** The runs of one drill on one target, without reruns. */
export interface RunCount extends Readonly<z.infer<typeof runCountSchema>> {}
export const runCountSchema = z.strictObject({
  project: z.string(),
  drill: z.string(),
  target: z.string(),
  runs: z.int().check(z.gte(1)),
  passed: z.int().check(z.gte(0)),
});

/** The evidence of an earlier gate, with which this one is compared. */
export type Baseline = { readonly name: string; readonly digest: Digest; readonly runs: readonly RunCount[] };

/**
 * One input of `evaluate`: the report of its verification, a summary, or the failure (formats §8). The caller chooses
 * `name`, such as a path.
 */
export type EvidenceInput = {
  readonly name: string;
  /** SHA-256 of each DSSE envelope that was given with it, or of the envelope of the summary. */
  readonly envelopes?: readonly Digest[];
} & (
  | {
      readonly report: ExportReport | BundleReport;
      /** The caller pinned the manifest of this single part. The report on an export has that itself. */
      readonly pinned?: boolean;
      /** The chain of receipts of the mirror, if it was verified. */
      readonly receipts?: ReceiptFacts;
    }
  | { readonly summary: SummaryFacts }
  | { readonly failure: ReadFailure }
);

/** The result of `verifyReceipts`, and when the last run of the mirror ended. */
interface ReceiptFacts extends Readonly<z.infer<typeof receiptFactsSchema>> {}
const receiptFactsSchema = z.strictObject({
  verdict: z.enum(['sound', 'broken', 'unread', 'none']),
  finishedAtMs: z.exactOptional(z.int()),
});

const named = {
  name: z.string().check(z.minLength(1), z.maxLength(4096)),
  envelopes: z.exactOptional(z.readonly(z.array(digest))),
};

export const evidenceInputSchema: z.ZodMiniType<EvidenceInput> = z.union([
  z.strictObject({
    ...named,
    report: z.discriminatedUnion('kind', [exportReportSchema, bundleReportSchema]),
    pinned: z.exactOptional(z.boolean()),
    receipts: z.exactOptional(receiptFactsSchema),
  }),
  z.strictObject({ ...named, summary: summarySchema }),
  z.strictObject({ ...named, failure: failureSchema }),
]);

/** The position of an input, and the subject that a violation names. */
export type Subject = { readonly input: number; readonly subject: string };

type ExportFact = Subject & {
  readonly report: ExportReport;
  /** Absent if nobody verified them. */
  readonly receipts?: ReceiptFacts;
};
export type BundleFact = Subject & {
  readonly report: BundleReport;
  /** The bundle is verified by a trusted key. Only then its facts count. */
  readonly attested: boolean;
  /** For a single part: whether the caller pinned its manifest. */
  readonly alone?: { readonly pinned: boolean };
};
type LocalReportFact = Subject & { readonly report: LocalReportReport };
export type UnreadFact = Subject & { readonly failure: ReadFailure };
export type SummaryFact = Subject & { readonly summary: SummaryFacts };

export type Facts = {
  readonly asOfMs: number;
  readonly ledger?: Pick<ChallengeLedger, 'verdict' | 'challenges' | 'findings'>;
  /** The build that every required run must be of. */
  readonly artifact?: Digest;
  /** The runs of the last time. */
  readonly baseline?: Baseline;
  /** Only the runs that a selector is about, and bundles that could be of such runs. */
  readonly isSelection?: true;
  readonly exports: readonly ExportFact[];
  readonly bundles: readonly BundleFact[];
  readonly localReports: readonly LocalReportFact[];
  readonly unread: readonly UnreadFact[];
  readonly summaries: readonly SummaryFact[];
};

export function collectFacts(inputs: readonly EvidenceInput[], asOfMs: number): Facts {
  for (const input of inputs) if ('report' in input) checkReport(input.report);
  const numbered = inputs.map((item, input) => ({ item, place: { input, subject: item.name } }));
  const exports = numbered.flatMap(({ item, place: { input } }) =>
    'report' in item && item.report.kind === 'export'
      ? [
          {
            input,
            subject: item.report.evidenceExportId ?? 'export',
            report: item.report,
            ...(item.receipts !== undefined && { receipts: item.receipts }),
          },
        ]
      : [],
  );
  return {
    asOfMs,
    exports,
    bundles: numbered.flatMap(({ item, place: { input } }) => {
      if (!('report' in item)) return [];
      const { report, pinned = false } = item;
      if (report.kind === 'bundle') return [{ ...buildBundleFact(report, input), alone: { pinned } }];
      return report.parts.map((part) => buildBundleFact(part, input));
    }),
    localReports: exports.flatMap(({ input, report }) =>
      report.localReports.map((local) => ({ input, subject: local.localReportId, report: local })),
    ),
    unread: numbered.flatMap(({ item, place }) =>
      'failure' in item ? [{ ...place, failure: item.failure }] : [],
    ),
    summaries: numbered.flatMap(({ item, place }) =>
      'summary' in item ? [{ ...place, summary: item.summary }] : [],
    ),
  };
}

const buildBundleFact = (report: BundleReport, input: number): BundleFact => ({
  input,
  subject: report.evidenceBundleId ?? report.path ?? 'bundle',
  report,
  attested: isAttested(report),
});

// All three are checked, because a report may come from a file.
const isAttested = ({ verdict, provenance, depth }: BundleReport): boolean =>
  verdict === 'verified' && provenance === 'attested' && depth === 'full';

/** Without any input nothing can be decided, not even that something is missing. */
export const hasNoInput = ({ exports, bundles, unread, summaries, isSelection }: Facts): boolean =>
  isSelection !== true && [exports, bundles, unread, summaries].every(({ length }) => length === 0);

export const hasUnreadLists = ({ unread, exports }: Facts): boolean =>
  unread.length > 0 || exports.some(({ report }) => report.manifestDigest === undefined);

/** Whether there are only summaries, which then replace the evidence for the other rules. */
export const hasOnlySummaries = ({ exports, bundles, unread, summaries }: Facts): boolean =>
  summaries.length > 0 && exports.length === 0 && bundles.length === 0 && unread.length === 0;
