import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { bagSink } from '../../../src/mirror/bag-sink.ts';
import { checkMirror } from '../../../src/mirror/check.ts';
import type { MirrorSink } from '../../../src/mirror/sink.ts';
import { mirrorDirectory } from '../../../src/node/volume/mirror.ts';
import { openPartStore } from '../../../src/node/volume/part-store.ts';
import { disk, type DiskAct } from '../../faults/failing-disk.ts';
import { etagOf, exportRef, makeExport, type ExportSource, type Fault } from '../../faults/export-source.ts';
import { cleanUp, filesOf, mirror, newFolder, source } from '../../mirror/make.ts';
import { expectComplete, expectProven, makeRefetchGuard } from '../killing.ts';
import { isExhaustive } from '../../support/deep.ts';

vi.mock('node:fs', async (real) => (await import('../../faults/failing-disk.ts')).failingFs(await real()));
vi.mock('node:fs/promises', async (real) =>
  (await import('../../faults/failing-disk.ts')).failingPromises(await real()),
);

// Thousands of syncs cost nothing in memory.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
/** Every call fails in turn, or in the usual run every fourth. */
const STEP = isExhaustive ? 1 : 4;

afterEach(async () => {
  disk.disarm();
  await cleanUp();
});

const sample = makeExport({ parts: 2, reports: 1, bytes: 3_000 });

/** The folder and the store of a mirror. */
type Place = {
  readonly folder: string;
  readonly store: string;
  readonly inside: string;
  readonly sink: () => Promise<MirrorSink>;
};

const KINDS = ['plain', 'bag', 'store', 'pieces'] as const;
async function makePlace(kind: (typeof KINDS)[number]): Promise<Place> {
  const [folder, store] = [join(await newFolder(), 'new'), join(await newFolder(), 'store')];
  const sinks = {
    plain: async () => mirrorDirectory(folder),
    pieces: async () => mirrorDirectory(folder),
    bag: async () =>
      bagSink(mirrorDirectory(folder), { tool: 'test', evidenceExportId: exportRef.evidenceExportId }),
    store: async () => mirrorDirectory(folder, { store: await openPartStore(store) }),
  };
  return { folder, store, inside: kind === 'bag' ? 'data/' : '', sink: sinks[kind] };
}

/** Mirrors into a place, and returns the outcome or the code of the failure. */
async function mirrorInto({ folder, sink }: Place, server: ExportSource): Promise<string> {
  try {
    const { receipt } = await mirror(server, folder, { to: await sink(), concurrency: 1 });
    return receipt.outcome;
  } catch (error) {
    if (error instanceof DrillproofError) return error.code;
    throw error;
  }
}

const readFiles = async (folder: string) => filesOf(folder).catch(() => new Map<string, Uint8Array>());

async function expectSound({ folder, store, inside }: Place): Promise<string[]> {
  for (const [path, bytes] of await readFiles(store)) {
    if (!path.startsWith('sha256/')) continue;
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(basename(path));
  }
  return (await readFiles(folder)).size === 0 ? [] : expectProven(sample, folder, inside);
}

/** Expects that the next run completes the mirror, fetches no file again and leaves no private files. */
async function expectRepair(place: Place, server: ExportSource): Promise<void> {
  const guard = makeRefetchGuard(server);
  guard.add(await expectSound(place));
  expect(await mirrorInto(place, server)).toBe('complete');
  expect(guard.refetched()).toEqual([]);
  await expectSound(place);
  await expectComplete(sample, place.folder, place.inside);
}

/** Sends files in two pieces, so that their entity tags are stored. */
const sendInPieces: Fault = ({ bytes, path, response }) => {
  if (!path.endsWith('.zip')) return false;
  response.writeHead(200, { 'content-length': bytes.length, etag: etagOf(bytes) });
  response.write(bytes.subarray(0, 1_000));
  setTimeout(() => response.end(bytes.subarray(1_000)), 2);
  return true;
};

/** Makes every call of a kind fail in turn, each in a new place, and returns the codes in order. */
async function failEach(kind: (typeof KINDS)[number], act: DiskAct, errno: string): Promise<string[]> {
  const server = await source(sample, kind === 'pieces' ? sendInPieces : undefined);
  const codes: string[] = [];
  for (let nth = 1; ; nth += STEP) {
    const place = await makePlace(kind);
    disk.arm(act, nth, errno);
    const outcome = await mirrorInto(place, server);
    const { failed } = disk;
    disk.disarm();
    if (!failed) {
      expect(outcome).toBe('complete');
      return codes;
    }
    codes.push(outcome);
    await expectRepair(place, server);
  }
}

describe.each(KINDS)('a disk under a mirror (%s) on which any one call fails', (kind) => {
  it.each([
    ['write', 'ENOSPC', 'io.DISK_FULL'],
    ['write', 'EIO', 'io.WRITE_FAILED'],
    ['sync', 'EIO', 'io.WRITE_FAILED'],
    ['rename', 'EIO', 'io.WRITE_FAILED'],
    ['rename', 'ENOSPC', 'io.DISK_FULL'],
    ['open', 'EIO', 'io.WRITE_FAILED'],
    ['mkdir', 'ENOSPC', 'io.DISK_FULL'],
    ['remove', 'EIO', 'io.WRITE_FAILED'],
  ] as const)('%s with %s: ends with %s, and the next run completes', async (act, errno, code) => {
    const codes = await failEach(kind, act, errno);
    expect(codes.length).toBeGreaterThan(0);
    expect(new Set(codes)).toEqual(new Set([code]));
  });
});

