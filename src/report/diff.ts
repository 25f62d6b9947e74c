import * as z from 'zod/mini';
import { allow } from '../contract/index.ts';
import { compareUtf8, defined, type JsonValue } from '../bytes/index.ts';

const leafSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** One difference. */
const changeSchema = z.strictObject({
  change: z.enum(['appeared', 'vanished', 'changed']),
  way: z
    .array(z.string())
    .check(z.describe('members, and for items of lists a JSON array of what they are about')),
  judgement: z.boolean().check(z.describe('false for times, wordings and what follows from the results')),
  before: allow(leafSchema),
  after: allow(leafSchema),
});
export type Change = Readonly<z.infer<typeof changeSchema>>;

/** The product of `diff`. */
export const reportDiffSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('report-diff'),
  equal: z.boolean().check(z.describe('whether both say the same of the same evidence')),
  changes: z.array(changeSchema),
});
export type ReportDiff = Readonly<z.infer<typeof reportDiffSchema>>;

/** Members for times, options and wording, which are not results. A summary follows from the results. */
const NOT_RESULTS: ReadonlySet<string> = new Set(['asOfMs', 'message', 'reason', 'action', 'summary', 'run']);

/**
 * Every difference of two reports. Items of lists are compared by what they are about (a part by its bundle, a check by
 * its id, a finding by code, subject and path), so their order does not count. `diffReports(b, a)` is the mirror image.
 */
export function diffReports(before: JsonValue, after: JsonValue): ReportDiff {
  const changes = compare(treeOf(before), treeOf(after), []);
  return {
    schemaVersion: 1,
    kind: 'report-diff',
    equal: changes.every(({ judgement }) => !judgement),
    changes,
  };
}

function compare(before: Tree | undefined, after: Tree | undefined, way: string[]): Change[] {
  if (before === undefined || after === undefined) return oneSided(before, after, way);
  if (isBranch(before) && isBranch(after)) {
    const kinds = compareLeaf(before.get('kind'), after.get('kind'), [...way, 'kind']);
    // A part is not compared with an export: the change of the kind says enough.
    if (kinds.length > 0) return kinds;
    const names = [...new Set([...before.keys(), ...after.keys()])].toSorted(compareUtf8);
    return names.flatMap((name) => compare(before.get(name), after.get(name), [...way, name]));
  }
  return compareLeaf(before, after, way);
}

/** Something on one side only is one change, whatever it contains. */
function oneSided(before: Tree | undefined, after: Tree | undefined, way: string[]): Change[] {
  const [change, tree] =
    after === undefined ? (['vanished', before] as const) : (['appeared', after] as const);
  const side = after === undefined ? 'before' : 'after';
  if (tree === undefined) return [];
  return [{ change, way, judgement: isJudgement(way), ...defined({ [side]: leafOf(tree) }) }];
}

function compareLeaf(before: Tree | undefined, after: Tree | undefined, way: string[]): Change[] {
  if (before === after) return [];
  const shown = defined({ before: leafOf(before), after: leafOf(after) });
  return [{ change: 'changed', way, judgement: isJudgement(way), ...shown }];
}

const isJudgement = (way: readonly string[]): boolean => !way.some((step) => NOT_RESULTS.has(step));

const leafOf = (tree: Tree | undefined): Leaf | undefined => (isBranch(tree) ? undefined : tree);

/** A report as names and values: items of lists are named by their subject, not by their position. */
type Tree = ReadonlyMap<string, Tree> | Leaf;
type Leaf = z.infer<typeof leafSchema>;

const isBranch = (tree: Tree | undefined): tree is ReadonlyMap<string, Tree> => tree instanceof Map;

type Members = Readonly<Record<string, JsonValue>>;

const isMembers = (value: JsonValue): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members that name an item of a list, by the name of the list; items of other lists are named by their value. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  results: ['path'],
  parts: ['evidenceBundleId', 'path'],
  localReports: ['localReportId', 'path'],
  checks: ['id'],
  findings: ['code', 'subject', 'path'],
  causes: ['code'],
  copies: ['evidenceExportId'],
};

function treeOf(value: JsonValue, name = ''): Tree {
  if (Array.isArray(value)) return listTree(value, name);
  if (!isMembers(value)) return value;
  return new Map(Object.entries(value).map(([member, inner]) => [member, treeOf(inner, member)]));
}

function listTree(items: readonly JsonValue[], name: string): Tree {
  const tree = new Map<string, Tree>();
  const times = new Map<string, number>();
  for (const item of items) {
    const key = keyOf(item, NAMES[name]);
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    // A key is JSON and ends with a quote or a bracket, so it cannot be confused with a repeated one.
    tree.set(before === 0 ? key : `${key}#${before + 1}`, treeOf(item));
  }
  return tree;
}

function keyOf(item: JsonValue, names: readonly string[] | undefined): string {
  if (names === undefined || !isMembers(item)) return JSON.stringify(item);
  return JSON.stringify(names.map((name) => item[name] ?? null));
}
