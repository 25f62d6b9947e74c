import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measure, median, type Contender, type Measured } from '../../bench/measure.ts';
import { missing } from '../../bench/peers.ts';
import { writePage } from '../../bench/page.ts';
import type { Race } from '../../bench/race.ts';
import { RACES } from '../../bench/races.ts';
import { compare, resultText } from '../../bench/results.ts';
import { makeFolder } from '../support/folder.ts';

const folder = await makeFolder();

const race: Race = {
  name: 'sample',
  title: 'A `sample`',
  target: 0.5,
  yardstick: 'theirs <1>',
  prepare: () => Promise.resolve([]),
};
const makeMeasured = (name: string, speed: number): Measured => ({
  name,
  isRate: true,
  parts: 1,
  speed,
  lowest: speed - 1,
  highest: speed + 1,
  runs: 5,
  cpuS: 0.5,
  rssBytes: 2 ** 20,
});

const shell = (name: string, script: string): Contender => ({ name, command: ['sh', '-c', script] });

it.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[7], 7],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

describe('measure', () => {
  const log = join(folder, 'log');
  it('contenders take turns, and each round begins with a different one', () => {
    const contenders = ['a', 'b', 'c'].map((name) => shell(name, `echo ${name} >> ${log}`));
    measure(contenders, 3);
    expect(readFileSync(log, 'utf8').replaceAll('\n', '')).toBe('abcbcacab');
  });

  it.each([
    ['a line with "per second"', 'echo 12.5 per second'],
    ['the output of wrk', 'echo Requests/sec: 12.5'],
  ])('%s replaces the time of the run', (_, script) => {
    expect(measure([shell('a', script)], 1)).toMatchObject([{ isRate: true, speed: 12.5 }]);
  });

  it.each([
    ['ends with an exit code other than 0', 'exit 3'],
    ['counts failed requests', 'echo Non-2xx or 3xx responses: 1; echo Requests/sec: 9'],
    ['does not exist', undefined],
  ])('a contender that %s ends the race', (_, script) => {
    const contender =
      script === undefined ? { name: 'a', command: ['/absent'] as const } : shell('a', script);
    expect(() => measure([contender], 1)).toThrow('a ended with');
  });
});

it('the ratio is our speed divided by that of the yardstick', () => {
  const outcome = compare(race, [makeMeasured('ours', 300), makeMeasured('theirs <1>', 400)], []);
  expect(outcome.ratio).toBe(0.75);
});

it('a missing yardstick leaves no ratio, and its peer is named', () => {
  const outcome = compare(race, [makeMeasured('ours', 300)], [{ name: 'theirs <1>', peer: 'wrk' }]);
  expect(outcome.ratio).toBeUndefined();
  expect(resultText(outcome)).toContain('Missing: theirs <1>, because wrk is not installed.');
});

it('every race has a unique name and a target', () => {
  expect(new Set(RACES.map(({ name }) => name)).size).toBe(RACES.length);
  for (const { target, maxSeconds } of RACES) expect(target ?? maxSeconds).toBeGreaterThan(0);
});

it('programs that every system has are not missing', () => {
  expect(missing(['sha256sum'])).toEqual([]);
});

it('the page has a row for each race, and names failures and missing peers', () => {
  const outcome = compare(race, [makeMeasured('ours', 300)], []);
  const failed = { race: { ...race, name: 'another' }, failure: 'it broke\nsomewhere' };
  writePage(folder, [outcome, failed]);
  const page = readFileSync(join(folder, 'performance.md'), 'utf8');
  for (const text of ['| sample ', '300 per second', '| missing ', '| another ', 'failed: it broke '])
    expect(page).toContain(text);
});