const [PART = ''] = sample.files.keys();
const endsWith = (path: string): RegExp => new RegExp(`/${path.replaceAll('.', '\\.')}$`);

async function makeComplete(): Promise<{ server: ExportSource; place: Place }> {
  const [server, place] = [await source(sample), await makePlace('plain')];
  expect(await mirrorInto(place, server)).toBe('complete');
  return { server, place };
}

/** Makes a place where a run ended in the middle of the first part. */
async function makeInterrupted(content = sample.files.get(PART)!.subarray(0, 1_000)) {
  const [server, place] = [await source(sample), await makePlace('plain')];
  const target = await mirrorDirectory(place.folder).open();
  const partial = await target.partial(PART);
  await partial.restart(etagOf(sample.files.get(PART)!));
  await partial.append(content);
  await partial.close();
  await target.close();
  return { server, place };
}

describe('a mirror on a disk with an error', () => {
  it('does not reuse bytes after a failed flush, because the next flush may not write them', async () => {
    const [server, place] = [await source(sample), await makePlace('plain')];
    disk.arm('sync', 1, 'EIO', /\.partial$/);
    expect(await mirrorInto(place, server)).toBe('io.WRITE_FAILED');
    expect(server.requests(PART)).toHaveLength(1);
    disk.disarm();
    await expectRepair(place, server);
    expect(server.requests(PART)).toHaveLength(2);
  });

  it.each(['read', 'look'] as const)(
    'reports a file that it cannot read (%s) as unreadable, not damaged, and fetches it again',
    async (act) => {
      const { server, place } = await makeComplete();
      disk.arm(act, 1, 'EIO', endsWith(PART));
      const client = createClient({ baseUrl: server.url, token: 'a-token' });
      const check = await checkMirror(exportRef, { client, to: await place.sink() });
      expect(check).toMatchObject({ outcome: 'unreadable', faults: [{ path: PART, found: 'unreadable' }] });
      disk.arm(act, 1, 'EIO', endsWith(PART));
      const { receipt, events } = await mirror(server, place.folder, { to: await place.sink() });
      expect(events).toContainEqual({ type: 'looked', path: PART, bytes: 3_000, found: 'unreadable' });
      expect(receipt.files.find(({ path }) => path === PART)?.state).toBe('fetched');
      expect((await expectSound(place)).length).toBe(sample.files.size);
    },
  );

  it('ends if it cannot read a document that identifies it', async () => {
    const { server, place } = await makeComplete();
    for (const name of ['export.json', 'manifest.json']) {
      disk.arm('read', 1, 'EIO', endsWith(name));
      expect(await mirrorInto(place, server)).toBe('io.UNREADABLE');
      disk.disarm();
      await expectRepair(place, server);
    }
  });

  it('flushes the names that it finds in the next run', async () => {
    const single = makeExport({ parts: 1, reports: 0 });
    const [server, place] = [await source(single), await makePlace('plain')];
    const parts = join(place.folder, 'parts');
    for (let run = 0; run < 2; run++) {
      disk.arm('sync', 1, 'EIO', /\/parts$/);
      expect(await mirrorInto(place, server)).toBe('io.WRITE_FAILED');
      expect(await readdir(parts)).toHaveLength(1);
      expect((await readFiles(place.folder)).has('manifest.json')).toBe(false);
    }
    disk.disarm();
    expect(await mirrorInto(place, server)).toBe('complete');
  });

  it.each(['read', 'look'] as const)(
    'keeps every file of a complete mirror, whichever call (%s) fails',
    async (act) => {
      const { server, place } = await makeComplete();
      for (let nth = 1; ; nth++) {
        // Otherwise every run would look at one more receipt than the run before.
        await rm(join(place.folder, 'receipts'), { recursive: true, force: true });
        disk.arm(act, nth, 'EIO');
        const outcome = await mirrorInto(place, server);
        const { failed } = disk;
        disk.disarm();
        expect(['complete', 'io.UNREADABLE', 'io.WRITE_FAILED']).toContain(outcome);
        expect((await expectSound(place)).length).toBe(sample.files.size);
        if (failed) continue;
        expect(nth).toBeGreaterThan(sample.files.size);
        break;
      }
      await expectRepair(place, server);
    },
  );

  it.each<[string, string, string | undefined, RegExp | undefined]>([
    ['resumes a partial file if no call fails', 'complete', 'bytes=1000-', undefined],
    [
      'ends if it cannot read a partial file, and the next run begins again',
      'io.UNREADABLE',
      undefined,
      /\.partial$/,
    ],
    ['fetches a partial file again if it cannot read its entity tag', 'complete', undefined, /\.etag$/],
  ])('%s', async (_, outcome, range, unreadable) => {
    const { server, place } = await makeInterrupted();
    if (unreadable !== undefined) disk.arm('read', 1, 'EIO', unreadable);
    expect(await mirrorInto(place, server)).toBe(outcome);
    disk.disarm();
    await expectRepair(place, server);
    expect(server.requests(PART).map(({ headers }) => headers.range)).toEqual([range]);
  });

  it('ends if it cannot discard a partial file, and the next run completes', async () => {
    const { server, place } = await makeInterrupted(new Uint8Array(4_000));
    disk.arm('truncate', 1, 'EIO');
    expect(await mirrorInto(place, server)).toBe('io.WRITE_FAILED');
    disk.disarm();
    await expectRepair(place, server);
  });
});
