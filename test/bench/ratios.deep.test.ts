import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { RACES } from '../../bench/races.ts';
import type { Outcome, Result } from '../../bench/results.ts';

const RUN = resolve(import.meta.dirname, '../../bench/run.ts');
/** The target of this race is for processors without SHA instructions; with them it measures start times. */
const WITHOUT_SHA = { OPENSSL_ia32cap: ':~0x20000000' };

function runRace(name: string): Result | undefined {
  const args = ['--conditions=drillproof:source', RUN, '--short', '--json', name];
  const env = { ...process.env, ...(name === 'digest-large' && WITHOUT_SHA) };
  const [result] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', env })) as Result[];
  return result;
}

const rows = RACES.flatMap(({ name, target, inShortForm }) =>
  inShortForm === true && target !== undefined ? [[name, target] as const] : [],
);
it.each(rows)(
  'the ratio of the race %s is at least two thirds of its target %d',
  { timeout: 300_000, retry: 1 }, // other work on the machine disturbs a race
  (name, target) => {
    const result = runRace(name);
    expect(result).toMatchObject({ absent: [] });
    expect((result as Outcome).ratio).toBeGreaterThanOrEqual((2 / 3) * target);
  },
);
