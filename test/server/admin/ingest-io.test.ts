import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drillproof } from '../../cli/make.ts';
import { eachTest } from '../each-test.ts';
import { exportFiles, part } from '../make.ts';

const plane = eachTest();
const PRELOAD = new URL('count-io.mjs', import.meta.url).href;
const MIB = 2 ** 20;

describe('the input and output of an ingested export', () => {
  it.each([
    { title: 'of small parts', sizes: [MIB / 2, MIB / 2, MIB / 2, MIB / 2] },
    { title: 'of a part that does not fit in memory', sizes: [33 * MIB] },
  ])('$title reads and writes each byte once and hashes it at most twice', async ({ sizes }) => {
    const parts = await Promise.all(sizes.map((padding, n) => part(n + 1, { padding })));
    const { files } = await exportFiles({ parts });
    const folder = join(plane.folder, 'export');
    for (const [path, bytes] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), bytes);
    }
    const args = ['admin', 'ingest', 'export', folder, '--data', plane.folder];
    const { code, stderr } = await drillproof(args, { env: { NODE_OPTIONS: `--import=${PRELOAD}` } });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/counted/)]);
    const counted: unknown = JSON.parse(/counted (.*)/.exec(stderr)?.[1] ?? '');
    const total = parts.reduce((sum, { length }) => sum + length, 0);
    // The documents of the export, and what the parts repeat of them, are small.
    const atMost = (times: number) => expect.closeTo(times * total, -Math.log10(0.1 * total));
    expect(counted).toEqual({ read: atMost(1), hashed: atMost(2), written: atMost(1) });
  });
});
