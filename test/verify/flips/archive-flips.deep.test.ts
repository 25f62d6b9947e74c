import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { verifyPart } from '../../../src/verify/part/part.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import type { ZipEntry } from '../../../src/zip/read/entry.ts';
import { codesOf, makePart, makeSigner, makeTrust, NOW, unpack } from '../../support/evidence.ts';
import { makeEntry, rawZip, zip64End } from '../../zip/raw-zip.ts';
import { isExhaustive } from '../../support/deep.ts';

const ALL_MASKS = [...Array.from({ length: 8 }, (_, bit) => 1 << bit), 0x03, 0x55, 0xaa, 0xff];
/** All masks over every byte take minutes, so each byte gets one of them. */
const masksAt = (at: number): readonly number[] =>
  isExhaustive ? ALL_MASKS : [ALL_MASKS[at % ALL_MASKS.length]!];

const forms = [
  ['stored', 'usual', 0, false],
  ['deflated', 'usual', 8, false],
  ['stored, with sizes in ZIP64 fields', 'wide', 0, false],
  ['deflated, with sizes in ZIP64 fields', 'wide', 8, false],
  ['stored, with ZIP64 end records', 'usual', 0, true],
  ['stored, with data descriptors', 'streamed', 0, false],
  ['deflated, with signed data descriptors', 'signed', 8, false],
  ['stored, with signed data descriptors of 64 bits', 'wideStreamed', 0, true],
] as const;

const signer = makeSigner();
const trust = makeTrust(signer);
const files = await unpack((await makePart(1, signer)).bytes);

const verify = (bytes: Uint8Array) => verifyPart(memoryAccess(bytes), { asOfMs: NOW, trust });

describe.each(forms)('a signed part, %s', (_, form, method, zip64) => {
  it('with a byte flipped is never verified without a finding', async () => {
    const inputs = [...files].map(([name, plain]) => makeEntry(name, plain, method, form));
    const original = rawZip(inputs, zip64 ? zip64End() : {});
    const before = await verify(original);
    expect(before.verdict).toBe('verified');
    const { entries } = await openZip(memoryAccess(original));
    const silent = new Set<string>();
    for (let at = 0; at < original.length; at++) {
      for (const mask of masksAt(at)) {
        const changed = original.with(at, original[at]! ^ mask);
        const report = await verify(changed);
        if (report.verdict !== 'verified') continue;
        expect(await unpack(changed), `byte ${at} ^ ${mask}`).toEqual(files);
        if (codesOf(report).length > 0) continue;
        if (!isFilling(entries, original, changed, at)) silent.add(`byte ${at} ^ ${mask}`);
      }
    }
    expect([...silent]).toEqual([]);
  });
});

/**
 * True if the byte is the last of deflated data and only its filling has changed: up to seven bits after the end of the
 * last block, which no reader uses (RFC 1951 §3.1.1; formats §1, Part archive).
 */
function isFilling(entries: readonly ZipEntry[], before: Uint8Array, after: Uint8Array, at: number): boolean {
  const entry = entries.find(
    ({ dataOffset, compressedBytes }) => at === dataOffset + compressedBytes - 1 && compressedBytes > 0,
  );
  if (entry?.method !== 'deflate') return false;
  const dataOf = (bytes: Uint8Array) => bytes.subarray(entry.dataOffset, at + 1);
  return inflateRawSync(dataOf(before)).equals(inflateRawSync(dataOf(after)));
}
