import { crc32, deflateRawSync } from 'node:zlib';
import {
  bytesOf,
  end64,
  extraField,
  FORMS,
  join,
  LAYOUTS,
  le,
  makeEntry,
  type RawEnd,
  type RawEntry,
  zip64End,
} from '../../zip/raw-zip.ts';
import { editBytes, editDocument } from './json.ts';
import type { Random } from './random.ts';

/** What an archive is made of. */
export type Archive = { readonly entries: readonly RawEntry[]; readonly end: RawEnd };

const NAMES = [
  'objects/extra.txt',
  'objects/LOG.TXT',
  'objects/log.txt/x',
  'objects/',
  'objects/e\u0301.txt',
  'objects/é.txt',
  '../x',
  '/x',
  'objects//x',
  'objects/nul.txt',
  'objects/x.',
  'objects/a\\b',
  'Manifest.json',
  'attestation.json',
  'export.json',
  'build.json',
  'parts/x.zip',
  'x',
  '',
] as const;
const EXTRA_IDS = [
  0x5455, 0x7875, 0x000a, 0x7075, 0x6375, 0x0014, 0x0017, 0x0019, 0x9901, 0x000f, 0x756e, 0xcafe, 0x0001,
  0x5855,
] as const;

const MODES = [0o100644, 0o100755, 0o120777, 0o040755, 0o010644, 0o060644, 0o140644, 0, 0o644] as const;

const randomBytes = (random: Random, atMost: number): Uint8Array =>
  Uint8Array.from({ length: random.below(atMost + 1) }, () => random.below(256));

function makeExtra(random: Random, { name = 'file.txt' }: RawEntry): Uint8Array {
  const raw = bytesOf(name);
  return random.pick([
    () => extraField(random.pick(EXTRA_IDS), randomBytes(random, 12)),
    () => extraField(random.pick([0x5455, 0xcafe]), randomBytes(random, 12)),
    () => extraField(0x7075, join(le(1, 1), le(crc32(raw), 4), random.pick([raw, bytesOf('other')]))),
    () => extraField(1, le(random.below(100), 8)),
    () =>
      join(extraField(0x5455, randomBytes(random, 5)), extraField(random.pick([0x5455, 0x7875]), le(0, 1))),
    () => randomBytes(random, 5),
  ])();
}

/** An entry with deflated data of another form, or broken ones. */
function deflateAgain(random: Random, entry: RawEntry): RawEntry {
  const plain = bytesOf(entry.plain ?? '');
  const data = deflateRawSync(plain, { level: random.pick([0, 1, 9]), strategy: random.pick([0, 2, 4]) });
  const made = { name: entry.name ?? '', plain, method: 8 };
  return random.pick([
    { ...made, data },
    { ...made, data: join(data, le(0, 1 + random.below(2))) },
    { ...made, data: data.subarray(0, -1) },
    { ...made, data: editBytes(random, data) },
    { ...made, data, both: { size: plain.length + random.pick([-1, 1]) } },
    { ...made, data, both: { crc: random.next() } },
    { ...made, data, flags: 0x0800 | random.pick([2, 4, 6, 8]) },
  ]);
}

function editEntry(random: Random, entry: RawEntry): RawEntry {
  const plain = bytesOf(entry.plain ?? '');
  const form = () => makeEntry(String(entry.name), plain, random.pick([0, 8]), random.pick(FORMS));
  const extra = makeExtra(random, entry);
  const attributes = random.pick(MODES) * 65_536 + random.pick([0, 0, 1, 8, 0x10, 0x20, 0x40, 0x400]);
  return random.pick([
    form,
    form,
    form,
    () => ({ ...form(), after: randomBytes(random, 24) }),
    () => deflateAgain(random, entry),
    () => deflateAgain(random, entry),
    () => ({ ...entry, plain: editBytes(random, plain) }),
    () => ({ ...entry, plain: editDocument(random, plain) }),
    () => ({ ...entry, name: random.pick(NAMES) }),
    () => ({ ...entry, localName: random.pick(NAMES) }),
    () => ({ ...entry, extra }),
    () => ({ ...entry, localExtra: extra }),
    () => ({ ...entry, extra, localExtra: extra }),
    () => ({ ...form(), extra }),
    () => ({ ...entry, comment: randomBytes(random, 3) }),
    () => ({ ...entry, before: randomBytes(random, 30) }),
    () => ({ ...entry, after: randomBytes(random, 16) }),
    () => ({ ...entry, central: { external: attributes } }),
    () => ({
      ...entry,
      central: { external: attributes, madeBy: random.pick([0x0014, 0x033f, 0x0a3f, 0x133f]) },
    }),
    () => ({ ...entry, both: { flags: random.pick([0, 1, 2, 4, 8, 0x40, 0x800, 0x801, 0x2000, 0x808]) } }),
    () => ({ ...entry, both: { version: random.pick([0, 10, 20, 45, 46, 51, 63, 0x0114]) } }),
    () => ({ ...entry, both: { time: random.below(65_536), date: random.below(65_536) } }),
  ])();
}

