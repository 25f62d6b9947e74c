import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import type { Code } from '../../codes/catalogue.ts';
import { codeFacts } from '../../codes/facts.ts';
import { SEVERITIES } from '../../codes/entry.ts';
import { atMsSchema, countSchema as count } from '../../contract/scalars.ts';
import {
  type BundleReport,
  type ExportReport,
  type Run,
  type Verdict,
  VERDICTS,
} from '../../verify/report.ts';
import { codeClassSchema, codeSchema, severitySchema } from '../../verify/report-schema.ts';
import { allFindings } from '../../verify/finding.ts';
import { caveatsOf } from '../text/caveats.ts';
import { countOutcomes, partsOf } from '../text/tally.ts';

/** One path of a run over many: its report, or the code of the error that prevented it. */
export type PathResult = {
  readonly path: string;
  /** It passed by the rules of the caller, who may accept `intact` or require coverage. */
  readonly passed: boolean;
} & ({ readonly report: ExportReport | BundleReport } | { readonly failure: { readonly code: Code } });

const causeSchema = z.strictObject({
  code: codeSchema,
  class: codeClassSchema,
  severity: severitySchema,
  subjects: count.check(z.describe('exports, bundles, reports and paths that it is about, each once')),
  times: count,
  first: z
    .array(z.strictObject({ path: z.string(), subject: z.string() }))
    .check(z.describe('the first few')),
});

const copiesSchema = z
  .strictObject({
    evidenceExportId: z.string(),
    times: count,
    same: z.boolean().check(z.describe('whether all have the manifest of the first')),
    paths: z.array(z.string()).check(z.describe('the first few')),
  })
  .check(z.describe('an export under more than one path'));

export const pathsSummarySchema = z.strictObject({
  asOfMs: z.optional(atMsSchema).check(z.describe('time as of which the last report verified its evidence')),
  paths: count.check(z.describe('verified, or tried')),
  passed: count.check(z.describe('paths that passed by the rules of the call')),
  verdicts: z.strictObject({ verified: count, intact: count, incomplete: count, failed: count }),
  unreadable: count.check(z.describe('paths without a report')),
  outcomes: z
    .record(z.string(), count)
    .check(z.describe('counted drills, by the verdict that the evidence gives them')),
  causes: z.array(causeSchema).check(z.describe('the most severe first, then the most frequent')),
  copies: z.array(copiesSchema),
});

export type FindingCause = z.infer<typeof causeSchema>;
type Copies = z.infer<typeof copiesSchema>;
export type PathsSummary = Readonly<z.infer<typeof pathsSummarySchema>>;

export type NotPassed = { readonly path: string; readonly word: string; readonly code?: Code };

export type SummaryCollector = {
  readonly add: (result: PathResult) => void;
  readonly summary: () => PathsSummary;
  readonly notPassed: readonly NotPassed[];
  readonly caveats: ReadonlySet<string>;
};

const FIRST = 5;
const MAX_NOT_PASSED = 50;

type OpenCopies = Copies & { readonly digest: string };

/** Collects a summary report by report, so that none of them has to stay in memory. */
export function createSummary(): SummaryCollector {
  const verdicts: Record<Verdict, number> = { verified: 0, intact: 0, incomplete: 0, failed: 0 };
  const causes = new Map<Code, FindingCause>();
  const exports = new Map<string, OpenCopies>();
  const notPassed: NotPassed[] = [];
  const caveats = new Set<string>();
  const outcomes = new Map<string, number>();
  let asOfMs: number | undefined;
  let paths = 0;
  let passed = 0;
  let unreadable = 0;

  return {
    notPassed,
    caveats,
    add(result) {
      paths++;
      if (result.passed) passed++;
      else if (notPassed.length < MAX_NOT_PASSED) notPassed.push(describeNotPassed(result));
      const { path } = result;
      if ('failure' in result) {
        unreadable++;
        return countCause(causes, result.failure.code, path, new Map([[path, 1]]));
      }
      const { report } = result;
      asOfMs = report.asOfMs;
      verdicts[report.verdict]++;
      countOutcomes(partsOf(report), outcomes);
      for (const [code, subjects] of groupSubjects(report)) countCause(causes, code, path, subjects);
      if (result.passed) for (const text of caveatsOf(report)) caveats.add(text);
      if (report.kind === 'export') countCopy(exports, path, report);
    },
    summary: () => ({
      ...defined({ asOfMs }),
      paths,
      passed,
      verdicts,
      unreadable,
      outcomes: Object.fromEntries(outcomes),
      causes: [...causes.values()].toSorted(compareSeverity),
      copies: [...exports.values()]
        .filter(({ times }) => times > 1)
        .map(({ digest: _digest, ...copies }) => copies),
    }),
  };
}

function groupSubjects(report: ExportReport | BundleReport): Map<Code, Map<string, number>> {
  const codes = new Map<Code, Map<string, number>>();
  for (const { code, subject } of allFindings(report)) {
    const subjects = codes.get(code) ?? new Map<string, number>();
    codes.set(code, subjects.set(subject, (subjects.get(subject) ?? 0) + 1));
  }
  return codes;
}

function countCause(
  causes: Map<Code, FindingCause>,
  code: Code,
  path: string,
  subjects: ReadonlyMap<string, number>,
): void {
  const { class: codeClass, severity } = codeFacts(code);
  const cause = causes.get(code) ?? { code, class: codeClass, severity, subjects: 0, times: 0, first: [] };
  causes.set(code, cause);
  for (const [subject, times] of subjects) {
    cause.subjects++;
    cause.times += times;
    if (cause.first.length < FIRST) cause.first.push({ path, subject });
  }
}

function countCopy(exports: Map<string, OpenCopies>, path: string, report: ExportReport): void {
  const { evidenceExportId, manifestDigest } = report;
  if (evidenceExportId === undefined || manifestDigest === undefined) return;
  const none = { evidenceExportId, times: 0, same: true, paths: [], digest: manifestDigest };
  const copies: OpenCopies = exports.get(evidenceExportId) ?? none;
  exports.set(evidenceExportId, copies);
  copies.times++;
  if (copies.digest !== manifestDigest) copies.same = false;
  if (copies.paths.length < FIRST) copies.paths.push(path);
}

function describeNotPassed(result: PathResult): NotPassed {
  const { path } = result;
  if ('failure' in result) return { path, word: 'not checked', code: result.failure.code };
  const code = allFindings(result.report).find(({ severity }) => severity === 'error')?.code;
  return { path, word: result.report.verdict, ...defined({ code }) };
}

const compareSeverity = (a: FindingCause, b: FindingCause): number =>
  SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
  b.subjects - a.subjects ||
  (a.code < b.code ? -1 : 1);

/** `2 verified, 1 failed, 1 not checked`, best first. */
export const listVerdictCounts = ({ verdicts, unreadable }: PathsSummary): readonly string[] => [
  ...VERDICTS.filter((verdict) => verdicts[verdict] > 0).map((verdict) => `${verdicts[verdict]} ${verdict}`),
  ...(unreadable > 0 ? [`${unreadable} not checked`] : []),
];

/** Lists export ids with different manifests, of which at least one is wrong. */
export const listContradictions = ({ copies }: PathsSummary): Run['unmet'] =>
  copies
    .filter(({ same }) => !same)
    .map(({ evidenceExportId, times }) => ({
      requirement: 'one manifest for each export',
      message: `${evidenceExportId} has different manifests under ${times} paths`,
    }));
