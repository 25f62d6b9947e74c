import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tries } from '../support/deep.ts';
import { makeTestFolder } from '../support/folder.ts';
import { formatCounts, Lane, makeTally } from './compare.ts';
import { startPython } from './verifiers.ts';

/** The gate, which has 20 minutes for everything, compares the first 2,000. */
const CASES = tries(process.env['CI'] === 'true' ? 2_000 : 50_000);
/** The seed of the first case. With the seed of a difference, that is the first case again. */
const FIRST = Number(process.env['DRILLPROOF_TEST_SEED'] ?? 1);

it(
  'verifiers/python has the same verdict as drillproof on altered parts and exports',
  { timeout: 1_800_000 },
  async () => {
    const folder = await makeTestFolder();
    const tally = makeTally();
    const half = Math.ceil(CASES / 2);
    const work = [0, 1].map(async (n) => {
      const place = join(folder, String(n));
      await mkdir(place);
      const lane = new Lane(startPython(), place);
      await lane.compare(FIRST + n * half, FIRST + Math.min(CASES, (n + 1) * half), tally);
    });
    await Promise.all(work);

    const { verdicts, codes, codeDifferences, differences } = tally;
    console.info(`${CASES} cases\n${formatCounts(verdicts)}${codes.size} codes\n${formatCounts(codes)}`);
    console.info(`one verdict, different codes (+ only ours)\n${formatCounts(codeDifferences)}`);
    expect(differences.map((difference) => JSON.stringify(difference))).toEqual([]);
    // Altered evidence that is all refused at the first check would compare nothing.
    expect(verdicts.get('verified')).toBeGreaterThan(CASES * 0.1);
    expect(verdicts.get('intact')).toBeGreaterThan(CASES * 0.01);
    expect(verdicts.get('incomplete')).toBeGreaterThan(CASES * 0.005);
    expect(codes.size).toBeGreaterThan(Math.min(80, CASES / 200));
  },
);
