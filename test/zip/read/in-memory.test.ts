import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { digestStream } from '../../../src/bytes/hash.ts';
import { memoryAccess, type RandomAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import type { ZipLimits } from '../../../src/zip/limits.ts';
import { tries } from '../../support/deep.ts';
import { forAllAsync } from '../../support/property.ts';
import { trees } from '../arbitraries.ts';
import { badArchives } from '../bad/bad-archives.ts';
import { rawZip } from '../raw-zip.ts';
import { collect, strictAccess, zipOf } from '../support.ts';

type Reader = (access: RandomAccess, limits?: ZipLimits) => Promise<unknown>;

async function outcomeOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return { code: error.code, message: error.message, path: error.path };
  }
}

const readEach =
  (read: (archive: Awaited<ReturnType<typeof openZip>>, index: number) => Promise<unknown>): Reader =>
  (access, limits) =>
    outcomeOf(async () => {
      const archive = await openZip(access, limits);
      const contents: unknown[] = [];
      for (const index of archive.entries.keys()) contents.push(await outcomeOf(() => read(archive, index)));
      return { entries: archive.entries, notes: archive.notes, contents };
    });

const stream = readEach(async (archive, index) =>
  Buffer.from(await collect(archive.read(archive.entries[index]!))),
);
const atOnce = readEach(async (archive, index) => Buffer.from(archive.readAtOnce(archive.entries[index]!)!));
const digest = readEach((archive, index) => archive.digest(archive.entries[index]!));
const streamDigest = readEach((archive, index) => digestStream(archive.read(archive.entries[index]!)));

/** As a file: it reads into a buffer of the caller. */
const fileAccess = (bytes: Uint8Array): RandomAccess => ({
  ...strictAccess(bytes),
  readInto: (target, offset) => target.set(bytes.subarray(offset, offset + target.length)),
});

/** Neither archive nor entries in memory at once: the plain way, from which the short ways may not differ. */
async function compare(bytes: Uint8Array, limits?: ZipLimits): Promise<void> {
  const plainly = await stream(strictAccess(bytes), limits);
  expect(await stream(memoryAccess(bytes), limits)).toEqual(plainly);
  expect(await atOnce(memoryAccess(bytes), limits)).toEqual(plainly);
  const digests = await streamDigest(strictAccess(bytes), limits);
  for (const access of [strictAccess, memoryAccess, fileAccess])
    expect(await digest(access(bytes), limits)).toEqual(digests);
}

it('an archive in memory is read like one that is not, whatever fault it has', async () => {
  await forAllAsync(tries(100, 1500), [badArchives], ({ entries, end }) => compare(rawZip(entries, end)));
}, 600_000);

it('an archive in memory is read like one that is not, with any bytes changed and under any limits', async () => {
  const damage = fc.tuple(fc.nat(), fc.nat(255));
  const limits = fc.record(
    {
      entries: fc.nat(8),
      entryBytes: fc.nat(4000),
      totalBytes: fc.nat(9000),
      expansionRatio: fc.nat(20),
      expansionFloorBytes: fc.nat(500),
    },
    { requiredKeys: [] },
  );
  const damages = fc.array(damage, { maxLength: 3 });
  await forAllAsync(tries(300, 3000), [trees, damages, limits], async (files, changes, limit) => {
    const bytes = await zipOf(files);
    for (const [at, mask] of changes) bytes[at % bytes.length]! ^= mask;
    await compare(bytes, limit);
  });
});

it('an archive in memory has entries that are streamed: those above 4 MiB, and all of an archive that is not in memory', async () => {
  const bytes = await zipOf({ large: new Uint8Array(2 ** 22 + 1), small: 'x' });
  const inMemory = await openZip(memoryAccess(bytes));
  expect(inMemory.readAtOnce(inMemory.entries[0]!)).toBeUndefined();
  expect(inMemory.readAtOnce(inMemory.entries[1]!)).toEqual(new TextEncoder().encode('x'));
  const elsewhere = await openZip(strictAccess(bytes));
  for (const entry of elsewhere.entries) expect(elsewhere.readAtOnce(entry)).toBeUndefined();
});
