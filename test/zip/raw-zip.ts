import { deflateRawSync, crc32 } from 'node:zlib';

/** Archives put together field by field, so that any one of them can be wrong. It shares no code with src/zip. */

/** The fields of each record, in order, with their widths in bytes (APPNOTE 4.3). */
const HEADER = { version: 2, flags: 2, method: 2, time: 2, date: 2, crc: 4, compressed: 4, size: 4 } as const;
const LOCAL = { signature: 4, ...HEADER, nameLength: 2, extraLength: 2 } as const;
const CENTRAL = {
  signature: 4,
  madeBy: 2,
  ...HEADER,
  nameLength: 2,
  extraLength: 2,
  commentLength: 2,
  disk: 2,
  internal: 2,
  external: 4,
  offset: 4,
} as const;
const END = {
  signature: 4,
  disk: 2,
  directoryDisk: 2,
  entriesOnDisk: 2,
  entries: 2,
  bytes: 4,
  offset: 4,
  commentLength: 2,
} as const;
const END64 = {
  signature: 4,
  remaining: 8,
  madeBy: 2,
  version: 2,
  disk: 4,
  directoryDisk: 4,
  entriesOnDisk: 8,
  entries: 8,
  bytes: 8,
  offset: 8,
} as const;
const LOCATOR = { locatorSignature: 4, locatorDisk: 4, locatorOffset: 8, disks: 4 } as const;

/** The fields of each record by its signature. */
export const LAYOUTS: ReadonlyMap<number, Readonly<Record<string, number>>> = new Map<
  number,
  Readonly<Record<string, number>>
>([
  [0x04034b50, LOCAL],
  [0x02014b50, CENTRAL],
  [0x06054b50, END],
  [0x06064b50, END64],
  [0x07064b50, LOCATOR],
  [0x08074b50, { signature: 4, crc: 4, compressed: 4, size: 4 }],
]);

const namesOf = <Layout extends object>(layout: Layout) => Object.keys(layout) as (keyof Layout)[];
export const FIELDS = {
  both: namesOf(HEADER),
  local: namesOf(LOCAL),
  central: namesOf(CENTRAL),
  end: namesOf(END),
  end64: namesOf({ ...END64, ...LOCATOR }),
};

type Values<Layout> = { -readonly [Field in keyof Layout]: number };

/** A record of these values, and of whatever else they have. */
const encode = <Layout extends object>(layout: Layout, values: Values<Layout>): Uint8Array =>
  joinAll(namesOf(layout).map((field) => le(values[field], layout[field] as number)));

export type RawEntry = {
  name?: string | Uint8Array;
  plain?: string | Uint8Array;
  /** The data as they stand in the archive, instead of the plain bytes encoded by `method`. */
  data?: Uint8Array;
  method?: number;
  flags?: number;
  /** Fields of both headers. */
  both?: Partial<Values<typeof LOCAL>>;
  local?: Partial<Values<typeof LOCAL>>;
  central?: Partial<Values<typeof CENTRAL>>;
  localName?: string | Uint8Array;
  extra?: Uint8Array;
  localExtra?: Uint8Array;
  comment?: Uint8Array;
  /** Bytes before the local header and after the data. */
  before?: Uint8Array;
  after?: Uint8Array;
};

export type RawEnd = Partial<Values<typeof END>> & {
  comment?: Uint8Array;
  /** Between the directory and the end record, such as the two records of ZIP64. */
  before?: (place: Place) => Uint8Array;
  prefix?: Uint8Array;
  suffix?: Uint8Array;
  /** The order in which the central directory lists the entries. */
  order?: readonly number[];
};

export type RawEnd64 = Partial<Values<typeof END64 & typeof LOCATOR>> & { sector?: Uint8Array };

export type Place = { offset: number; bytes: number; entries: number };

/** An unsigned little-endian number. */
export function le(value: number, width: number): Uint8Array {
  const bytes = new Uint8Array(width);
  let rest = BigInt(value);
  for (let i = 0; i < width; i++, rest >>= 8n) bytes[i] = Number(rest & 0xffn);
  return bytes;
}

export const bytesOf = (text: string | Uint8Array): Uint8Array =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text;

export const join = (...parts: Uint8Array[]): Uint8Array => joinAll(parts);

export const joinAll = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

export const extraField = (id: number, data: Uint8Array): Uint8Array =>
  join(le(id, 2), le(data.length, 2), data);

/** Sizes in a ZIP64 field. */
const zip64Sizes = (...sizes: readonly number[]): Uint8Array =>
  extraField(1, joinAll(sizes.map((size) => le(size, 8))));

/** A 32-bit field whose number is in a ZIP64 record. */
export const IN_ZIP64 = 0xff_ff_ff_ff;

/** The forms of entries that tools write: with ZIP64 fields, with data descriptors, and with a time. */
export const FORMS = ['usual', 'wide', 'streamed', 'signed', 'wideStreamed', 'dated'] as const;