/** The entries after one edit of their content, number, order or form. */
export function editEntries(random: Random, { entries, end }: Archive): Archive {
  const at = random.below(entries.length);
  const chosen = entries[at] ?? {};
  const replaceBy = (...made: RawEntry[]): Archive => ({ entries: entries.toSpliced(at, 1, ...made), end });
  const edited = () => replaceBy(editEntry(random, chosen));
  return random.pick([
    edited,
    edited,
    edited,
    edited,
    edited,
    edited,
    () => replaceBy(),
    () => replaceBy(chosen, chosen),
    () => replaceBy(chosen, { name: random.pick(NAMES), plain: randomBytes(random, 9) }),
    () => ({ entries: entries.toSpliced(at, 1).toSpliced(random.below(entries.length), 0, chosen), end }),
    () => ({ entries: entries.toReversed(), end }),
    () => ({
      entries: entries.map(({ name, plain }) =>
        makeEntry(String(name), plain ?? '', random.pick([0, 8]), random.pick(FORMS)),
      ),
      end,
    }),
    () => ({ entries: [], end }),
  ])();
}

const END64 = [
  'remaining',
  'madeBy',
  'version',
  'disk',
  'directoryDisk',
  'entries',
  'bytes',
  'offset',
  'disks',
] as const;

/** The end of an archive after one edit. */
export function editEnd(random: Random, { entries, end }: Archive): Archive {
  const order = entries.map((_, i) => i);
  const swapped = order.toSpliced(random.below(order.length), 1);
  const wide = zip64End();
  const sector = randomBytes(random, 8);
  const change = { [random.pick(END64)]: random.pick([0, 1, 44, 45, 0x033f, 2 ** 32, 2 ** 53]) };
  const ends: [RawEnd, ...RawEnd[]] = [
    wide,
    wide,
    { ...wide, [random.pick(['entries', 'bytes', 'offset'])]: random.pick([0, 1, 0xff_ff]) },
    { before: (place) => end64(place) },
    { ...wide, before: (place) => end64(place, { sector }) },
    { ...wide, before: (place) => end64(place, change) },
    { ...wide, before: (place) => join(end64(place), sector) },
    { order: order.toReversed() },
    { order: swapped },
    { order: [...order, random.below(order.length)] },
    { comment: sector },
    { prefix: sector },
    { suffix: sector },
    { before: () => sector },
  ];
  return { entries, end: { ...end, ...random.pick(ends) } };
}

const SIGNATURES = Array.from(LAYOUTS, ([signature, layout]) => ({
  start: Buffer.from(le(signature, 4)),
  layout,
}));

type Field = { readonly name: string; readonly at: number; readonly width: number };

/** The fields of everything that looks like a record, also of archives in an archive. */
function listFields(bytes: Uint8Array): Field[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const fields: Field[] = [];
  for (const { start, layout } of SIGNATURES)
    for (let at = buffer.indexOf(start); at >= 0; at = buffer.indexOf(start, at + 4)) {
      let offset = at;
      for (const [name, width] of Object.entries(layout)) {
        if (offset + width <= bytes.length) fields.push({ name, at: offset, width });
        offset += width;
      }
    }
  return fields;
}

const readNumber = (bytes: Uint8Array, { at, width }: Field): bigint =>
  bytes.subarray(at, at + width).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);

/** Bytes with one number in a record changed, or the same number wherever a record has it in that field. */
export function editFields(random: Random, bytes: Uint8Array): Uint8Array {
  const fields = listFields(bytes);
  const field = random.choose(fields);
  if (field === undefined) return bytes;
  const old = readNumber(bytes, field);
  const most = 256n ** BigInt(field.width) - 1n;
  const value = random.pick([
    old + 1n,
    old - 1n,
    0n,
    1n,
    most,
    most - 1n,
    old ^ (1n << BigInt(random.below(8 * field.width))),
  ]);
  const alike = fields.filter((other) => other.name === field.name && readNumber(bytes, other) === old);
  const copy = Uint8Array.from(bytes);
  for (const { at, width } of random.once(2) ? [field] : alike) copy.set(bigToBytes(value & most, width), at);
  return copy;
}

const bigToBytes = (value: bigint, width: number): Uint8Array =>
  Uint8Array.from({ length: width }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
