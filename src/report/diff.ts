import { compareUtf8, type JsonValue } from '../bytes/index.ts';
import { isBranch, treeOf, type Tree } from './diff-tree.ts';

/** One difference. The way says where: names of members, and for items of lists what they are about. */
export type Change = {
  readonly change: 'appeared' | 'vanished' | 'changed';
  readonly way: readonly string[];
  /** Whether it is part of the judgement; a time, a message or a count of a summary is not. */
  readonly judgement: boolean;
  readonly before?: string | number | boolean | null;
  readonly after?: string | number | boolean | null;
};

export type ReportDiff = {
  readonly schemaVersion: 1;
  readonly kind: 'report-diff';
  /** Whether both say the same of the same evidence. */
  readonly equal: boolean;
  readonly changes: readonly Change[];
};

/** Members that say when, how and in which words; not results. A summary follows from the results. */
const TOLD: ReadonlySet<string> = new Set(['asOfMs', 'message', 'reason', 'action', 'summary', 'run']);

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

function compare(before: Tree | undefined, after: Tree | undefined, way: readonly string[]): Change[] {
  if (before === undefined || after === undefined) return oneSided(before, after, way);
  if (isBranch(before) && isBranch(after)) {
    const kinds = compareLeaf(before.get('kind'), after.get('kind'), [...way, 'kind']);
    // A part is not compared with an export: that the one took the place of the other says it.
    if (kinds.length > 0) return kinds;
    const names = [...new Set([...before.keys(), ...after.keys()])].toSorted(compareUtf8);
    return names.flatMap((name) => compare(before.get(name), after.get(name), [...way, name]));
  }
  return compareLeaf(before, after, way);
}

/** What stands on one side only is one change, whatever it holds. */
function oneSided(before: Tree | undefined, after: Tree | undefined, way: readonly string[]): Change[] {
  const [change, tree] =
    after === undefined ? (['vanished', before] as const) : (['appeared', after] as const);
  const side = after === undefined ? 'before' : 'after';
  if (tree === undefined) return [];
  return [{ change, way, judgement: isJudgement(way), ...(!isBranch(tree) && { [side]: tree }) }];
}

function compareLeaf(before: Tree | undefined, after: Tree | undefined, way: readonly string[]): Change[] {
  if (before === after) return [];
  const shown = {
    ...(before !== undefined && !isBranch(before) && { before }),
    ...(after !== undefined && !isBranch(after) && { after }),
  };
  return [{ change: 'changed', way, judgement: isJudgement(way), ...shown }];
}

const isJudgement = (way: readonly string[]): boolean => !way.some((step) => TOLD.has(step));
