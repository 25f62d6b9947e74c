import * as z from 'zod/mini';
import { allow } from '../contract/index.ts';
import { canonicalJson } from '../bytes/index.ts';
import { bytesKinds } from './kinds/bytes.ts';
import { cursorsKinds, documentsKinds } from './kinds/documents.ts';
import { dsseKinds, policiesKinds, receiptsKinds, summariesKinds } from './kinds/policies.ts';
import { evidenceKinds } from './kinds/evidence.ts';
import { trustKinds } from './kinds/trust.ts';
import type { Kind, Outcome } from './outcome.ts';
import type { SelftestCase } from './vector-file.ts';

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

const NAMES = z.keyof(z.strictObject(counts)).options;

const sum = (a: Counts, b: Counts): Counts => {
  const total = { ...a };
  for (const name of NAMES) total[name] += b[name];
  return total;
};

function kindResult(kind: string, results: readonly CaseResult[]): KindResult {
  const own = results.filter((one) => one.kind === kind);
  return { kind, ...count(own), ways: [...new Set(own.map(({ way }) => way))] };
}

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

/** How each kind is put to our implementation: every way in that there is, each with its outcome. */
export const CASE_KINDS: Readonly<Record<string, Kind>> = {
  ...bytesKinds,
  ...cursorsKinds,
  ...trustKinds,
  ...documentsKinds,
  ...dsseKinds,
  ...evidenceKinds,
  ...receiptsKinds,
  ...policiesKinds,
  ...summariesKinds,
};

/** Puts a case to this program by every way in; `platform` names the primitives on which it runs. */
export async function runCase(
  kind: string,
  one: SelftestCase,
  tests: Kind,
  platform: string,
): Promise<CaseResult[]> {
  const at = (way: string) => ({ kind, id: one.id, way: `${way} (${platform})` });
  try {
    const outcomes = await tests.outcomes(one.input);
    return [...outcomes].map(([way, outcome]) => ({ ...at(way), ...compared(one, outcome) }));
  } catch (error) {
    // An internal error of the verifier fails the case, and the other cases still run.
    const reason = `the verifier failed: ${error instanceof Error ? error.message : String(error)}`;
    return tests.ways.map((way) => ({ ...at(way), state: 'failed', reason, ...about(one) }));
  }
}

const about = ({ flags, expected }: SelftestCase) => ({ flags, expected });

function compared(one: SelftestCase, outcome: Outcome): Pick<CaseResult, 'state' | 'reason' | 'actual'> {
  const actual = plain(outcome);
  const wrong = differences(one.expected, actual);
  if (wrong.length === 0) return { state: 'passed' };
  return { state: 'failed', reason: `wrong ${wrong.join(', ')}`, ...about(one), actual };
}
