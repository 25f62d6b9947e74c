import { canonicalJson } from '../bytes/index.ts';

export type Facts = Readonly<Record<string, unknown>>;

/** As it would stand in a file: members without a value are absent. */
export const plain = (facts: Facts): Facts => JSON.parse(JSON.stringify(facts)) as Facts;

const form = (value: unknown): string => (value === undefined ? '' : canonicalJson(value));

/** The members that differ; of both sides, so that nothing more is said than is expected. */
export function differences(expected: Facts, actual: Facts): readonly string[] {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...names].filter((name) => form(expected[name]) !== form(actual[name])).toSorted();
}
