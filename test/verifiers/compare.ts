import { join } from 'node:path';
import { buildCase } from './cases/build.ts';
import { makePlan, type Plan } from './cases/plan.ts';
import { type Answer, answerCase, Desk, type Verifier } from './verifiers.ts';

/** A plan about which two verifiers differ, with their answers. */
export type Difference = {
  readonly seed: number;
  readonly plan: Plan;
  readonly ours: Answer;
  readonly theirs: Answer;
};

/** What the answers to many cases were. */
export type Tally = {
  readonly verdicts: Map<string, number>;
  readonly codes: Map<string, number>;
  /** Cases with one verdict and different codes, by the codes that only one answer has: `+` ours, `-` theirs. */
  readonly codeDifferences: Map<string, number>;
  readonly differences: Difference[];
};

export const makeTally = (): Tally => ({
  verdicts: new Map(),
  codes: new Map(),
  codeDifferences: new Map(),
  differences: [],
});

const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};

const BATCH = 16;

/** A verifier with folders for the cases that it is asked about. */
export class Lane {
  readonly #verifier: Verifier;
  readonly #desks: readonly Desk[];

  constructor(verifier: Verifier, folder: string) {
    this.#verifier = verifier;
    this.#desks = Array.from({ length: BATCH }, (_, i) => new Desk(join(folder, String(i))));
  }

  /** The answers of both verifiers to at most 16 plans. */
  async ask(plans: readonly Plan[]): Promise<{ ours: Answer; theirs: Answer }[]> {
    const cases = plans.map(buildCase);
    const questions = cases.map((one, i) => this.#desks[i]!.write(one));
    const theirs = this.#verifier(questions);
    theirs.catch(() => undefined); // awaited below
    const ours: Answer[] = [];
    for (const [i, one] of cases.entries()) ours.push(await answerCase(one, questions[i]!));
    return (await theirs).map((other, i) => ({ ours: ours[i]!, theirs: other }));
  }

  /** Compares the cases with the seeds from `first` up to `end`, and counts the answers. */
  async compare(first: number, end: number, tally: Tally): Promise<void> {
    for (let start = first; start < end; start += BATCH) {
      const seeds = Array.from({ length: Math.min(BATCH, end - start) }, (_, i) => start + i);
      const answers = await this.ask(seeds.map(makePlan));
      for (const [i, { ours, theirs }] of answers.entries()) {
        countAnswers(tally, ours, theirs);
        if (differ(ours, theirs)) tally.differences.push(await this.#shrink(seeds[i]!, { ours, theirs }));
      }
    }
  }

  /** The difference after every edit without which it remains was left out. */
  async #shrink(seed: number, answers: { ours: Answer; theirs: Answer }): Promise<Difference> {
    let smallest: Difference = { seed, plan: makePlan(seed), ...answers };
    for (;;) {
      const plans = listSmaller(smallest.plan);
      const tried = (await this.ask(plans)).map((pair, i) => ({ seed, plan: plans[i]!, ...pair }));
      const smaller = tried.find(({ ours, theirs }) => differ(ours, theirs));
      if (smaller === undefined) return smallest;
      smallest = smaller;
    }
  }
}

/** The completeness of an export that failed is not compared: it depends on what was read before the fault. */
const differ = (ours: Answer, theirs: Answer): boolean =>
  [ours.crash, theirs.crash].some((crash) => crash !== undefined) ||
  ours.verdict !== theirs.verdict ||
  (ours.verdict !== 'failed' && ours.completeness !== theirs.completeness);

/** Plans that have one edit, bundle or report less. */
function listSmaller(plan: Plan): Plan[] {
  const fewer = plan.edits.map((_, i) => ({ ...plan, edits: plan.edits.toSpliced(i, 1) }));
  const more: Plan[] = [];
  if (plan.form !== 'part') more.push({ ...plan, form: 'part' });
  if (plan.form === 'one file' || plan.form === 'bag') more.push({ ...plan, form: 'folder' });
  if (plan.bundles > 1) more.push({ ...plan, bundles: 1 });
  if (plan.reports > 0) more.push({ ...plan, reports: 0 });
  return [...fewer, ...more];
}

function countAnswers(tally: Tally, ours: Answer, theirs: Answer): void {
  count(tally.verdicts, ours.verdict ?? 'crash');
  const [mine, others] = [ours.codes ?? [], theirs.codes ?? []];
  for (const code of mine) count(tally.codes, code);
  const only = [
    ...mine.filter((code) => !others.includes(code)).map((code) => `+${code}`),
    ...others.filter((code) => !mine.includes(code)).map((code) => `-${code}`),
  ];
  if (only.length > 0 && !differ(ours, theirs)) count(tally.codeDifferences, only.join(' '));
}

/** The counts, largest first. */
export const formatCounts = (counts: ReadonlyMap<string, number>): string =>
  Array.from(counts)
    .toSorted((a, b) => b[1] - a[1])
    .map(([name, number]) => `  ${String(number).padStart(6)}  ${name}\n`)
    .join('');
