import { count, countNoun } from '../../bytes/text/wording.ts';
import { escapeText } from '../../report/printable.ts';
import type { CaseResult, SelftestReport } from '../../selftest/result.ts';
import type { Cli } from '../cli.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { formatTable, writeReport } from '../shared/output/product.ts';

const EXITS: Readonly<Record<SelftestReport['verdict'], ExitCode>> = {
  passed: EXIT.pass,
  failed: EXIT.bad,
  not_checked: EXIT.unchecked,
};

const MAX_FAILURES = 50;
const HEADING = ['kind', 'cases', 'ways', 'passed', 'failed', 'unsupported', 'not run'];

export async function writeSelftest(cli: Cli, report: SelftestReport): Promise<void> {
  cli.exitCode = EXITS[report.verdict];
  const { verdict, total } = report;
  const line = `${verdict.replace('_', ' ')}: ${formatTotals(total)}`;
  await writeReport(cli, report, `${formatSelftest(report)}${line}\n`, line);
}

function formatSelftest({ kinds, failures }: SelftestReport): string {
  const rows = kinds.map((row) =>
    [row.kind, row.cases, row.ways.length, row.passed, row.failed, row.unsupported, row.notRun].map(String),
  );
  const omitted = failures.length - MAX_FAILURES;
  return [
    formatTable(HEADING, rows),
    ...failures.slice(0, MAX_FAILURES).map(failureText),
    omitted > 0 ? `\nand ${count(omitted)} more; --json has all of them\n` : '',
    '\n',
  ].join('');
}

function formatTotals({
  cases,
  passed,
  failed,
  unsupported,
  notRun,
  verdictOnly,
}: SelftestReport['total']): string {
  const words = [
    `${countNoun(cases, 'case')} in ${countNoun(passed + failed, 'run')}`,
    `${count(passed)} passed${verdictOnly > 0 ? ` (${count(verdictOnly)} of them by the verdict only)` : ''}`,
    `${count(failed)} failed`,
    ...(unsupported > 0 ? [`${count(unsupported)} unsupported`] : []),
    ...(notRun > 0 ? [`${count(notRun)} not run`] : []),
  ];
  return words.join(', ');
}

function failureText({ kind, id, way, state, reason, flags, expected, actual }: CaseResult): string {
  const lines = [
    `\n${state.replace('_', ' ')}  ${kind}/${id}, ${way}: ${escapeText(reason ?? '')}`,
    ...(flags === undefined || flags.length === 0 ? [] : [`  bug       ${escapeText(flags.join(', '))}`]),
    ...(expected === undefined ? [] : [`  expected  ${shortenValue(expected)}`]),
    ...(actual === undefined ? [] : [`  actual    ${shortenValue(actual)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

const MAX_LENGTH = 400;

function shortenValue(value: unknown): string {
  const text = escapeText(JSON.stringify(value));
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
