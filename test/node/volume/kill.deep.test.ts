import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeExport, type ExportSource, type TestExport } from '../../faults/export-source.ts';
import { cleanUp, filesOf, newFolder, source } from '../../mirror/make.ts';
import { ended, expectProven, killAtRandom, refetchGuard, slowSender, startNode } from '../killing.ts';
import type { ChildOptions } from '../mirror-child.ts';
import { tries } from '../../support/deep.ts';

afterEach(cleanUp);

/** A longer run sets the variable, and gets more and larger parts. */
const KILLS = tries(6);
const LONG = KILLS >= 100;
const SHAPE = LONG ? { parts: 300, reports: 2, bytes: 200_000 } : { parts: 60, reports: 2, bytes: 60_000 };
const WITHIN_MS = LONG ? 500 : 250;
const TIMEOUT = LONG ? 3_600_000 : 120_000;

const childOf = (server: ExportSource, folder: string, options: ChildOptions) =>
  startNode('mirror-child.ts', [server.url, folder, JSON.stringify(options)]);

/** The first kill comes when more parts were sent than can wait for a flush, so that some of them were proven. */
const someBytes = (first: boolean): number =>
  (first ? 45 * SHAPE.bytes : 0) + Math.random() * SHAPE.parts * SHAPE.bytes * (LONG ? 0.02 : 0.15);

type Round = { readonly kills: number; readonly sent: number };

/** One mirror that is killed until it is whole, or so often; and what it cost. */
async function killedMirror(
  made: TestExport,
  kills: number,
  { bagit = false, ...options }: ChildOptions = {},
): Promise<Round> {
  const folder = await newFolder();
  const { slowly, sent } = slowSender();
  const server = await source(made, slowly);
  const guard = refetchGuard(server);
  const inside = bagit ? 'data/' : '';
  let killed = 0;
  for (let whole = false; killed < kills && !whole;) {
    const moment = killed % 2 === 0 ? { sent, bytes: someBytes(killed === 0) } : { withinMs: WITHIN_MS };
    const one = await killAtRandom(childOf(server, folder, { bagit, ...options }), server, moment);
    if (one.killed) killed++;
    else expect([one.said, one.code]).toEqual(['complete', 0]);
    whole = !one.killed;
    guard.note(await expectProven(made, folder, inside));
  }
  const provenBefore = guard.seen();
  const last = await ended(childOf(server, folder, { bagit, ...options }));
  expect(last.said).toBe('complete');
  expect((await expectProven(made, folder, inside)).length).toBe(made.files.size);
  if (killed > 0) expect(provenBefore).toBeGreaterThan(0);
  expect(guard.again()).toEqual([]);
  execFileSync('sha256sum', ['--quiet', '--strict', '-c', 'SHA256SUMS'], { cwd: join(folder, inside) });
  expect([...(await filesOf(folder)).keys()].filter((path) => path.startsWith('.'))).toEqual([]);
  return { kills: killed, sent: sent() };
}

/** Mirrors one after the other until so many kills were met, each held to the bound on the bytes that it may cost. */
async function killMany(kills: number, options: ChildOptions = {}): Promise<void> {
  const made = makeExport(SHAPE);
  const size = made.files.size * SHAPE.bytes;
  let left = kills;
  for (let round = 1; left > 0; round++) {
    const { kills: met, sent } = await killedMirror(made, left, options);
    left -= met;
    expect(sent).toBeLessThanOrEqual(1.2 * size + met * SHAPE.bytes);
    if (LONG) {
      const over = ((sent / size - 1) * 100).toFixed(2);
      const lost = met === 0 ? 0 : Math.round((sent - size) / met);
      process.stderr.write(
        `mirror ${round}: ${met} kills, ${made.files.size} files of ${size} bytes, ` +
          `${sent} bytes sent: ${over} % over, ${lost} bytes for each kill\n`,
      );
    }
  }
}

describe('a mirror that is killed at any moment', () => {
  it(
    'leaves only verified files; the next run completes it and fetches no verified file again',
    { timeout: TIMEOUT },
    () => killMany(KILLS),
  );

  it('does so with a shared store', { timeout: TIMEOUT }, async () => {
    await killMany(Math.ceil(KILLS / 3), { store: await newFolder() });
  });

  it('does so as a bag', { timeout: TIMEOUT }, () => killMany(Math.ceil(KILLS / 3), { bagit: true }));
});

it('a killed mirror that takes everything from a store requests no part', { timeout: TIMEOUT }, async () => {
  const made = makeExport({ parts: 40, reports: 2, bytes: 24_000 });
  const store = await newFolder();
  const { sent, slowly } = slowSender();
  const server = await source(made, slowly);
  expect((await ended(childOf(server, await newFolder(), { store }))).said).toBe('complete');
  const before = sent();
  const folder = await newFolder();
  for (let kills = 0; kills < Math.ceil(KILLS / 3); kills++) {
    await killAtRandom(childOf(server, folder, { store }), server, { withinMs: 100 });
    await expectProven(made, folder);
  }
  expect((await ended(childOf(server, folder, { store }))).said).toBe('complete');
  expect((await expectProven(made, folder)).length).toBe(made.files.size);
  expect(sent()).toBe(before);
});
