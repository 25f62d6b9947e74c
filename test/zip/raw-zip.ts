import { deflateRawSync, crc32 } from 'node:zlib';

/** Archives put together field by field, so that any one of them can be wrong. It shares no code with src/zip. */

export type RawEntry = {
  name?: string | Uint8Array;
  plain?: string | Uint8Array;
  /** The data as they stand in the archive, instead of the plain bytes encoded by `method`. */
  data?: Uint8Array;
  method?: number;
  flags?: number;
  /** Fields of both headers. */
  both?: Partial<Header>;
  local?: Partial<Header>;
  central?: Partial<Header & CentralOnly>;
  localName?: string | Uint8Array;
  extra?: Uint8Array;
  localExtra?: Uint8Array;
  comment?: Uint8Array;
  /** Bytes before the local header and after the data. */
  before?: Uint8Array;
  after?: Uint8Array;
};

type Header = {
  signature: number;
  version: number;
  flags: number;
  method: number;
  time: number;
  date: number;
  crc: number;
  compressed: number;
  size: number;
  nameLength: number;
  extraLength: number;
};
type CentralOnly = {
  madeBy: number;
  commentLength: number;
  disk: number;
  internal: number;
  external: number;
  offset: number;
};

export type RawEnd = {
  disk?: number;
  directoryDisk?: number;
  entriesOnDisk?: number;
  entries?: number;
  bytes?: number;
  offset?: number;
  commentLength?: number;
  comment?: Uint8Array;
  /** Between the directory and the end record, such as ZIP64's two records. */
  before?: (place: Place) => Uint8Array;
  prefix?: Uint8Array;
  suffix?: Uint8Array;
  /** The order in which the central directory lists the entries. */
  order?: readonly number[];
};

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

const joinAll = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

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
export const zip64End = (wrong?: RawEnd64): RawEnd => ({
  before: (place) => end64(place, wrong),
  entries: 0xffff,
  bytes: IN_ZIP64,
  offset: IN_ZIP64,
});

export function rawZip(entries: readonly RawEntry[], end: RawEnd = {}): Uint8Array {
  const body: Uint8Array[] = [end.prefix ?? new Uint8Array()];
  const headers: Uint8Array[] = [];
  let offset = body[0]?.length ?? 0;
  for (const entry of entries) {
    const { local, data, central } = rawEntry(entry, offset + (entry.before?.length ?? 0));
    const parts = [entry.before ?? new Uint8Array(), local, data, entry.after ?? new Uint8Array()];
    body.push(...parts);
    headers.push(central);
    offset += parts.reduce((sum, part) => sum + part.length, 0);
  }
  const order = end.order ?? headers.map((_, i) => i);
  const directory = joinAll(order.map((i) => headers[i] ?? new Uint8Array()));
  const place = { offset, bytes: directory.length, entries: order.length };
  return join(
    joinAll(body),
    directory,
    end.before?.(place) ?? new Uint8Array(),
    endRecord(end, place),
    end.suffix ?? new Uint8Array(),
  );
}

function rawEntry(entry: RawEntry, offset: number) {
  const name = bytesOf(entry.name ?? 'file.txt');
  const localName = bytesOf(entry.localName ?? name);
  const plain = bytesOf(entry.plain ?? 'some bytes, some bytes, some bytes');
  const method = entry.method ?? 0;
  const data = entry.data ?? (method === 8 ? deflateRawSync(plain) : plain);
  const extra = entry.extra ?? new Uint8Array();
  const localExtra = entry.localExtra ?? new Uint8Array();
  const comment = entry.comment ?? new Uint8Array();
  const shared = {
    version: 20,
    flags: entry.flags ?? 0x0800,
    method,
    time: 0,
    date: 0x21,
    crc: crc32(plain),
    compressed: data.length,
    size: plain.length,
  };
  const local = {
    signature: 0x04034b50,
    ...shared,
    nameLength: localName.length,
    extraLength: localExtra.length,
    ...entry.both,
    ...entry.local,
  };
  const central = {
    signature: 0x02014b50,
    ...shared,
    nameLength: name.length,
    extraLength: extra.length,
    madeBy: 0x033f,
    commentLength: comment.length,
    disk: 0,
    internal: 0,
    external: 0o100644 * 65536,
    offset,
    ...entry.both,
    ...entry.central,
  };
  return {
    local: join(le(local.signature, 4), headerFields(local), localName, localExtra),
    data,
    central: join(
      le(central.signature, 4),
      le(central.madeBy, 2),
      headerFields(central),
      le(central.commentLength, 2),
      le(central.disk, 2),
      le(central.internal, 2),
      le(central.external, 4),
      le(central.offset, 4),
      name,
      extra,
      comment,
    ),
  };
}

const headerFields = (header: Header): Uint8Array =>
  join(
    le(header.version, 2),
    le(header.flags, 2),
    le(header.method, 2),
    le(header.time, 2),
    le(header.date, 2),
    le(header.crc, 4),
    le(header.compressed, 4),
    le(header.size, 4),
    le(header.nameLength, 2),
    le(header.extraLength, 2),
  );

function endRecord(end: RawEnd, place: Place): Uint8Array {
  const comment = end.comment ?? new Uint8Array();
  return join(
    le(0x06054b50, 4),
    le(end.disk ?? 0, 2),
    le(end.directoryDisk ?? 0, 2),
    le(end.entriesOnDisk ?? end.entries ?? place.entries, 2),
    le(end.entries ?? place.entries, 2),
    le(end.bytes ?? place.bytes, 4),
    le(end.offset ?? place.offset, 4),
    le(end.commentLength ?? comment.length, 2),
    comment,
  );
}

export type RawEnd64 = Partial<{
  remaining: number;
  version: number;
  disk: number;
  entriesOnDisk: number;
  entries: number;
  bytes: number;
  offset: number;
  sector: Uint8Array;
  locatorDisk: number;
  locatorOffset: number;
  disks: number;
}>;

/** The ZIP64 end record and its locator for a directory at this place. */
export function end64(place: Place, wrong: RawEnd64 = {}): Uint8Array {
  const sector = wrong.sector ?? new Uint8Array();
  return join(
    le(0x06064b50, 4),
    le(wrong.remaining ?? 44 + sector.length, 8),
    le(0x033f, 2),
    le(wrong.version ?? 45, 2),
    le(wrong.disk ?? 0, 4),
    le(wrong.disk ?? 0, 4),
    le(wrong.entriesOnDisk ?? wrong.entries ?? place.entries, 8),
    le(wrong.entries ?? place.entries, 8),
    le(wrong.bytes ?? place.bytes, 8),
    le(wrong.offset ?? place.offset, 8),
    sector,
    le(0x07064b50, 4),
    le(wrong.locatorDisk ?? 0, 4),
    le(wrong.locatorOffset ?? place.offset + place.bytes, 8),
    le(wrong.disks ?? 1, 4),
  );
}
