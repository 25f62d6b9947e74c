import { expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { readZipWithYauzl } from '../../../src/node/second-opinion/second-opinion.ts';
import { badArchives } from './bad-archives.ts';
import { ourSight, pythonSights, sevenZipSights, type Sight } from '../outside-readers.ts';
import { rawZip } from '../raw-zip.ts';
import { codeOf } from '../support.ts';
import { tries } from '../../support/deep.ts';
import { forAllAsync } from '../../support/property.ts';

const RUNS = tries(200, 3_000);
/** Starting 7-Zip twice for each archive is what takes the time. */
const OUTSIDE = Math.ceil(RUNS / 50);

async function yauzlSight(archive: Uint8Array): Promise<Sight> {
  const seen: [string, string][] = [];
  for await (const { name, digest } of readZipWithYauzl(memoryAccess(archive))) seen.push([name, digest]);
  expect(new Set(seen.map(([name]) => name)).size, 'distinct names').toBe(seen.length);
  return Object.fromEntries(seen);
}

it('an archive with anything wrong in any of its fields is refused with a code, or every other reader sees the same in it', async () => {
  const accepted: { archive: Uint8Array; sight: Sight }[] = [];
  await forAllAsync(RUNS, [badArchives], async ({ entries, end }) => {
    const archive = rawZip(entries, end);
    const sight = await codeOf(ourSight(archive));
    if (typeof sight === 'string') {
      expect(sight).toMatch(/^zip\./);
      return;
    }
    expect(await codeOf(yauzlSight(archive))).toEqual(sight);
    accepted.push({ archive, sight });
  });
  expect(accepted.length).toBeGreaterThan(RUNS / 20);
  expect(accepted.length).toBeLessThan(RUNS * 0.9);
  const sights = accepted.map(({ sight }) => sight);
  const archives = accepted.map(({ archive }) => archive);
  expect(pythonSights(archives)).toEqual(sights);
  expect(sevenZipSights(archives.slice(0, OUTSIDE))).toEqual(sights.slice(0, OUTSIDE));
}, 600_000);
