import { comparePolicies, type PolicyChange, rebuildInputs } from '../../policy/compare.ts';
import { evaluate } from '../../policy/evaluate.ts';
import type { Answer } from '../../policy/decision.ts';
import { escapeText } from '../../report/printable.ts';
import { MAX_REPORT_BYTES } from '../../report/many/reports.ts';
import { openReport } from '../../report/signed/statement.ts';
import { pageOf } from '../../report/text/text.ts';
import { sections, wrapLabel, type Page } from '../../report/text/page.ts';
import { type Cli, describeLook } from '../cli.ts';
import { EXIT } from '../exit.ts';
import { readInput, withFileName } from '../shared/input/input.ts';
import { openPolicy } from '../shared/input/policy.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { caFileOption, STANDARD } from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { writeProduct } from '../shared/output/product.ts';

export const DIFF = [
  ...STANDARD,
  option('--decision <file>', 'a past decision in JSON: say whether its answer would change').repeat(),
  caFileOption(),
];

/** What would have been answered; `undefined` if the decision does not have enough of its evidence. */
type PastAnswer = {
  readonly decision: string;
  readonly answer: Answer;
  readonly before?: Answer;
  readonly after?: Answer;
  readonly rules: readonly string[];
};

export async function diffPolicies(
  cli: Cli,
  before: string,
  after: string,
  options: OptionsOf<typeof DIFF>,
): Promise<void> {
  const read = (file: string) => openPolicy(cli, file, { ...options, param: 'sample' });
  const changes = comparePolicies(await read(before), await read(after));
  const decisions: PastAnswer[] = [];
  for (const file of options.decision ?? [])
    decisions.push(await answerAgain(cli, file, [before, after], options));
  const page = pageOf(describeLook(cli, cli.stdout));
  await writeProduct(
    cli,
    { kind: 'policy-diff', before, after, changes, decisions },
    formatDiff(page, changes, decisions),
  );
  cli.exitCode = changes.length === 0 ? EXIT.pass : EXIT.bad;
}

async function answerAgain(
  cli: Cli,
  file: string,
  policies: readonly [string, string],
  options: OptionsOf<typeof DIFF>,
): Promise<PastAnswer> {
  const bytes = await readInput(file, MAX_REPORT_BYTES, cli);
  const { report } = withFileName(file, () => openReport(bytes));
  if (report.kind !== 'decision')
    throw usageError(`${file} is not a decision`, 'Pass the JSON of a gate: --format json=FILE.');
  const inputs = rebuildInputs(report);
  const answers = [];
  for (const path of policies) {
    const { parameters: param = {} } = report.policy;
    const policy = await openPolicy(cli, path, { ...options, param });
    answers.push(evaluate(inputs, policy, { asOfMs: report.asOfMs }));
  }
  const [before, after] = answers;
  const past = { decision: file, answer: report.answer, rules: [] };
  // A rule about something that a decision does not have would be answered wrongly.
  if (before === undefined || after === undefined || before.answer !== report.answer) return past;
  const rules = after.rules.filter(
    ({ rule, state }) => state !== (before.rules.find((other) => other.rule === rule)?.state ?? 'passed'),
  );
  return {
    ...past,
    before: before.answer,
    after: after.answer,
    rules: before.answer === after.answer ? [] : rules.map(({ rule, state }) => `${rule} ${state}`),
  };
}

const TITLES = { weaker: 'Weaker', stricter: 'Stricter', different: 'Different' } as const;

function formatDiff(page: Page, changes: readonly PolicyChange[], decisions: readonly PastAnswer[]): string {
  const counts = (['stricter', 'weaker', 'different'] as const).map(
    (kind) => `${changes.filter(({ change }) => change === kind).length} ${kind}`,
  );
  const lines = sections(page, [
    ...(['weaker', 'different', 'stricter'] as const).map((kind) => ({
      title: TITLES[kind],
      lines: changes
        .filter(({ change }) => change === kind)
        .flatMap(({ name, before, after }) => [
          `  ${page.paint.bold(escapeText(name))}`,
          ...(before === undefined ? [] : wrapLabel(page, '    - ', escapeText(before))),
          ...(after === undefined ? [] : wrapLabel(page, '    + ', escapeText(after))),
        ]),
    })),
    {
      title: 'Past decisions',
      lines: decisions.flatMap((past) => wrapLabel(page, '  - ', escapeText(formatPast(past)))),
    },
  ]);
  return `${changes.length === 0 ? 'EQUAL' : `DIFFERENT: ${counts.join(', ')}`}\n${lines.join('\n')}\n`;
}

function formatPast({ decision, answer, before, after, rules }: PastAnswer): string {
  if (before === undefined || after === undefined)
    return `${decision}: ${answer}; the decision does not have enough of its evidence to answer again`;
  if (before === after) return `${decision}: ${answer}, as before`;
  return `${decision}: ${answer} would be ${after} (${rules.join(', ')})`;
}
