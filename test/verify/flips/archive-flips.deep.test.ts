import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { verifyPart } from '../../../src/verify/index.ts';
import { openZip, type ZipEntry } from '../../../src/zip/index.ts';
import { codesOf, makePart, makeSigner, makeTrust, NOW, unpack } from '../../support/evidence.ts';
import { end64, extraField, join, le, rawZip, type RawEntry } from '../../zip/raw-zip.ts';
import { isExhaustive } from '../../support/deep.ts';

const ALL_MASKS = [...Array.from({ length: 8 }, (_, bit) => 1 << bit), 0x03, 0x55, 0xaa, 0xff];
/** All masks over every byte unless told otherwise would take minutes; the gate takes them in turn. */
const masksAt = (at: number): readonly number[] =>
  isExhaustive ? ALL_MASKS : [ALL_MASKS[at % ALL_MASKS.length]!];

type Files = ReadonlyMap<string, Uint8Array>;

const WIDE = 0xff_ff_ff_ff;
const numbers = (...values: readonly number[]): Uint8Array =>
  extraField(1, join(...values.map((value) => le(value, 8))));
const descriptor = (plain: Uint8Array, data: Uint8Array, width: 4 | 8): Uint8Array =>
  join(le(crc32(plain), 4), le(data.length, width), le(plain.length, width));
const encoded = (plain: Uint8Array, method: number) => (method === 8 ? deflateRawSync(plain) : plain);

type Form = (name: string, plain: Uint8Array, method: number) => RawEntry;
const usual: Form = (name, plain, method) => ({ name, plain, method });
const wide: Form = (name, plain, method) => ({
  ...usual(name, plain, method),
  both: { version: 45, size: WIDE, compressed: WIDE },
  extra: numbers(plain.length, encoded(plain, method).length),
  localExtra: numbers(plain.length, encoded(plain, method).length),
});
const streamed: Form = (name, plain, method) => ({
  ...usual(name, plain, method),
  flags: 0x0808,
  local: { crc: 0, compressed: 0, size: 0 },
  after: descriptor(plain, encoded(plain, method), 4),
});
const signed: Form = (name, plain, method) => {
  const entry = streamed(name, plain, method);
  return { ...entry, after: join(le(0x08074b50, 4), entry.after!) };
};
const wideStreamed: Form = (name, plain, method) => ({
  ...wide(name, plain, method),
  flags: 0x0808,
  after: join(le(0x08074b50, 4), descriptor(plain, encoded(plain, method), 8)),
});

const packed = (files: Files, form: Form, method: number, zip64 = false): Uint8Array =>
  rawZip(
    [...files].map(([name, plain]) => form(name, plain, method)),
    zip64 ? { before: (place) => end64(place), entries: 0xffff, bytes: WIDE, offset: WIDE } : {},
  );

const forms: readonly (readonly [what: string, pack: (files: Files) => Uint8Array])[] = [
  ['stored', (files) => packed(files, usual, 0)],
  ['deflated', (files) => packed(files, usual, 8)],
  ['stored, with sizes in ZIP64 fields', (files) => packed(files, wide, 0)],
  ['deflated, with sizes in ZIP64 fields', (files) => packed(files, wide, 8)],
  ['stored, with ZIP64 end records', (files) => packed(files, usual, 0, true)],
  ['stored, with data descriptors', (files) => packed(files, streamed, 0)],
  ['deflated, with signed data descriptors', (files) => packed(files, signed, 8)],
  ['stored, with signed data descriptors of 64 bits', (files) => packed(files, wideStreamed, 0, true)],
];

const signer = makeSigner();
const trust = makeTrust(signer);
const files = await unpack((await makePart(1, signer)).bytes);

const judge = (bytes: Uint8Array) => verifyPart(memoryAccess(bytes), { asOfMs: NOW, trust });

describe.each(forms)('a signed part, %s', (_, pack) => {
  it('with a byte flipped is never verified without a finding', async () => {
    const original = pack(files);
    const before = await judge(original);
    expect(before.verdict).toBe('verified');
    const { entries } = await openZip(memoryAccess(original));
    const silent = new Set<string>();
    for (let at = 0; at < original.length; at++) {
      for (const mask of masksAt(at)) {
        const changed = original.with(at, original[at]! ^ mask);
        const report = await judge(changed);
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
 * Whether the byte is the last of deflated data and only its filling has changed: after the end of the last block up
 * to seven bits fill the byte, and no reader looks at them (RFC 1951 §3.1.1; formats §1, Part archive).
 */
function isFilling(entries: readonly ZipEntry[], before: Uint8Array, after: Uint8Array, at: number): boolean {
  const entry = entries.find(
    ({ dataOffset, compressedBytes }) => at === dataOffset + compressedBytes - 1 && compressedBytes > 0,
  );
  if (entry?.method !== 'deflate') return false;
  const dataOf = (bytes: Uint8Array) => bytes.subarray(entry.dataOffset, at + 1);
  return inflateRawSync(dataOf(before)).equals(inflateRawSync(dataOf(after)));
}
