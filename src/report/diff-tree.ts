import type { JsonValue } from '../bytes/index.ts';

/** A report as names and values: what a list holds stands under what it is about, not under where it stands. */
export type Tree = ReadonlyMap<string, Tree> | string | number | boolean | null;

export const isBranch = (tree: Tree | undefined): tree is ReadonlyMap<string, Tree> => tree instanceof Map;

type Members = Readonly<Record<string, JsonValue>>;

const isMembers = (value: JsonValue): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What an item of a list is about, by the name of the list; an item of any other list is what it says. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  results: ['path'],
  parts: ['evidenceBundleId', 'path'],
  localReports: ['localReportId', 'path'],
  checks: ['id'],
  findings: ['code', 'subject', 'path'],
  causes: ['code'],
  copies: ['evidenceExportId'],
};

export function treeOf(value: JsonValue, name = ''): Tree {
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
    // Written as JSON, a key ends with a quote or a bracket: no key can be taken for the second of another.
    tree.set(before === 0 ? key : `${key}#${before + 1}`, treeOf(item));
  }
  return tree;
}

function keyOf(item: JsonValue, names: readonly string[] | undefined): string {
  if (names === undefined || !isMembers(item)) return JSON.stringify(item);
  return JSON.stringify(names.map((name) => item[name] ?? null));
}
