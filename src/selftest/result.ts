import * as z from 'zod/mini';
import { allow } from '../contract/index.ts';
import { canonicalJson } from '../bytes/index.ts';

const factsSchema = z.readonly(z.record(z.string(), z.unknown()));
const countSchema = z.int().check(z.gte(0));

/** How one case ended by one way in. */
const caseResultSchema = z.readonly(
  z.strictObject({
    kind: z.string(),
    id: z.string(),
    way: z.string(),
    state: z
      .enum(['passed', 'failed', 'unsupported', 'not_run'])
      .check(
        z.describe(
          'unsupported is what the verifier says, not_run that it could not be started; neither passes',
        ),
      ),
    reason: allow(z.string(), 'why it did not pass'),
    flags: allow(z.readonly(z.array(z.string())), 'the bugs that such a verifier has'),
    expected: allow(factsSchema),
    actual: allow(factsSchema),
    verdictOnly: allow(z.boolean(), 'it told the verdict and nothing that could be compared'),
  }),
);

const counts = {
  cases: countSchema.check(z.describe('distinct cases')),
  passed: countSchema.check(z.describe('cases by ways in that did as expected')),
  failed: countSchema,
  unsupported: countSchema,
  notRun: countSchema,
  verdictOnly: countSchema.check(
    z.describe('of the passed, those of which nothing but the verdict was told'),
  ),
};

const kindResultSchema = z.readonly(
  z.strictObject({ kind: z.string(), ...counts, ways: z.readonly(z.array(z.string())) }),
);

/** What a selftest found, as `drillproof selftest --json` prints it. */
export const selftestReportSchema = z.readonly(
  z.strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('selftest'),
    verdict: z
      .enum(['passed', 'failed', 'not_checked'])
      .check(z.describe('passed: at least one case ran, and every one that ran did as expected')),
    target: z.string().check(z.describe('what was tested: this program, or the command')),
    total: z.readonly(z.strictObject(counts)),
    kinds: z.readonly(z.array(kindResultSchema)),
    failures: z
      .readonly(z.array(caseResultSchema))
      .check(z.describe('every result that is failed or not_run')),
  }),
);

export type CaseResult = z.infer<typeof caseResultSchema>;
type KindResult = z.infer<typeof kindResultSchema>;
export type SelftestReport = z.infer<typeof selftestReportSchema>;
type Counts = SelftestReport['total'];

const count = (results: readonly CaseResult[]): Counts => {
  const of = (state: CaseResult['state']): number => results.filter((one) => one.state === state).length;
  return {
    cases: new Set(results.map(({ id }) => id)).size,
    passed: of('passed'),
    failed: of('failed'),
    unsupported: of('unsupported'),
    notRun: of('not_run'),
    verdictOnly: results.filter(({ verdictOnly }) => verdictOnly === true).length,
  };
};

const sum = (a: Counts, b: Counts): Counts => ({
  cases: a.cases + b.cases,
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  unsupported: a.unsupported + b.unsupported,
  notRun: a.notRun + b.notRun,
  verdictOnly: a.verdictOnly + b.verdictOnly,
});

function kindResult(kind: string, results: readonly CaseResult[]): KindResult {
  const own = results.filter((one) => one.kind === kind);
  return { kind, ...count(own), ways: [...new Set(own.map(({ way }) => way))] };
}

/** The report of these results. */
export function selftestReport(target: string, results: readonly CaseResult[]): SelftestReport {
  const kinds = [...new Set(results.map(({ kind }) => kind))].map((kind) => kindResult(kind, results));
  const failures = results.filter(({ state }) => state === 'failed' || state === 'not_run');
  return reportOf(target, kinds, failures);
}

/** Two reports about the same cases, by other ways in, as one. */
export function joinReports(a: SelftestReport, b: SelftestReport): SelftestReport {
  const kinds = a.kinds.map((one) => {
    const other = b.kinds.find(({ kind }) => kind === one.kind);
    if (other === undefined) throw new TypeError(`the other report says nothing of ${one.kind}`);
    const cases = Math.max(one.cases, other.cases);
    return { ...one, ...sum(one, other), cases, ways: [...one.ways, ...other.ways] };
  });
  return reportOf(a.target, kinds, [...a.failures, ...b.failures]);
}

/** An empty set is never a success, and what did not run leaves the result open. */
function reportOf(
  target: string,
  kinds: readonly KindResult[],
  failures: readonly CaseResult[],
): SelftestReport {
  const total = kinds.reduce<Counts>(sum, count([]));
  const open = total.notRun > 0 || total.passed === 0;
  const verdict = total.failed > 0 ? 'failed' : open ? 'not_checked' : 'passed';
  return { schemaVersion: 1, kind: 'selftest', verdict, target, total, kinds, failures };
}

export type Facts = Readonly<Record<string, unknown>>;

/** As it would stand in a file: members without a value are absent. */
export const plain = (facts: Facts): Facts => JSON.parse(JSON.stringify(facts)) as Facts;

const form = (value: unknown): string => (value === undefined ? '' : canonicalJson(value));

/** The members that differ; of both sides, so that nothing more is said than is expected. */
export function differences(expected: Facts, actual: Facts): readonly string[] {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...names].filter((name) => form(expected[name]) !== form(actual[name])).toSorted();
}
