import { canonicalJson } from '../bytes/json/canonical.ts';
import { bytesKinds } from './kinds/bytes.ts';
import { documentsKinds } from './kinds/documents.ts';
import { policiesKinds } from './kinds/policies.ts';
import { evidenceKinds } from './kinds/evidence.ts';
import { trustKinds } from './kinds/trust.ts';
import type { CaseKind, CaseOutcome } from './outcome.ts';
import type { SelftestCase } from './case-folder.ts';

/** The result of one case in one way. Neither `unsupported` nor `not_run` passes. */
export type CaseResult = {
  readonly kind: string;
  readonly id: string;
  readonly way: string;
  readonly state: 'passed' | 'failed' | 'unsupported' | 'not_run';
  /** Why it did not pass. */
  readonly reason?: string;
  /** The bugs that such a verifier has. */
  readonly flags?: readonly string[];
  readonly expected?: PlainFacts;
  readonly actual?: PlainFacts;
  /** Only the verdict was reported, so nothing else was compared. */
  readonly verdictOnly?: boolean;
};

const COUNTS = ['cases', 'passed', 'failed', 'unsupported', 'notRun', 'verdictOnly'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;
type KindResult = Readonly<Counts> & { readonly kind: string; readonly ways: readonly string[] };

/** The result of a selftest, as `drillproof selftest --json` prints it. */
export type SelftestReport = {
  readonly schemaVersion: 1;
  readonly kind: 'selftest';
  readonly verdict: 'passed' | 'failed' | 'not_checked';
  /** What was tested: this program, or the command. */
  readonly target: string;
  readonly total: Readonly<Counts>;
  readonly kinds: readonly KindResult[];
  /** Every result that is failed or not_run. */
  readonly failures: readonly CaseResult[];
};

const countResults = (results: readonly CaseResult[]): Counts => {
  const countState = (state: CaseResult['state']): number =>
    results.filter((result) => result.state === state).length;
  return {
    cases: new Set(results.map(({ id }) => id)).size,
    passed: countState('passed'),
    failed: countState('failed'),
    unsupported: countState('unsupported'),
    notRun: countState('not_run'),
    verdictOnly: results.filter(({ verdictOnly }) => verdictOnly === true).length,
  };
};

const addCounts = (a: Counts, b: Counts): Counts => {
  const total = { ...a };
  for (const name of COUNTS) total[name] += b[name];
  return total;
};

function summarizeKind(kind: string, results: readonly CaseResult[]): KindResult {
  const ofKind = results.filter((result) => result.kind === kind);
  return { kind, ...countResults(ofKind), ways: [...new Set(ofKind.map(({ way }) => way))] };
}

export function selftestReport(target: string, results: readonly CaseResult[]): SelftestReport {
  const kinds = [...new Set(results.map(({ kind }) => kind))].map((kind) => summarizeKind(kind, results));
  const failures = results.filter(({ state }) => state === 'failed' || state === 'not_run');
  return makeReport(target, kinds, failures);
}

/** Without cases, or if a case did not run, nothing is proven. */
function makeReport(
  target: string,
  kinds: readonly KindResult[],
  failures: readonly CaseResult[],
): SelftestReport {
  const total = kinds.reduce<Counts>(addCounts, countResults([]));
  const open = total.notRun > 0 || total.passed === 0;
  const verdict = total.failed > 0 ? 'failed' : open ? 'not_checked' : 'passed';
  return { schemaVersion: 1, kind: 'selftest', verdict, target, total, kinds, failures };
}

export type PlainFacts = Readonly<Record<string, unknown>>;

/** Removes members without a value, as a file would. */
export const toPlain = (facts: PlainFacts): PlainFacts => JSON.parse(JSON.stringify(facts)) as PlainFacts;

const formatValue = (value: unknown): string => (value === undefined ? '' : canonicalJson(value));

/** The members that differ, including unexpected ones. */
export function listDifferences(expected: PlainFacts, actual: PlainFacts): readonly string[] {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...names].filter((name) => formatValue(expected[name]) !== formatValue(actual[name])).toSorted();
}

/** The tests of each kind. */
export const CASE_KINDS: Readonly<Record<string, CaseKind>> = {
  ...bytesKinds,
  ...trustKinds,
  ...documentsKinds,
  ...evidenceKinds,
  ...policiesKinds,
};

/** Looks up a kind that others may have added; `undefined` for an unknown one. */
export const findCaseKind = (kind: string): CaseKind | undefined =>
  Object.hasOwn(CASE_KINDS, kind) ? CASE_KINDS[kind] : undefined;

/** Runs a case in every way. `platform` names the primitives in use. */
export async function runCase(
  kind: string,
  testCase: SelftestCase,
  tests: CaseKind,
  platform: string,
): Promise<CaseResult[]> {
  const at = (way: string) => ({ kind, id: testCase.id, way: `${way} (${platform})` });
  try {
    const outcomes = await tests.outcomes(testCase.input);
    return [...outcomes].map(([way, outcome]) => ({ ...at(way), ...compareOutcome(testCase, outcome) }));
  } catch (error) {
    // An internal error of the verifier fails the case, and the other cases still run.
    const reason = `the verifier failed: ${error instanceof Error ? error.message : String(error)}`;
    return tests.ways.map((way) => ({ ...at(way), state: 'failed', reason, ...selectContext(testCase) }));
  }
}

const selectContext = ({ flags, expected }: SelftestCase) => ({ flags, expected });

/** Without an optional package, some cases cannot be tried. */
export const isUnsupported = ({ code }: CaseOutcome): boolean => code === 'io.PACKAGE_MISSING';

function compareOutcome(
  testCase: SelftestCase,
  outcome: CaseOutcome,
): Pick<CaseResult, 'state' | 'reason' | 'actual'> {
  if (isUnsupported(outcome)) return { state: 'unsupported' };
  const actual = toPlain(outcome);
  const wrong = listDifferences(testCase.expected, actual);
  if (wrong.length === 0) return { state: 'passed' };
  return { state: 'failed', reason: `wrong ${wrong.join(', ')}`, ...selectContext(testCase), actual };
}
