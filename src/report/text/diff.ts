import { isoTime } from '../../bytes/index.ts';
import type { Change, ReportDiff } from '../diff.ts';
import { count, counted, labelled, sections, type Page } from './page.ts';
import { printable } from '../printable.ts';
import { pageOf, type TextOptions } from './text.ts';

const MAX_CHANGES = 500;
const MARK = { appeared: '+', vanished: '-', changed: '~' } as const;
const TIME = /(?:^asOf|At)Ms$/;

/** A difference for people: changed results first, by subject. */
export function renderDiff({ equal, changes }: ReportDiff, options: TextOptions = {}): string {
  const page = pageOf(options);
  const [results, others] = [true, false].map((judgement) =>
    changes.filter((change) => change.judgement === judgement),
  ) as [Change[], Change[]];
  const lines = [
    equal
      ? `${page.paint.good('EQUAL')} results${others.length === 0 ? '' : `, ${counted(others.length, 'other difference')}`}`
      : `${page.paint.bad('DIFFERENT')} results: ${counted(results.length, 'difference')}`,
    ...sections(page, [
      { title: 'Results', lines: changeLines(page, results) },
      { title: 'Other: times, wording, summaries', lines: changeLines(page, removeRepeats(others)) },
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Without changes that parts and reports repeat because the whole changed, such as the time of the verification. */
function removeRepeats(changes: readonly Change[]): Change[] {
  const ofTheWhole = new Set(changes.filter(({ way }) => way.length === 1).map(sameness));
  return changes.filter((change) => change.way.length === 1 || !ofTheWhole.has(sameness(change)));
}

const sameness = ({ way, change, before, after }: Change): string =>
  JSON.stringify([way.at(-1), change, before, after]);

function changeLines(page: Page, changes: readonly Change[]): string[] {
  const subjects = new Map<string, string[]>();
  for (const change of changes.slice(0, MAX_CHANGES)) {
    const [subject, what] = splitWay(change.way);
    const lines = labelled(page, `    ${MARK[change.change]} `, printable(what) + values(change));
    const before = subjects.get(subject) ?? [];
    subjects.set(subject, change.way.at(-1) === 'verdict' ? [...lines, ...before] : [...before, ...lines]);
  }
  const left = changes.length - MAX_CHANGES;
  return [
    ...[...subjects].flatMap(([subject, lines]) => [
      ...labelled(page, '  ', printable(subject)).map(page.paint.bold),
      ...lines,
    ]),
    ...(left > 0 ? [`  and ${count(left)} more; --format json lists them all`] : []),
  ];
}

/** Lists whose items are subjects of their own. */
const SUBJECTS: ReadonlySet<string> = new Set(['results', 'parts', 'localReports']);
const NOUNS: Readonly<Record<string, string>> = {
  results: 'path',
  parts: 'part',
  localReports: 'local report',
  checks: 'check',
  findings: 'finding',
  causes: 'cause',
  copies: 'copy',
};

/** A way in words: its subject, and the member that changed. */
function splitWay(way: readonly string[]): readonly [subject: string, what: string] {
  let split = 0;
  for (let i = 0; i + 1 < way.length; i++) if (SUBJECTS.has(way[i]!) && i + 2 < way.length) split = i + 2;
  const subject = words(way.slice(0, split), true);
  return [subject === '' ? 'the report' : subject, words(way.slice(split), false)];
}

function words(way: readonly string[], bare: boolean): string {
  const steps: string[] = [];
  for (let i = 0; i < way.length; i++) {
    const step = way[i]!;
    const noun = NOUNS[step];
    const item = way[i + 1];
    if (noun !== undefined && item !== undefined) {
      steps.push(bare ? nameOf(item) : `${noun} ${nameOf(item)}`);
      i++;
    } else if (step !== 'result') {
      steps.push(isJson(step) ? nameOf(step) : step);
    }
  }
  return steps.join(bare ? ', ' : ' ');
}

const isJson = (step: string): boolean => step.startsWith('[') || step.startsWith('"');

/** The names in a key of an item, as `treeOf` makes it. */
function nameOf(key: string): string {
  const [, json = '', times = ''] = /^(.*[\]"])((?:#\d+)?)$/s.exec(key) ?? [];
  if (json === '') return key;
  const value: unknown = JSON.parse(json);
  const names = (Array.isArray(value) ? value : [value]).filter((name) => typeof name === 'string');
  return `${names.join(' ')}${times}`;
}

function values({ change, way, before, after }: Change): string {
  const name = way.at(-1) ?? '';
  const show = (value: Change['before']): string =>
    typeof value === 'number' && TIME.test(name) ? isoTime(value) : printable(String(value));
  if (change === 'changed' && before !== undefined && after !== undefined)
    return `: ${show(before)} → ${show(after)}`;
  const value = before ?? after;
  // The key of an item of a plain list is its value.
  return value === undefined || isJson(name) ? '' : `: ${show(value)}`;
}
