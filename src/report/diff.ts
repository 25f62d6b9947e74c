import * as z from 'zod/mini';
import { optionalMember } from '../contract/scalars.ts';
import { compareUtf8 } from '../bytes/text/encoding.ts';
import { defined } from '../bytes/arguments.ts';
import { countNoun, isoTime } from '../bytes/text/wording.ts';
import type { JsonValue } from '../bytes/json/parse.ts';
import { wrapLabel, formatMore, type Page, sections } from './text/page.ts';
import { escapeText } from './printable.ts';
import { pageOf, type TextOptions } from './text/text.ts';
import { isObject } from '../trust/faults.ts';

const leafSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const changeSchema = z.strictObject({
  change: z.enum(['appeared', 'vanished', 'changed']),
  way: z.array(z.string()).check(z.describe('members, and for items of lists a JSON array of their names')),
  counted: z.boolean().check(z.describe('false for times, wordings and values that follow from the results')),
  before: optionalMember(leafSchema),
  after: optionalMember(leafSchema),
});
export type ReportChange = Readonly<z.infer<typeof changeSchema>>;

export const reportDiffSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('report-diff'),
  equal: z.boolean().check(z.describe('whether both state the same about the same evidence')),
  changes: z.array(changeSchema),
});
type ReportDiff = Readonly<z.infer<typeof reportDiffSchema>>;

/** Members for times, options and wording, which are not results. A summary follows from the results. */
const NOT_RESULTS: ReadonlySet<string> = new Set(['asOfMs', 'message', 'reason', 'action', 'summary', 'run']);

/**
 * Every difference of two reports. Items of lists are compared by what they are about (a part by its bundle, a check by
 * its id, a finding by code, subject and path), so their order does not count. `diffReports(b, a)` is the mirror image.
 */
export function diffReports(before: JsonValue, after: JsonValue): ReportDiff {
  const changes = compare(buildTree(before), buildTree(after), []);
  return {
    schemaVersion: 1,
    kind: 'report-diff',
    equal: changes.every(({ counted }) => !counted),
    changes,
  };
}

function compare(before: Tree | undefined, after: Tree | undefined, way: string[]): ReportChange[] {
  if (before === undefined || after === undefined) return listOneSided(before, after, way);
  if (isBranch(before) && isBranch(after)) {
    const kinds = compareLeaf(before.get('kind'), after.get('kind'), [...way, 'kind']);
    // A part is not compared with an export, because the change of the kind is enough.
    if (kinds.length > 0) return kinds;
    const names = [...new Set([...before.keys(), ...after.keys()])].toSorted(compareUtf8);
    return names.flatMap((name) => compare(before.get(name), after.get(name), [...way, name]));
  }
  return compareLeaf(before, after, way);
}

/** A value on one side only is one change, whatever it contains. */
function listOneSided(before: Tree | undefined, after: Tree | undefined, way: string[]): ReportChange[] {
  const [change, tree] =
    after === undefined ? (['vanished', before] as const) : (['appeared', after] as const);
  const side = after === undefined ? 'before' : 'after';
  if (tree === undefined) return [];
  return [{ change, way, counted: isCounted(way), ...defined({ [side]: leafOf(tree) }) }];
}

function compareLeaf(before: Tree | undefined, after: Tree | undefined, way: string[]): ReportChange[] {
  if (before === after) return [];
  const shown = defined({ before: leafOf(before), after: leafOf(after) });
  return [{ change: 'changed', way, counted: isCounted(way), ...shown }];
}

const isCounted = (way: readonly string[]): boolean => !way.some((step) => NOT_RESULTS.has(step));

const leafOf = (tree: Tree | undefined): Leaf | undefined => (isBranch(tree) ? undefined : tree);

/** A report as names and values: items of lists are named by their subject, not by their position. */
type Tree = ReadonlyMap<string, Tree> | Leaf;
type Leaf = z.infer<typeof leafSchema>;

const isBranch = (tree: Tree | undefined): tree is ReadonlyMap<string, Tree> => tree instanceof Map;

