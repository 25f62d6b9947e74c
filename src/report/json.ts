import { checkArguments, OBJECT } from '../bytes/arguments.ts';
import type { Report } from '../verify/report.ts';
import { printableJson } from './printable.ts';

// The members a reader looks for first, in this order; the others follow by name.
const FIRST = [
  'schemaVersion',
  'kind',
  'verdict',
  'result',
  'completeness',
  'code',
  'class',
  'severity',
  'id',
  'state',
  'evidenceExportId',
  'evidenceBundleId',
  'localReportId',
  'subject',
  'path',
  'message',
];
const RANK = new Map(FIRST.map((name, index) => [name, index]));
const rank = (name: string): number => RANK.get(name) ?? FIRST.length;
const compareRanks = (a: string, b: string): number => rank(a) - rank(b) || (a < b ? -1 : 1);

/**
 * A report for programs (formats §4): JSON with the members in a fixed order and a newline at the end. The same report
 * gives the same bytes. Characters that act on a terminal are escaped.
 * @throws TypeError for anything that is not an object
 * @example
 * await writeFile('report.json', renderJson(report));
 */
export function renderJson(report: Report): string {
  checkArguments({ report: OBJECT }, { report });
  return stableJson(report);
}

export const stableJson = (value: unknown): string => [...streamJson(value)].join('');

/** The text of `stableJson` in pieces, so that a report on thousands of parts is never one text. */
export function* streamJson(value: unknown, indent = ''): Generator<string, void, undefined> {
  let piece = '';
  for (const text of writeValue(value, indent, DEPTH)) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}\n`;
}

const PIECE_LENGTH = 65_536;
/** The levels that are written in pieces: a result, its report, the list of parts, a part. */
const DEPTH = 3;

function* writeValue(value: unknown, indent: string, depth: number): Generator<string, void, undefined> {
  const members = depth === 0 ? [] : listMembers(value);
  if (members.length === 0) {
    const text = JSON.stringify(orderMembers(value), null, 2);
    yield printableJson(text.replaceAll('\n', `\n${indent}`));
    return;
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const inner = `${indent}  `;
  for (const [i, [name, member]] of members.entries()) {
    yield `${i === 0 ? open : ','}\n${inner}`;
    if (name !== undefined) yield `${printableJson(JSON.stringify(name))}: `;
    yield* writeValue(member, inner, depth - 1);
  }
  yield `\n${indent}${close}`;
}

type Member = readonly [name: string | undefined, value: unknown];

/** The members of an object in their order, or the items of a list; none of anything else. */
function listMembers(value: unknown): readonly Member[] {
  if (Array.isArray(value)) return value.map((item): Member => [undefined, item]);
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // An object puts names that are numbers first, whatever their order.
  return Object.entries(Object.fromEntries(members.toSorted(([a], [b]) => compareRanks(a, b))));
}

function orderMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(orderMembers);
  if (typeof value !== 'object' || value === null) return value;
  const members = listMembers(value) as readonly (readonly [string, unknown])[];
  return Object.fromEntries(members.map(([name, member]) => [name, orderMembers(member)]));
}
