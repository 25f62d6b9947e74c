import { describe, expect, test } from 'vitest';
import type { RandomAccess } from '../../../src/bytes/random-access.ts';
import {
  codesOf,
  errorsOf,
  flipBit,
  listingOf,
  makeObject,
  makePart,
  pack,
  stateOf,
  unpack,
} from '../../support/evidence.ts';
import { isDeep } from '../../support/deep.ts';
import { signer, verify, verifyAccess } from './setup.ts';

/** The quick run flips every 11th byte, the deep run every byte. */
const STRIDE = isDeep ? 1 : 11;

const objects = [
  makeObject('e', 'evidence', { role: 'evidence' }),
  makeObject('s', 'state', { role: 'state' }),
  makeObject('t', 'trajectory', { role: 'trajectory' }),
];
const part = await pack(await unpack((await makePart(1, signer, { objects })).bytes));
const listed = await listingOf(part);

describe('a small signed part', () => {
  test('is verified as it was packed, with and without the row that lists it', async () => {
    for (const options of [{ listed }, {}]) {
      const report = await verify(part, options);
      expect(report).toMatchObject({ verdict: 'verified', provenance: 'attested', findings: [] });
    }
  });

  test('fails under its listing with any single byte flipped', async () => {
    for (let offset = 0; offset < part.length; offset += STRIDE) {
      const report = await verify(flipBit(part, offset), { listed });
      expect([offset, report.verdict]).toEqual([offset, 'failed']);
      expect(errorsOf(report)).toContain('part.DIGEST_MISMATCH');
    }
  });

  test('is only verified alone with any single byte flipped if its content is unchanged', async () => {
    const original = await unpack(part);
    for (let offset = 0; offset < part.length; offset += STRIDE) {
      const bytes = flipBit(part, offset);
      const report = await verify(bytes);
      if (report.verdict !== 'verified') {
        expect([offset, report.verdict]).toEqual([offset, 'failed']);
        expect(errorsOf(report)).not.toEqual([]);
        continue;
      }
      // Only fields of the headers changed, such as the time.
      expect(codesOf(report).filter((code) => code !== 'zip.METADATA_UNUSUAL')).toEqual([]);
      expect(await unpack(bytes)).toEqual(original);
    }
  });

  test('fails when it was packed again with any single byte of an entry flipped', async () => {
    const entries = await unpack(part);
    for (const [name, bytes] of entries) {
      for (let offset = 0; offset < bytes.length; offset += STRIDE) {
        const report = await verify(await pack(new Map(entries).set(name, flipBit(bytes, offset))));
        expect([name, offset, report.verdict]).toEqual([name, offset, 'failed']);
      }
    }
  });

  test.each([1, 2, 21, 22, 23, 100, 500, 1000])('fails without its last %i bytes', async (missing) => {
    const bytes = part.subarray(0, part.length - missing);
    const report = await verify(bytes, { listed });
    expect(report.verdict).toBe('failed');
    expect(errorsOf(report)).toEqual(['part.BYTES_MISMATCH']);
    expect(stateOf(report, 'part.archive')).toBe('not_checked');
    expect((await verify(bytes)).verdict).toBe('failed');
  });

  test('reads nothing of a part of 8 TiB whose row lists fewer bytes', async () => {
    const access: RandomAccess = { size: 8 * 2 ** 40, read: () => expect.fail('nothing has to be read') };
    const report = await verifyAccess(access, { listed });
    expect(errorsOf(report)).toEqual(['part.BYTES_MISMATCH']);
    const coverage = { totalBytes: access.size, coveredBytes: 0 };
    expect(report).toMatchObject({ verdict: 'failed', coverage });
    expect(report.archive).toBeUndefined();
  });

  test('fails with io.CHANGED if the source returns no bytes', async () => {
    const empty: RandomAccess = { size: 8 * 2 ** 40, read: () => new Uint8Array() };
    const row = { ...listed.row, bytes: String(empty.size) };
    const report = await verifyAccess(empty, { listed: { ...listed, row } });
    expect(report.verdict).toBe('incomplete');
    expect(errorsOf(report)).toContain('io.CHANGED');
  });

  test('fails when cut at every 37th length, when empty, and with a byte after its end or before its start', async () => {
    const cuts = Array.from({ length: Math.ceil(part.length / 37) }, (_, i) => part.subarray(0, i * 37));
    const grown = [Uint8Array.of(...part, 0), Uint8Array.of(0, ...part)];
    for (const bytes of [...cuts, ...grown]) expect((await verify(bytes)).verdict).toBe('failed');
  });
});
