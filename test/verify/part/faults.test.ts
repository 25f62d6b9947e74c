import { beforeAll, describe, expect, test } from 'vitest';
import { memoryAccess, platform as portable } from '../../../src/bytes/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { readZipWithYauzl } from '../../../src/node/second-opinion/index.ts';
import type { TrustStore } from '../../../src/trust/index.ts';
import {
  verifyPart,
  type BundleReport,
  type Listing,
  type SecondOpinion,
  type VerifyPartOptions,
} from '../../../src/verify/index.ts';
import {
  errorsOf,
  faultyAccess,
  flipped,
  listingOf,
  makeObject,
  makePart,
  makeSigner,
  makeTrust,
  makeBundleInput,
  NOW,
  stateOf,
} from '../../support/evidence.ts';

/** Text that deflate leaves above 1 MiB. */
const NOISE = Buffer.from(
  Uint8Array.from({ length: 1_200_000 }, (_, i) => Math.imul(i, 2_654_435_761) >>> (8 + (i % 7))),
).toString('base64');

let trust: TrustStore;
let part: Uint8Array;
let listed: Listing;

beforeAll(async () => {
  const signer = makeSigner();
  trust = makeTrust(signer);
  const { objects } = makeBundleInput(1);
  // Above 1 MiB, so that the part is not held in memory.
  const large = makeObject('large.bin', NOISE);
  part = (await makePart(1, signer, { objects: [...objects, large] })).bytes;
  listed = await listingOf(part);
});

describe('bytes that cannot be read', () => {
  test('leave the verdict open, whichever read fails and whatever else was asked', async () => {
    const secondOpinion = { p256: portable.p256, readZip: readZipWithYauzl };
    const asked: Partial<VerifyPartOptions>[] = [{}, { listed, secondOpinion }, { listed, depth: 'digest' }];
    for (const options of asked) {
      const sound = faultyAccess(part, -1);
      expect((await verifyPart(sound, { asOfMs: NOW, trust, ...options })).verdict).not.toBe('incomplete');
      expect(sound.reads).toBeGreaterThan(0);
      for (let n = 0; n < sound.reads; n++) {
        const code = n % 2 === 0 ? 'io.UNREADABLE' : 'io.CHANGED';
        const report = await verifyPart(faultyAccess(part, n, code), { asOfMs: NOW, trust, ...options });
        expect([n, report.verdict, errorsOf(report)]).toEqual([n, 'incomplete', [code]]);
        expect(report.coverage).toMatchObject({ coveredBytes: 0, attestedBytes: 0 });
        expect(report.checks.some((check) => check.state === 'failed')).toBe(false);
      }
    }
  });

  test('do not hide a mismatch', async () => {
    const damaged = flipped(part, 100);
    const reads = faultyAccess(damaged, -1);
    await verifyPart(reads, { asOfMs: NOW, trust, listed });
    const report = await verifyPart(faultyAccess(damaged, reads.reads - 1), { asOfMs: NOW, trust, listed });
    expect(report.verdict).toBe('failed');
    expect(stateOf(report, 'part.bytes')).toBe('failed');
  });

  test('differ from a fault of the program, which is rethrown', async () => {
    const broken = { size: 100, read: () => Promise.reject(new RangeError('bug')) };
    await expect(verifyPart(broken, { asOfMs: NOW })).rejects.toThrow(RangeError);
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
    const report = await verifyPart(swapped, { asOfMs: NOW, trust, listed });
    expect(report.verdict).toBe('failed');
  });
});

test('a part of up to 1 MiB is read once, and verified as it was then', async () => {
  const signer = makeSigner();
  const { bytes } = await makePart(1, signer);
  const options = { asOfMs: NOW, trust: makeTrust(signer), listed: await listingOf(bytes) };
  const sound = faultyAccess(bytes, 1); // a second read would fail
  expect((await verifyPart(sound, options)).verdict).toBe('verified');
  expect(sound.reads).toBe(1);
});

