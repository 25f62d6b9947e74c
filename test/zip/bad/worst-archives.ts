import { deflateRawSync } from 'node:zlib';
import { bytesOf, extraField, join, le, rawZip, type RawEntry } from '../raw-zip.ts';

const entry = (i: number, rest: RawEntry = {}): RawEntry => ({ name: `f${i}`, plain: '', ...rest });
const many = (count: number, make: (i: number) => RawEntry): RawEntry[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** As many empty blocks as one extra field can hold, each with a different unknown id. */
const blocks = (): Uint8Array => {
  const field = new Uint8Array(4 * 16_383);
  const view = new DataView(field.buffer);
  for (let i = 0; i < 16_383; i++) view.setUint16(4 * i, 0xa000 + i, true);
  return field;
};
const BLOCKS = blocks();
const bomb = deflateRawSync(new Uint8Array(64 * 2 ** 20));

/** Archives that cost their readers the most, with the code of each refusal. */
export const worstArchives: Readonly<Record<string, readonly [code: string, make: () => Uint8Array]>> = {
  'a twin at the end of very many names': [
    'zip.ENTRY_DUPLICATE',
    () => rawZip([...many(65_000, (i) => entry(i)), entry(64_999)]),
  ],
  'a directory full of extra fields, wrong at its end': [
    'zip.RECORD_INVALID',
    () => rawZip([...many(1_000, (i) => entry(i, { extra: BLOCKS })), entry(1_000, { extra: le(1, 3) })]),
  ],
  'local headers full of extra fields, the last one wrong': [
    'zip.HEADER_MISMATCH',
    () =>
      rawZip([...many(1_000, (i) => entry(i, { localExtra: BLOCKS })), entry(1_000, { local: { time: 1 } })]),
  ],
  'a directory of very long names': [
    'zip.NAME_INVALID',
    () => rawZip(many(1_000, (i) => entry(i, { name: `${'é/'.repeat(21_000)}${i}` }))),
  ],
  'entries that all overlap': [
    'zip.ENTRY_OVERLAP',
    () => rawZip(many(65_000, (i) => entry(i, { central: { offset: 0 } }))),
  ],
  'a bomb that announces little': [
    'zip.SIZE_MISMATCH',
    () => rawZip([{ name: 'a', plain: 'x', data: bomb, method: 8 }]),
  ],
  'a bomb that announces the largest size': [
    'zip.ENTRY_OVERLAP',
    () =>
      rawZip([
        { name: 'a', data: bomb, method: 8, both: { size: 0xff_ff_ff_fe, compressed: 0xff_ff_ff_fe } },
      ]),
  ],
  'end records in a comment, one in the other': [
    'zip.BYTES_UNACCOUNTED',
    () => join(rawZip([]), new Uint8Array(65_000).fill(0x50), bytesOf('PK\u0005\u0006'), le(0, 17)),
  ],
  'an extra field that is longer than the file': [
    'zip.TRUNCATED',
    () => rawZip([{ name: 'a', localExtra: extraField(0xcafe, le(0, 1)), local: { extraLength: 0xffff } }]),
  ],
};
