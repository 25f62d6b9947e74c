import { count, countNoun } from '../../bytes/text/wording.ts';
import { codeEntry } from '../../codes/catalogue.ts';
import { formatSeverity } from '../text/findings.ts';
import { buildListSection, wrapIndented, wrapLabel, formatMore, sections, type Page } from '../text/page.ts';
import { escapeText } from '../printable.ts';
import {
  listVerdictCounts,
  type FindingCause,
  type NotPassed,
  type PathsSummary,
  type SummaryCollector,
} from './summary.ts';
import { describeBadOutcomes } from '../text/tally.ts';
import { pageOf, type TextOptions } from '../text/text.ts';

/**
 * Renders a summary of many reports: the verdicts, each cause with its first subjects, exports that occur twice, the
 * caveats, the paths that did not pass, and the total in the last line.
 */
export function renderSummary(
  { summary, caveats, notPassed }: SummaryCollector,
  options: TextOptions = {},
): string {
  const page = pageOf(options);
  const facts = summary();
  if (options.detail === 'verdict') return `${formatTotal(page, facts)}\n`;
  const lines = sections(page, [
    {
      title: `Summary of ${countNoun(facts.paths, 'path')}`,
      lines: facts.paths === 0 ? ['  no path was verified'] : [`  ${listVerdictCounts(facts).join(', ')}`],
    },
    { title: 'By cause', lines: facts.causes.flatMap((cause) => formatCause(page, cause)) },
    { title: 'Exports under several paths', lines: formatCopies(page, facts) },
    buildListSection(page, 'What the passes do not mean', caveats),
    { title: 'Not passed', lines: formatNotPassed(page, notPassed, facts.paths - facts.passed) },
  ]);
  return `${[...lines, '', formatTotal(page, facts)].join('\n')}\n`;
}

function formatCause(page: Page, { code, severity, subjects, times, first }: FindingCause): string[] {
  const often = times === subjects ? '' : `, ${count(times)} times`;
  return [
    `  ${formatSeverity(page, severity)} ${page.paint.bold(code)}: ${countNoun(subjects, 'subject')}${often}`,
    ...wrapIndented(page, codeEntry(code).meaning, 4),
    ...first.flatMap(({ path, subject }) =>
      wrapLabel(page, '    - ', escapeText(path === subject ? path : `${path}: ${subject}`)),
    ),
    ...formatMore(subjects - first.length, 4),
  ];
}

function formatCopies(page: Page, { copies }: PathsSummary): string[] {
  return copies.flatMap(({ evidenceExportId, times, same, paths }) => {
    const what = same ? 'with one manifest' : 'with different manifests, which no export has';
    const where = `${paths.map(escapeText).join(', ')}${times > paths.length ? ', …' : ''}`;
    const text = `${escapeText(evidenceExportId)} ${count(times)} times, ${what}: ${where}`;
    return wrapLabel(page, '  - ', text, page.paint[same ? 'dim' : 'bad']);
  });
}

function formatNotPassed(page: Page, list: readonly NotPassed[], all: number): string[] {
  return [
    ...list.flatMap(({ path, word, code = '' }) =>
      wrapLabel(page, `  ${word.padEnd(10)}  `, escapeText(`${path} ${code}`.trimEnd()), page.paint.bad),
    ),
    ...formatMore(all - list.length),
  ];
}

function formatTotal(page: Page, { paths, passed, copies, outcomes }: PathsSummary): string {
  const bad = paths - passed;
  const conflicting = copies.filter(({ same }) => !same).length;
  const drills = describeBadOutcomes(new Map(Object.entries(outcomes)));
  const words = [
    `${count(passed)} of ${countNoun(paths, 'path')} passed${bad === 0 ? '' : `, ${count(bad)} did not`}`,
    ...(conflicting === 0 ? [] : [`${countNoun(conflicting, 'export')} with different manifests`]),
    ...(drills === undefined ? [] : [drills.text]),
  ];
  const tone = paths > 0 && bad + conflicting === 0 ? (drills?.tone ?? 'good') : 'bad';
  return wrapLabel(page, 'TOTAL ', escapeText(words.join('; ')), page.paint[tone]).join('\n');
}
