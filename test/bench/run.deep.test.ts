import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const RUN = resolve(import.meta.dirname, '../../bench/run.ts');

it('a race compares our work with its yardstick, and states the ratio as JSON', { timeout: 300_000 }, () => {
  const args = ['--conditions=drillproof:source', RUN, '--short', '--json', 'attestation'];
  const results = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as unknown;
  expect(results).toMatchObject([{ race: { name: 'attestation' }, absent: [], ratio: expect.any(Number) }]);
});
