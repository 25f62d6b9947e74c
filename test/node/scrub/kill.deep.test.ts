import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { cleanUp, exportId, makeArchive, partOf, rot } from './make.ts';
import { tries } from '../../support/deep.ts';
import { startNode } from '../killing.ts';

afterEach(cleanUp);

const KILLS = tries(6);

/** Runs a scrub, kills it after `killAfter` files, and returns its lines. */
async function run(root: string, killAfter = Infinity): Promise<string[]> {
  const child = startNode('scrub/scrub-child.ts', [root]);
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += String(chunk);
    if (text.split('\n').length > killAfter) void pause(Math.random() * 3).then(() => child.kill('SIGKILL'));
  });
  await once(child, 'close');
  return text.split('\n').slice(0, -1);
}

test(
  'a scrub that is killed at any moment resumes, reads few files twice, and hides no damage',
  { timeout: 60_000 + KILLS * 3_000 },
  async () => {
    const [mirrors, parts] = [2, 150];
    const { root } = await makeArchive({ mirrors, parts });
    const rotten = [join(root, exportId(1)), join(root, exportId(2))].map((folder) => partOf(folder, 70));
    for (const file of rotten) await rot(file);
    const read = new Map<string, number>();
    const count = (lines: readonly string[]): void => {
      for (const line of lines) if (!line.startsWith('done')) read.set(line, (read.get(line) ?? 0) + 1);
    };
    for (let kill = 0; kill < KILLS; kill++) count(await run(root, 1 + Math.floor(Math.random() * 200)));
    const last = await run(root);
    count(last);
    const damaged = JSON.parse(last.at(-1)!.replace('done ', '')) as string[];
    expect(damaged.toSorted().map((path) => join(root, path))).toEqual(rotten);
    expect(read.size).toBe(mirrors * (parts + 1));
    const times = [...read].filter(([path]) => !rotten.includes(join(root, path))).map(([, n]) => n);
    const repeated = times.reduce((sum, n) => sum + n - 1, 0);
    // A kill loses one batch of the journal at most.
    expect(repeated).toBeLessThanOrEqual(KILLS * 64);
  },
);