/** The members that name an item of a list, by the name of the list; items of other lists are named by their value. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  results: ['path'],
  parts: ['evidenceBundleId', 'path'],
  localReports: ['localReportId', 'path'],
  checks: ['id'],
  findings: ['code', 'subject', 'path'],
  causes: ['code'],
  copies: ['evidenceExportId'],
  inputs: ['name'],
  evidence: ['id', 'path'],
  rules: ['rule'],
  violations: ['code', 'subject', 'set', 'path'],
  candidates: ['subject', 'path'],
  waivers: ['code', 'subject'],
  sets: ['set'],
  runs: ['project', 'drill', 'target'],
};

function buildTree(value: JsonValue, name = ''): Tree {
  if (Array.isArray(value)) return buildListTree(value, name);
  if (!isObject(value)) return value;
  return new Map(Object.entries(value).map(([member, inner]) => [member, buildTree(inner, member)]));
}

function buildListTree(items: readonly JsonValue[], name: string): Tree {
  const tree = new Map<string, Tree>();
  const times = new Map<string, number>();
  for (const item of items) {
    const key = keyOf(item, NAMES[name]);
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    // A key is JSON and ends with a quote or a bracket, so it cannot be confused with a repeated one.
    tree.set(before === 0 ? key : `${key}#${before + 1}`, buildTree(item));
  }
  return tree;
}

function keyOf(item: JsonValue, names: readonly string[] | undefined): string {
  if (names === undefined || !isObject(item)) return JSON.stringify(item);
  return JSON.stringify(names.map((name) => item[name] ?? null));
}

const MAX_CHANGES = 500;
const MARK = { appeared: '+', vanished: '-', changed: '~' } as const;
const TIME = /(?:^asOf|At)Ms$/;

export function renderDiff({ equal, changes }: ReportDiff, options: TextOptions = {}): string {
  const page = pageOf(options);
  const [results, others] = [true, false].map((counted) =>
    changes.filter((change) => change.counted === counted),
  ) as [ReportChange[], ReportChange[]];
  const lines = [
    equal
      ? `${page.paint.good('EQUAL')} results${others.length === 0 ? '' : `, ${countNoun(others.length, 'other difference')}`}`
      : `${page.paint.bad('DIFFERENT')} results: ${countNoun(results.length, 'difference')}`,
    ...sections(page, [
      { title: 'Results', lines: formatChanges(page, results) },
      { title: 'Other: times, wording, summaries', lines: formatChanges(page, removeRepeats(others)) },
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Removes changes that parts repeat because the complete report has them, such as the time of the verification. */
function removeRepeats(changes: readonly ReportChange[]): ReportChange[] {
  const topLevel = new Set(changes.filter(({ way }) => way.length === 1).map(groupKey));
  return changes.filter((change) => change.way.length === 1 || !topLevel.has(groupKey(change)));
}

const groupKey = ({ way, change, before, after }: ReportChange): string =>
  JSON.stringify([way.at(-1), change, before, after]);

function formatChanges(page: Page, changes: readonly ReportChange[]): string[] {
  const subjects = new Map<string, string[]>();
  for (const change of changes.slice(0, MAX_CHANGES)) {
    const [subject, what] = splitWay(change.way);
    const lines = wrapLabel(page, `    ${MARK[change.change]} `, escapeText(what) + formatValues(change));
    const before = subjects.get(subject) ?? [];
    subjects.set(subject, change.way.at(-1) === 'verdict' ? [...lines, ...before] : [...before, ...lines]);
  }
  return [
    ...[...subjects].flatMap(([subject, lines]) => [
      ...wrapLabel(page, '  ', escapeText(subject)).map(page.paint.bold),
      ...lines,
    ]),
    ...formatMore(changes.length - MAX_CHANGES),
  ];
}

const SUBJECTS: ReadonlySet<string> = new Set(['results', 'parts', 'localReports', 'evidence', 'rules']);
const NOUNS: Readonly<Record<string, string>> = {
  results: 'path',
  parts: 'part',
  localReports: 'local report',
  checks: 'check',
  findings: 'finding',
  causes: 'cause',
  copies: 'copy',
  inputs: 'input',
  evidence: 'bundle',
  rules: 'rule',
  violations: 'violation',
  waivers: 'waiver',
  sets: 'set',
  runs: 'drill',
};

function splitWay(way: readonly string[]): readonly [subject: string, what: string] {
  let split = 0;
  for (let i = 0; i + 1 < way.length; i++) if (SUBJECTS.has(way[i]!) && i + 2 < way.length) split = i + 2;
  const subject = formatWay(way.slice(0, split), true);
  return [subject === '' ? 'the report' : subject, formatWay(way.slice(split), false)];
}

function formatWay(way: readonly string[], bare: boolean): string {
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

/** The names in a key of an item, as `buildTree` makes it. */
function nameOf(key: string): string {
  const [, json = '', times = ''] = /^(.*[\]"])((?:#\d+)?)$/s.exec(key) ?? [];
  if (json === '') return key;
  const value: unknown = JSON.parse(json);
  const names = (Array.isArray(value) ? value : [value]).filter((name) => typeof name === 'string');
  return `${names.join(' ')}${times}`;
}

function formatValues({ change, way, before, after }: ReportChange): string {
  const name = way.at(-1) ?? '';
  const show = (value: ReportChange['before']): string =>
    typeof value === 'number' && TIME.test(name) ? isoTime(value) : escapeText(String(value));
  if (change === 'changed' && before !== undefined && after !== undefined)
    return `: ${show(before)} → ${show(after)}`;
  const value = before ?? after;
  // The key of an item of a plain list is its value.
  return value === undefined || isJson(name) ? '' : `: ${show(value)}`;
}
