import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { mirrorDirectory } from '../../../src/node/volume/mirror.ts';
import { openPartStore } from '../../../src/node/volume/part-store.ts';
import { failureOf } from '../../client/make.ts';
import { makeExport } from '../../faults/export-source.ts';
import { cleanUp, filesOf, mirror, newFolder, source } from '../../mirror/make.ts';
import { expectComplete, expectProven, makeRefetchGuard, mountDisk } from '../killing.ts';

afterEach(cleanUp);

const enlarge = (folder: string): void => void execFileSync('mount', ['-o', 'remount,size=8m', folder]);

const sample = makeExport({ parts: 8, reports: 1, bytes: 100_000 });

// From a disk without space to one that all but the last document fits on. Parts and reports have 900,000 bytes.
it.each([4, 16, 64, 300, 512, 880, 904, 912, 920])(
  'a disk that is too small (needs root for a mount) (%i KiB) ends the mirror with io.DISK_FULL; with more space the next run resumes',
  async (kib) => {
    const folder = await mountDisk(kib);
    const server = await source(sample);
    expect(await failureOf(mirror(server, folder))).toMatchObject({ code: 'io.DISK_FULL' });
    const guard = makeRefetchGuard(server);
    guard.add(await expectProven(sample, folder));
    enlarge(folder);
    await mirror(server, folder);
    expect(guard.refetched()).toEqual([]);
    await expectComplete(sample, folder);
  },
);

it('a disk that is too small (needs root for a mount) under a store is reported, leaves no incomplete file, and the next run fills it', async () => {
  const [disk, folder] = [await mountDisk(350), await newFolder()];
  const server = await source(sample);
  const run = async () =>
    mirror(server, folder, { to: mirrorDirectory(folder, { store: await openPartStore(disk) }) });
  expect(await failureOf(run())).toMatchObject({ code: 'io.DISK_FULL' });
  const guard = makeRefetchGuard(server);
  guard.add(await expectProven(sample, folder));
  expect(await readdir(join(disk, 'tmp'))).toEqual([]);
  enlarge(disk);
  await run();
  expect(guard.refetched()).toEqual([]);
  const stored = [...(await filesOf(disk)).keys()].filter((path) => path.startsWith('sha256/'));
  expect(stored).toHaveLength(sample.files.size);
  expect(await readdir(join(disk, 'tmp'))).toEqual([]);
});
