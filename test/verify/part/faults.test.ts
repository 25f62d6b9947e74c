import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { secondOpinion } from '../../../src/node/second-opinion/second-opinion.ts';
import type { BundleReport } from '../../../src/verify/report.ts';
import type { SecondOpinion } from '../../../src/verify/options.ts';
import type { VerifyPartOptions } from '../../../src/verify/part/context.ts';
import {
  errorsOf,
  faultyAccess,
  flipBit,
  listingOf,
  makeObject,
  makePart,
  makeSigner,
  makeBundleInput,
  stateOf,
} from '../../support/evidence.ts';
import { part as small, signer, verify, verifyAccess } from './setup.ts';

/** Text that deflate leaves above 1 MiB. */
const NOISE = Buffer.from(
  Uint8Array.from({ length: 1_200_000 }, (_, i) => Math.imul(i, 2_654_435_761) >>> (8 + (i % 7))),
).toString('base64');

// Above 1 MiB, so that the part is not held in memory.
const large = makeObject('large.bin', NOISE);
const part = (await makePart(1, signer, { objects: [...makeBundleInput(1).objects, large] })).bytes;
const listed = await listingOf(part);
const smallOptions = { listed: await listingOf(small) };

/** The number of reads of a verification without a fault. */
async function countReads(bytes: Uint8Array, options: Partial<VerifyPartOptions> = {}): Promise<number> {
  const access = faultyAccess(bytes, -1);
  expect((await verifyAccess(access, options)).verdict).not.toBe('incomplete');
  return access.reads;
}

describe('bytes that cannot be read', () => {
  test('leave the verdict open, whichever read fails, with any options', async () => {
    for (const options of [{}, { listed, secondOpinion }, { listed, depth: 'digest' as const }]) {
      const reads = await countReads(part, options);
      expect(reads).toBeGreaterThan(0);
      for (let n = 0; n < reads; n++) {
        const code = n % 2 === 0 ? 'io.UNREADABLE' : 'io.CHANGED';
        const report = await verifyAccess(faultyAccess(part, n, code), options);
        expect([n, report.verdict, errorsOf(report)]).toEqual([n, 'incomplete', [code]]);
        expect(report.coverage).toMatchObject({ coveredBytes: 0, attestedBytes: 0 });
        expect(report.checks.some((check) => check.state === 'failed')).toBe(false);
      }
    }
  });

  test('do not hide a mismatch', async () => {
    const damaged = flipBit(part, 100);
    const reads = await countReads(damaged, { listed });
    const report = await verifyAccess(faultyAccess(damaged, reads - 1), { listed });
    expect(report.verdict).toBe('failed');
    expect(stateOf(report, 'part.bytes')).toBe('failed');
  });

  test('differ from a fault of the program, which is rethrown', async () => {
    const broken = { size: 100, read: () => Promise.reject(new RangeError('bug')) };
    await expect(verifyAccess(broken)).rejects.toThrow(RangeError);
  });

  test('that are swapped after the hash are verified as they were used', async () => {
    const other = (await makePart(2, makeSigner())).bytes;
    let reads = 0;
    const hashed = Math.ceil(part.length / 262_144);
    const afterwards = Buffer.concat([other, part.subarray(other.length)]);
    const swapped = {
      size: part.length,
      read: (offset: number, length: number) =>
        memoryAccess(reads++ < hashed ? part : afterwards).read(offset, length),
    };
    const report = await verifyAccess(swapped, { listed });
    expect(report.verdict).toBe('failed');
  });
});

test('a part of up to 1 MiB is read once, and verified as it was then', async () => {
  const sound = faultyAccess(small, 1); // a second read would fail
  expect((await verifyAccess(sound, smallOptions)).verdict).toBe('verified');
  expect(sound.reads).toBe(1);
});

test('a part of up to 1 MiB has the same report from memory and from a file, sound or damaged', async () => {
  for (const at of [undefined, 0, 40, 100, 400, small.length - 300, small.length - 1]) {
    const bytes = at === undefined ? small : flipBit(small, at);
    const report = await verify(bytes, smallOptions);
    expect(await verifyAccess(faultyAccess(bytes, -1), smallOptions)).toEqual(report);
  }
});

const changing = (bytes: Uint8Array) => ({
  ...memoryAccess(bytes),
  assertUnchanged() {
    throw new DrillproofError('io.CHANGED', 'it is another file now');
  },
});

test('an archive that changed after it was digested leaves the verdict open, and the report has no digest of it', async () => {
  for (const depth of ['full', 'digest'] as const) {
    const report = await verifyAccess(changing(part), { listed, depth });
    expect([report.verdict, stateOf(report, 'part.bytes')]).toEqual(['incomplete', 'not_checked']);
    expect([errorsOf(report), report.archive]).toEqual([['io.CHANGED'], undefined]);
  }
});

test('an archive that changed after it was digested does not hide a mismatch', async () => {
  const report = await verifyAccess(changing(flipBit(part, 100)), { listed });
  expect([report.verdict, stateOf(report, 'part.bytes')]).toEqual(['failed', 'failed']);
});

/** A second reader of the undamaged part, which sees another size for one entry. */
const second = (other: string | undefined): SecondOpinion => ({
  ...secondOpinion,
  async *readZip() {
    for await (const entry of secondOpinion.readZip(memoryAccess(part)))
      yield entry.name === other ? { ...entry, bytes: entry.bytes + 1 } : entry;
  },
});

/** A report of the part in which the large object, and nothing else, could not be read. */
async function verifyWithoutLarge(other?: string): Promise<BundleReport> {
  const reads = await countReads(part);
  for (let n = 0; n < reads; n++) {
    const report = await verifyAccess(faultyAccess(part, n), { secondOpinion: second(other) });
    if (report.findings.some(({ path }) => path?.endsWith('large.bin'))) return report;
  }
  throw new TypeError('no read of the large object failed');
}

test('a second reader next to an entry that could not be read is open, and does not disagree', async () => {
  const report = await verifyWithoutLarge();
  expect([stateOf(report, 'second.reader'), errorsOf(report)]).toEqual(['not_checked', ['io.UNREADABLE']]);
});

test('a second reader next to an entry that could not be read disagrees over another entry', async () => {
  const report = await verifyWithoutLarge('manifest.json');
  expect([report.verdict, stateOf(report, 'second.reader')]).toEqual(['failed', 'failed']);
  expect(errorsOf(report)).toEqual(['io.UNREADABLE', 'zip.SECOND_OPINION']);
});

test('an aborted signal throws its reason at any read, even if the reason is a coded error', async () => {
  const aborted = new DrillproofError('transport.ABORTED', 'the caller ended it');
  for (const reason of [new Error('enough'), aborted]) {
    const reads = await countReads(part, { listed });
    for (let n = 0; n < reads - 1; n++) {
      const stop = new AbortController();
      let at = 0;
      const access = {
        size: part.length,
        read(offset: number, length: number) {
          if (at++ === n) stop.abort(reason);
          return memoryAccess(part).read(offset, length);
        },
      };
      const ended = await verifyAccess(access, { listed, signal: stop.signal }).catch(
        (error: unknown) => error,
      );
      // Once everything is read there is nothing left to end.
      if (ended !== reason) expect([n, ended]).toEqual([n, expect.objectContaining({ verdict: 'verified' })]);
      if (n < 2) expect(ended).toBe(reason);
    }
  }
});

test('an aborted signal throws at once when it was aborted before', async () => {
  const signal = AbortSignal.abort(new Error('before'));
  await expect(verify(part, { signal })).rejects.toThrow('before');
});
