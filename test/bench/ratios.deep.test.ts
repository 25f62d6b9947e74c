import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { RACES } from '../../bench/races.ts';
import type { Outcome } from '../../bench/results.ts';

/** The targets are for cores without SHA instructions: with them, a race of hashes is one of start times. */
const WITHOUT_SHA = { ...process.env, OPENSSL_ia32cap: ':~0x20000000' };
const RUN = resolve(import.meta.dirname, '../../bench/run.ts');

describe('the short form of the bench', () => {
  const results = new Map<string, Outcome>();
  beforeAll(() => {
    const args = ['--conditions=drillproof:source', RUN, '--short', '--json'];
    const json = execFileSync(process.execPath, args, { encoding: 'utf8', env: WITHOUT_SHA });
    for (const result of JSON.parse(json) as Outcome[]) results.set(result.race.name, result);
  }, 600_000);

  const rows = RACES.flatMap(({ name, target, inShortForm }) =>
    inShortForm === true && target !== undefined ? [[name, target] as const] : [],
  );
  it.each(rows)('the ratio of the race %s is at least two thirds of its target %d', (name, target) => {
    expect(results.get(name)?.absent).toEqual([]);
    expect(results.get(name)?.ratio).toBeGreaterThanOrEqual((2 / 3) * target);
  });
});
