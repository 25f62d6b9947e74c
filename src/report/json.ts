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

export function stableJson(value: unknown): string {
  return `${printableJson(JSON.stringify(orderMembers(value), null, 2))}\n`;
}

function orderMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(orderMembers);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => compareRanks(a, b));
  return Object.fromEntries(members.map(([name, member]) => [name, orderMembers(member)]));
}
