import { count } from '../../bytes/text/wording.ts';
import {
  type BundleReport,
  type Check,
  type CheckState,
  type ExportReport,
  type Outcome,
  type SignedBy,
  type Verdict,
  VERDICTS,
} from '../../verify/report.ts';
import { type CheckId, CHECK_IDS } from '../../verify/checks.ts';

export const partsOf = (report: ExportReport | BundleReport): readonly BundleReport[] =>
  report.kind === 'export' ? report.parts : [report];

/** `128 verified`, for each verdict that occurs, best first. */
export const listVerdicts = (reports: readonly { readonly verdict: Verdict }[]): readonly string[] =>
  VERDICTS.flatMap((verdict) => {
    const times = reports.filter((report) => report.verdict === verdict).length;
    return times === 0 ? [] : [`${count(times)} ${verdict}`];
  });

export type CheckCount = {
  readonly id: CheckId;
  readonly states: ReadonlyMap<CheckState, number>;
  /** The reasons why some did not run, each with its count. */
  readonly reasons: ReadonlyMap<string, number>;
};

export function countChecks(lists: readonly (readonly Check[])[]): readonly CheckCount[] {
  const rows = new Map<CheckId, { states: Map<CheckState, number>; reasons: Map<string, number> }>();
  for (const check of lists.flat()) {
    const row = rows.get(check.id) ?? { states: new Map(), reasons: new Map() };
    rows.set(check.id, row);
    increase(row.states, check.state);
    if (check.state === 'not_checked' && check.reason !== undefined) increase(row.reasons, check.reason);
  }
  return CHECK_IDS.flatMap((id) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ id, ...row }];
  });
}

function increase<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

type SignerCount = {
  readonly issuer: string;
  readonly keyId: string;
  readonly parts: number;
  readonly firstIssuedAtMs: number;
  readonly lastIssuedAtMs: number;
};

export function countSigners(signers: readonly SignedBy[]): readonly SignerCount[] {
  const rows = new Map<string, SignerCount>();
  for (const { issuer, keyId, issuedAtMs } of signers) {
    const key = JSON.stringify([issuer, keyId]);
    const row = rows.get(key);
    rows.set(key, {
      issuer,
      keyId,
      parts: (row?.parts ?? 0) + 1,
      firstIssuedAtMs: Math.min(row?.firstIssuedAtMs ?? issuedAtMs, issuedAtMs),
      lastIssuedAtMs: Math.max(row?.lastIssuedAtMs ?? issuedAtMs, issuedAtMs),
    });
  }
  return [...rows.values()];
}

/** The verdict of a drill that passed. */
export const GOOD_OUTCOME = 'passed';

/** The outcome in a failed bundle, or in an unsigned one, does not count. */
export const isOutcomeCounted = (part: BundleReport): part is BundleReport & { outcome: Outcome } =>
  part.outcome !== undefined &&
  (part.verdict === 'verified' || (part.verdict === 'intact' && part.signed === true));

/** Drills by the verdict that the evidence gives them. */
type Outcomes = Map<string, number>;

export function countOutcomes(parts: readonly BundleReport[], counts: Outcomes = new Map()): Outcomes {
  for (const part of parts) if (isOutcomeCounted(part)) increase(counts, part.outcome.verdict);
  return counts;
}

/** `300 passed` for each verdict: most frequent first, then by name. */
const formatOutcomes = (counts: Outcomes): readonly string[] =>
  [...counts]
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([verdict, n]) => `${count(n)} ${verdict}`);

export const listOutcomes = (parts: readonly BundleReport[]): readonly string[] =>
  formatOutcomes(countOutcomes(parts));

export const describeBadDrills = (report: ExportReport | BundleReport) =>
  describeBadOutcomes(countOutcomes(partsOf(report)));

/** The drills and their colour if a counted one did not pass: a verdict is only about bytes and signatures. */
export function describeBadOutcomes(
  counts: Outcomes,
): { readonly text: string; readonly tone: 'bad' | 'caution' } | undefined {
  const outcomes = formatOutcomes(counts);
  if (outcomes.every((outcome) => outcome.endsWith(` ${GOOD_OUTCOME}`))) return undefined;
  const tone = outcomes.some((outcome) => outcome.endsWith(' failed')) ? 'bad' : 'caution';
  return { text: `drills: ${outcomes.join(', ')}`, tone };
}

/** A result in one word, and the drills if one did not pass: `verified, drills: 99 passed, 1 failed`. */
export const addBadDrills = (result: string, drills: ReturnType<typeof describeBadOutcomes>): string =>
  drills === undefined ? result : `${result}, ${drills.text}`;

export const describeVerdict = (report: ExportReport | BundleReport): string =>
  addBadDrills(report.verdict, describeBadDrills(report));

export function summarizeOutcomes(parts: readonly BundleReport[]): string {
  const unknown = parts.filter((part) => !isOutcomeCounted(part)).length;
  const rest = unknown === 0 ? [] : [`${count(unknown)} not counted (part failed, unsigned or not read)`];
  return [...listOutcomes(parts), ...rest].join(', ');
}
