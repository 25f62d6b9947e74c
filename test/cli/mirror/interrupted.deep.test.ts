import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { makeExport, serveExports } from '../../faults/export-source.ts';
import { cleanUp, newFolder } from '../../mirror/make.ts';
import {
  waitForEnd,
  expectProven,
  killAtRandom,
  makeRefetchGuard,
  makeSlowSender,
  startNode,
} from '../../node/killing.ts';
import { tries } from '../../support/deep.ts';

/** A longer run sets the variable. */
const KILLS = tries(2);
const BYTES = 60_000;
const exports = [1, 2, 3].map((seed) =>
  makeExport({ seed, id: `evexp_00000000000${seed}`, parts: 30, reports: 1, bytes: BYTES }),
);
const SIZE = exports.reduce((sum, { files }) => sum + files.size * BYTES, 0);
const idOf = ({ resource }: (typeof exports)[number]): string => resource.evidenceExportId;

const sender = makeSlowSender();
const server = await serveExports(exports, sender.sendSlowly);
afterAll(() => server.close());
afterEach(cleanUp);

const mirrorList = (folder: string) =>
  startNode(
    '../../src/cli/main.ts', // as test/node/killing.ts finds it
    `mirror --list ${folder}/list --to ${folder}/archive --project prj_000000000001 --url ${server.url} --concurrency 2`.split(
      ' ',
    ),
    { DRILLPROOF_TOKEN: 'a-token' },
  );

/** Calls a function for every mirror in the archive. */
async function forEachMirror(
  folder: string,
  each: (testExport: (typeof exports)[number], mirror: string) => Promise<void>,
) {
  const names: string[] = await readdir(join(folder, 'archive')).catch(() => []);
  for (const testExport of exports)
    if (names.includes(idOf(testExport))) await each(testExport, join(folder, 'archive', idOf(testExport)));
}

it.each([
  ['SIGKILL', null],
  ['SIGINT', 130],
] as const)(
  'mirror --list that %s ends at a random moment leaves only verified files and no lock, and the next run completes it',
  { timeout: 600_000 },
  async (signal, exit) => {
    const folder = await newFolder();
    await writeFile(join(folder, 'list'), exports.map((testExport) => `${idOf(testExport)}\n`).join(''));
    const guards = new Map(
      exports.map((testExport) => {
        const isOfExport = (url: string): boolean => url.includes(`/${idOf(testExport)}/`);
        const requests = (path: string) => server.requests(path).filter(({ url }) => isOfExport(url));
        return [testExport, makeRefetchGuard({ requests })] as const;
      }),
    );
    const before = sender.sent();
    let interruptions = 0;
    for (let attempts = 0; interruptions < KILLS && attempts < 10 * KILLS; attempts++) {
      const moment =
        interruptions % 2 === 0
          ? { sent: sender.sent, bytes: (5 + 10 * Math.random()) * BYTES }
          : { withinMs: 500 };
      const killed = await killAtRandom(mirrorList(folder), server, moment, signal);
      if (killed.code === 0) continue; // it ended before the signal
      interruptions++;
      expect(killed.code).toBe(exit);
      await forEachMirror(folder, async (testExport, mirror) => {
        if (signal === 'SIGINT')
          expect(await readdir(join(mirror, '.drillproof-mirror')).catch((): string[] => [])).not.toContain(
            'lock',
          );
        guards.get(testExport)?.add(await expectProven(testExport, mirror));
      });
    }
    expect(interruptions).toBeGreaterThan(0);
    expect(Math.max(...[...guards.values()].map((guard) => guard.size()))).toBeGreaterThan(0);
    expect(await waitForEnd(mirrorList(folder))).toMatchObject({ code: 0 });
    let files = 0;
    await forEachMirror(folder, async (testExport, mirror) => {
      files += (await expectProven(testExport, mirror)).length;
      expect(await readdir(mirror)).not.toContain('.drillproof-mirror');
      expect(guards.get(testExport)?.refetched()).toEqual([]);
    });
    expect(files * BYTES).toBe(SIZE);
    expect(sender.sent() - before).toBeLessThanOrEqual(1.2 * SIZE + interruptions * BYTES);
  },
);
