import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { cleanUp, exportId, makeArchive, newFolder, partOf, rot } from '../../node/scrub/make.ts';
import { NOW } from '../../support/evidence.ts';
import { call } from '../make.ts';

afterEach(cleanUp);

const SECOND = 1000;
const readGauge = async (file: string, name: string): Promise<number> => {
  const text = await readFile(file, 'utf8');
  const line = text.split('\n').find((other) => other.startsWith(`drillproof_${name} `)) ?? '';
  return Number(line.split(' ')[1]);
};

it('mirror --textfile has the numbers of the last run, and the last success after a failure', async () => {
  const { root } = await makeArchive();
  const folder = await newFolder();
  const file = join(folder, 'mirror.prom');
  const run = async (to: string, atMs: number) => {
    const line = `mirror --all --from ${root} --to ${folder}/${to} --textfile ${file}`;
    return (await call(line, { now: () => atMs })).code;
  };
  expect(await run('copy', NOW)).toBe(0);
  expect(await readGauge(file, 'mirror_exports{state="complete"}')).toBe(2);
  expect(await readGauge(file, 'mirror_fetched_files')).toBe(8);
  expect(await readGauge(file, 'mirror_last_success_timestamp_seconds')).toBe(NOW / SECOND);
  await rot(partOf(join(root, exportId(1))));
  expect(await run('second', NOW + SECOND)).toBe(3);
  expect(await readGauge(file, 'mirror_exports{state="failed"}')).toBe(1);
  expect(await readGauge(file, 'mirror_last_run_timestamp_seconds')).toBe(NOW / SECOND + 1);
  expect(await readGauge(file, 'mirror_last_run_exit_code')).toBe(3);
  expect(await readGauge(file, 'mirror_last_success_timestamp_seconds')).toBe(NOW / SECOND);
  // A run with nothing new is a success.
  expect(await run('copy', NOW + 2 * SECOND)).toBe(0);
  expect(await readGauge(file, 'mirror_exports{state="kept"}')).toBe(2);
  expect(await readGauge(file, 'mirror_last_success_timestamp_seconds')).toBe(NOW / SECOND + 2);
});

it('scrub --textfile has what was read, the faults, and the last success', async () => {
  const { root } = await makeArchive();
  const file = join(await newFolder(), 'scrub.prom');
  const run = async (atMs: number) =>
    (await call(`scrub ${root} --textfile ${file}`, { now: () => atMs })).code;
  expect(await run(NOW)).toBe(0);
  expect(await readGauge(file, 'scrub_mirrors{state="good"}')).toBe(2);
  expect(await readGauge(file, 'scrub_read_files')).toBeGreaterThan(8);
  expect(await readGauge(file, 'scrub_faults')).toBe(0);
  expect(await readGauge(file, 'scrub_oldest_read_timestamp_seconds')).toBe(NOW / SECOND);
  await rot(partOf(join(root, exportId(1))));
  expect(await run(NOW + SECOND)).toBe(1);
  expect(await readGauge(file, 'scrub_faults')).toBe(1);
  expect(await readGauge(file, 'scrub_last_success_timestamp_seconds')).toBe(NOW / SECOND);
});

it('scrub --textfile has the time of the mirror that was read longest ago, 0 while one was never read', async () => {
  const { root } = await makeArchive();
  const file = join(await newFolder(), 'scrub.prom');
  const readOldest = async (options: string, atMs: number) => {
    await call(`scrub ${root} ${options} --textfile ${file}`, { now: () => atMs });
    return readGauge(file, 'scrub_oldest_read_timestamp_seconds');
  };
  await call(`scrub ${join(root, exportId(1))}`, { now: () => NOW });
  let nowMs = NOW + SECOND;
  // The time for --for is over before anything is read.
  const now = () => (nowMs += 10 * SECOND);
  await call(`scrub ${root} --older-than 1d --for 1s --textfile ${file}`, { now });
  expect(await readGauge(file, 'scrub_oldest_read_timestamp_seconds')).toBe(0);
  expect(await readOldest('--older-than 1d', NOW + 2 * SECOND)).toBe(NOW / SECOND);
  expect(await readOldest('', NOW + 3 * SECOND)).toBe(NOW / SECOND + 3);
});

it('a run that ends with an error is in the textfile, without a new time of success', async () => {
  const { root } = await makeArchive();
  const folder = await newFolder();
  for (const [command, line] of [
    ['mirror', (place: string) => `mirror --all --from ${place} --to ${folder}/copy`],
    ['scrub', (place: string) => `scrub ${place}`],
  ] as const) {
    const file = join(folder, `${command}.prom`);
    const run = async (place: string, atMs: number) =>
      (await call(`${line(place)} --textfile ${file}`, { now: () => atMs })).code;
    const read = (name: string) => readGauge(file, `${command}_${name}`);
    const absent = join(folder, 'absent');
    const failed = await run(absent, NOW);
    expect([2, 3]).toContain(failed);
    expect(await read('last_run_exit_code')).toBe(failed);
    expect(await read('last_success_timestamp_seconds')).toBeNaN();
    expect(await run(root, NOW + SECOND)).toBe(0);
    expect(await run(absent, NOW + 2 * SECOND)).toBe(failed);
    expect(await read('last_run_timestamp_seconds')).toBe(NOW / SECOND + 2);
    expect(await read('last_success_timestamp_seconds')).toBe(NOW / SECOND + 1);
  }
});