test('a part of up to 1 MiB has the same report from memory and from a file, sound or damaged', async () => {
  const signer = makeSigner();
  const { bytes } = await makePart(1, signer);
  const options = { asOfMs: NOW, trust: makeTrust(signer), listed: await listingOf(bytes) };
  for (const at of [undefined, 0, 40, 100, 400, bytes.length - 300, bytes.length - 1]) {
    const tested = at === undefined ? bytes : flipped(bytes, at);
    const held = await verifyPart(memoryAccess(tested), options);
    expect(await verifyPart(faultyAccess(tested, -1), options)).toEqual(held);
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
    const report = await verifyPart(changing(part), { asOfMs: NOW, trust, listed, depth });
    expect([report.verdict, stateOf(report, 'part.bytes')]).toEqual(['incomplete', 'not_checked']);
    expect([errorsOf(report), report.archive]).toEqual([['io.CHANGED'], undefined]);
  }
});

test('an archive that changed after it was digested does not hide a mismatch', async () => {
  const report = await verifyPart(changing(flipped(part, 100)), { asOfMs: NOW, trust, listed });
  expect([report.verdict, stateOf(report, 'part.bytes')]).toEqual(['failed', 'failed']);
});

/** The second reader, as it reads the part while it is whole. */
const second = (other: string | undefined): SecondOpinion => ({
  p256: portable.p256,
  async *readZip() {
    for await (const entry of readZipWithYauzl(memoryAccess(part)))
      yield entry.name === other ? { ...entry, bytes: entry.bytes + 1 } : entry;
  },
});

/** A report of the part in which the large object, and nothing else, could not be read. */
async function judged(other?: string): Promise<BundleReport> {
  const reads = faultyAccess(part, -1);
  await verifyPart(reads, { asOfMs: NOW, trust });
  for (let n = 0; n < reads.reads; n++) {
    const options = { asOfMs: NOW, trust, secondOpinion: second(other) };
    const report = await verifyPart(faultyAccess(part, n), options);
    if (report.findings.some(({ path }) => path?.endsWith('large.bin'))) return report;
  }
  throw new TypeError('no read of the large object failed');
}

test('a second reader next to an entry that could not be read is open, and does not disagree', async () => {
  const report = await judged();
  expect([stateOf(report, 'second.reader'), errorsOf(report)]).toEqual(['not_checked', ['io.UNREADABLE']]);
});

test('a second reader next to an entry that could not be read disagrees over another entry', async () => {
  const report = await judged('manifest.json');
  expect([report.verdict, stateOf(report, 'second.reader')]).toEqual(['failed', 'failed']);
  expect(errorsOf(report)).toEqual(['io.UNREADABLE', 'zip.SECOND_OPINION']);
});

test('an aborted signal throws its reason, whichever read it comes at, even when that is an error of ours', async () => {
  for (const reason of [
    new Error('enough'),
    new DrillproofError('transport.ABORTED', 'the caller ended it'),
  ]) {
    const { reads } = await counted();
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
      const options = { asOfMs: NOW, trust, listed, signal: stop.signal };
      const ended = await verifyPart(access, options).catch((error: unknown) => error);
      // Once everything is read there is nothing left to end.
      if (ended !== reason) expect([n, ended]).toEqual([n, expect.objectContaining({ verdict: 'verified' })]);
      if (n < 2) expect(ended).toBe(reason);
    }
  }
});

test('an aborted signal throws at once when it was aborted before', async () => {
  const options = { asOfMs: NOW, signal: AbortSignal.abort(new Error('before')) };
  await expect(verifyPart(memoryAccess(part), options)).rejects.toThrow('before');
});

async function counted(): Promise<{ reads: number }> {
  const access = faultyAccess(part, -1);
  await verifyPart(access, { asOfMs: NOW, trust, listed });
  return access;
}