/** An entry in one of these forms. */
export function makeEntry(
  name: string,
  content: string | Uint8Array,
  method: number,
  form: (typeof FORMS)[number],
): RawEntry {
  const plain = bytesOf(content);
  const compressed = method === 8 ? deflateRawSync(plain).length : plain.length;
  const usual: RawEntry = { name, plain, method };
  const streamed: RawEntry = { ...usual, flags: 0x0808, local: { crc: 0, compressed: 0, size: 0 } };
  const sizes = zip64Sizes(plain.length, compressed);
  const both = { version: 45, size: IN_ZIP64, compressed: IN_ZIP64 };
  const wide: RawEntry = { ...usual, both, extra: sizes, localExtra: sizes };
  const signature = le(0x08074b50, 4);
  const after = (width: number) => join(le(crc32(plain), 4), le(compressed, width), le(plain.length, width));
  const stamp = extraField(0x5455, join(le(1, 1), le(1_700_000_000, 4)));
  return {
    usual,
    wide,
    streamed: { ...streamed, after: after(4) },
    signed: { ...streamed, after: join(signature, after(4)) },
    wideStreamed: { ...wide, flags: 0x0808, after: join(signature, after(8)) },
    dated: { ...usual, both: { time: 0x7d1c, date: 0x5c75 }, extra: stamp, localExtra: stamp },
  }[form];
}

/** End records in ZIP64 format. */
export const zip64End = (): RawEnd => ({
  before: (place) => end64(place),
  entries: 0xffff,
  bytes: IN_ZIP64,
  offset: IN_ZIP64,
});

const NO_BYTES = new Uint8Array();

export function rawZip(entries: readonly RawEntry[], end: RawEnd = {}): Uint8Array {
  const { prefix = NO_BYTES, suffix = NO_BYTES } = end;
  const body = [prefix];
  const headers: Uint8Array[] = [];
  let offset = prefix.length;
  for (const entry of entries) {
    const { before = NO_BYTES, after = NO_BYTES } = entry;
    const { local, data, central } = rawEntry(entry, offset + before.length);
    const parts = [before, local, data, after];
    body.push(...parts);
    headers.push(central);
    offset += parts.reduce((sum, part) => sum + part.length, 0);
  }
  const order = end.order ?? headers.map((_, i) => i);
  const directory = joinAll(order.map((i) => headers[i] ?? NO_BYTES));
  const place = { offset, bytes: directory.length, entries: order.length };
  const before = end.before?.(place) ?? NO_BYTES;
  return join(joinAll(body), directory, before, endRecord(end, place), suffix);
}

function rawEntry(entry: RawEntry, offset: number) {
  const { method = 0, flags = 0x0800, extra = NO_BYTES, localExtra = NO_BYTES, comment = NO_BYTES } = entry;
  const name = bytesOf(entry.name ?? 'file.txt');
  const localName = bytesOf(entry.localName ?? name);
  const plain = bytesOf(entry.plain ?? 'some bytes, some bytes, some bytes');
  const data = entry.data ?? (method === 8 ? deflateRawSync(plain) : plain);
  const sizes = { crc: crc32(plain), compressed: data.length, size: plain.length };
  const shared = { version: 20, flags, method, time: 0, date: 0x21, ...sizes };
  const local = encode(LOCAL, {
    signature: 0x04034b50,
    ...shared,
    nameLength: localName.length,
    extraLength: localExtra.length,
    ...entry.both,
    ...entry.local,
  });
  const central = encode(CENTRAL, {
    signature: 0x02014b50,
    madeBy: 0x033f,
    ...shared,
    nameLength: name.length,
    extraLength: extra.length,
    commentLength: comment.length,
    disk: 0,
    internal: 0,
    external: 0o100644 * 65536,
    offset,
    ...entry.both,
    ...entry.central,
  });
  return { local: join(local, localName, localExtra), data, central: join(central, name, extra, comment) };
}

function endRecord({ comment = NO_BYTES, ...end }: RawEnd, { entries, bytes, offset }: Place): Uint8Array {
  const record = encode(END, {
    signature: 0x06054b50,
    disk: 0,
    directoryDisk: 0,
    entriesOnDisk: end.entries ?? entries,
    entries,
    bytes,
    offset,
    commentLength: comment.length,
    ...end,
  });
  return join(record, comment);
}

/** The ZIP64 end record and its locator for a directory at this place. */
export function end64(
  { entries, bytes, offset }: Place,
  { sector = NO_BYTES, ...wrong }: RawEnd64 = {},
): Uint8Array {
  const record = encode(END64, {
    signature: 0x06064b50,
    remaining: 44 + sector.length,
    madeBy: 0x033f,
    version: 45,
    disk: 0,
    directoryDisk: 0,
    entriesOnDisk: wrong.entries ?? entries,
    entries,
    bytes,
    offset,
    ...wrong,
  });
  const locator = { locatorSignature: 0x07064b50, locatorDisk: 0, locatorOffset: offset + bytes, disks: 1 };
  return join(record, sector, encode(LOCATOR, { ...locator, ...wrong }));
}
