import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { folderVolume } from '../../../src/node/volume/folder.ts';
import { mirrorDirectory } from '../../../src/node/volume/mirror.ts';
import { defined } from '../../../src/bytes/arguments.ts';
import type { MirrorSink, MirrorTarget } from '../../../src/mirror/sink.ts';
import { createHttpFetch } from '../../../src/node/http-fetch.ts';
import { makeExport } from '../../faults/export-source.ts';
import { disk, type DiskAct } from '../../faults/failing-disk.ts';
import { cleanUp, mirror, newFolder, source } from '../../mirror/make.ts';
import { expectProven } from '../killing.ts';

vi.mock('node:fs', async (real) => (await import('../../faults/failing-disk.ts')).failingFs(await real()));
vi.mock('node:fs/promises', async (real) =>
  (await import('../../faults/failing-disk.ts')).failingPromises(await real()),
);
afterEach(cleanUp);

/** Counts the disk calls of a new mirror with this many parts. */
async function countCalls(parts: number): Promise<ReadonlyMap<DiskAct, number>> {
  const sample = makeExport({ parts, reports: 0, bytes: 3_700 });
  const [server, folder] = [await source(sample), join(await newFolder(), 'new')];
  const counts = disk.count();
  await mirror(server, folder, { client: { fetch: createHttpFetch() } });
  const calls = counts();
  expect(await expectProven(sample, folder)).toHaveLength(parts);
  expect(server.seen).toHaveLength(parts + 3); // the resource, the manifest and the attestation
  return calls;
}

describe('a new mirror of small parts', () => {
  it('costs one request, write, flush and rename for each part, and nothing else', async () => {
    const [few, many] = [await countCalls(10), await countCalls(110)];
    const perPart = (act: DiskAct): number => ((many.get(act) ?? 0) - (few.get(act) ?? 0)) / 100;
    expect((['open', 'write', 'sync', 'rename'] as const).map(perPart)).toEqual([1, 1, 1, 1]);
    expect((['truncate', 'remove', 'read', 'link', 'mkdir'] as const).map(perPart)).toEqual([0, 0, 0, 0, 0]);
  });
});

/** Opens a folder whose commits wait until `together` of them are in progress, or no file remains. */
async function makeHeldSink(commitsAtOnce: number | undefined, together: number) {
  const inner = mirrorDirectory(join(await newFolder(), 'new'));
  const waiting: (() => void)[] = [];
  const most = { commits: 0 };
  let remaining = PARTS;
  const hold = async (): Promise<void> => {
    const held = new Promise<void>((resolve) => void waiting.push(resolve));
    most.commits = Math.max(most.commits, waiting.length);
    remaining--;
    if (waiting.length >= together || remaining < together) for (const go of waiting.splice(0)) go();
    await held;
  };
  const sink: MirrorSink = {
    async open() {
      const { commitsAtOnce: _, ...target } = await inner.open();
      const partial: MirrorTarget['partial'] = async (path) => {
        const file = await target.partial(path);
        return { ...file, commit: async () => (await hold(), file.commit()) };
      };
      return { ...target, ...defined({ commitsAtOnce }), partial };
    },
  };
  return { sink, most };
}
const PARTS = 40;

describe('files that wait for their final name', () => {
  it.each([
    [undefined, 2],
    [5, 6],
  ])('do not block other files if the target allows %s of them', async (commitsAtOnce, together) => {
    const { sink, most } = await makeHeldSink(commitsAtOnce, together);
    const server = await source(makeExport({ parts: PARTS, reports: 0 }));
    const { receipt } = await mirror(server, '', { to: sink, concurrency: 2 });
    expect(receipt.outcome).toBe('complete');
    expect(most.commits).toBe(together);
  });

  it('get their name without a request after a kill', async () => {
    const sample = makeExport({ parts: 1, reports: 0 });
    const folder = join(await newFolder(), 'new');
    const [[path, bytes]] = [...sample.files] as [[string, Uint8Array]];
    const target = await mirrorDirectory(folder).open();
    const partial = await target.partial(path);
    await partial.restart(undefined);
    await partial.append(bytes);
    await partial.close(); // like a kill before the flush
    await target.close();
    const server = await source(sample);
    const { receipt } = await mirror(server, folder);
    expect(receipt.files.find((file) => file.path === path)?.state).toBe('resumed');
    expect(server.requests(path)).toEqual([]);
    expect(await expectProven(sample, folder)).toEqual([path]);
  });

  it('that cannot be flushed end the mirror, and get no name', async () => {
    const sample = makeExport({ parts: 12, reports: 0 });
    const folder = join(await newFolder(), 'new');
    disk.arm('sync', 4, 'EIO', /\.partial$/);
    await expect(mirror(await source(sample), folder)).rejects.toMatchObject({ code: 'io.WRITE_FAILED' });
    disk.disarm();
    await expectProven(sample, folder);
    expect((await mirror(await source(sample), folder)).receipt.outcome).toBe('complete');
  });
});

it('a file that gets its name while its folder is flushed causes another flush of the folder', async () => {
  const volume = await folderVolume(await newFolder()).hold();
  const name = (path: string) =>
    volume.local!.adopt(path, async (copy) => {
      writeFileSync(copy, path);
      return true;
    });
  await name('parts/first.zip');
  disk.arm('sync', 2, 'EIO', /parts$/);
  const writing = volume.write('export.json', new Uint8Array(1));
  await name('parts/second.zip');
  await expect(writing).rejects.toMatchObject({ code: 'io.WRITE_FAILED' });
  disk.disarm();
  await volume.release();
});
