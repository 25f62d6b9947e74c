import { DrillproofError } from '../errors.ts';

type Width = 2 | 4 | 8;

/** A record of fixed size: its signature, then unsigned little-endian fields in order (APPNOTE 4.4.1.1). */
export type RecordLayout<Name extends string> = {
  readonly name: string;
  readonly signature: number;
  /** Bytes of the record, signature included. */
  readonly size: number;
  readonly fields: readonly { readonly field: Name; readonly at: number; readonly width: Width }[];
  /** A record of zeros: a copy of it has room for every field. */
  readonly zeros: Readonly<Record<Name, number>>;
};

export type RecordOf<Layout> =
  Layout extends RecordLayout<infer Name> ? Readonly<Record<Name, number>> : never;

/** A layout from its fields in order and their widths in bytes. */
export function createLayout<Name extends string>(
  name: string,
  signature: number,
  widths: Readonly<Record<Name, Width>>,
): RecordLayout<Name> {
  let size = 4;
  const fields = (Object.entries(widths) as [Name, Width][]).map(([field, width]) => {
    const at = size;
    size += width;
    return { field, at, width };
  });
  const zeros = Object.fromEntries(fields.map(({ field }) => [field, 0])) as Record<Name, number>;
  return { name, signature, size, fields, zeros };
}

/** The fields of both headers of an entry, in one order. */
const SHARED_FIELDS = {
  versionNeeded: 2,
  flags: 2,
  method: 2,
  time: 2,
  date: 2,
  crc32: 4,
  compressedBytes: 4,
  bytes: 4,
  nameBytes: 2,
  extraBytes: 2,
} as const;

/** Local file header (APPNOTE 4.3.7); the name and the extra field follow it. */
export const LOCAL_HEADER = createLayout('local header', 0x04_03_4b_50, {
  ...SHARED_FIELDS,
});

/** Central directory header (APPNOTE 4.3.12); the name, the extra field and the comment follow it. */
export const CENTRAL_HEADER = createLayout('central directory header', 0x02_01_4b_50, {
  versionMadeBy: 2,
  ...SHARED_FIELDS,
  commentBytes: 2,
  diskStart: 2,
  internalAttributes: 2,
  externalAttributes: 4,
  offset: 4,
});

/** End of central directory record (APPNOTE 4.3.16); the archive comment follows it. */
export const END = createLayout('end of central directory record', 0x06_05_4b_50, {
  disk: 2,
  directoryDisk: 2,
  entriesOnDisk: 2,
  entries: 2,
  directoryBytes: 4,
  directoryOffset: 4,
  commentBytes: 2,
});

/** ZIP64 end of central directory record (APPNOTE 4.3.14) without an extensible data sector. */
export const END64 = createLayout('ZIP64 end of central directory record', 0x06_06_4b_50, {
  remainingBytes: 8,
  versionMadeBy: 2,
  versionNeeded: 2,
  disk: 4,
  directoryDisk: 4,
  entriesOnDisk: 8,
  entries: 8,
  directoryBytes: 8,
  directoryOffset: 8,
});

/** ZIP64 end of central directory locator (APPNOTE 4.3.15). */
export const END64_LOCATOR = createLayout('ZIP64 locator', 0x07_06_4b_50, {
  end64Disk: 4,
  end64Offset: 8,
  disks: 4,
});

export const DESCRIPTOR_SIGNATURE = 0x08_07_4b_50;

export type LocalHeader = RecordOf<typeof LOCAL_HEADER>;
export type CentralHeader = RecordOf<typeof CENTRAL_HEADER>;

/** In a 16- or 32-bit field: the ZIP64 record holds the number (APPNOTE 4.4.1.4). */
export const IN_ZIP64_16 = 0xff_ff;
export const IN_ZIP64_32 = 0xff_ff_ff_ff;

/** General purpose bit flags (APPNOTE 4.4.4). */
export const FLAG_BITS = {
  encrypted: 1 << 0,
  deflateOptions: 0b11 << 1,
  descriptor: 1 << 3,
  strongEncryption: 1 << 6,
  utf8: 1 << 11,
  maskedHeader: 1 << 13,
} as const;

/** Compression methods that evidence may use (APPNOTE 4.4.5). */
export const METHOD = { store: 0, deflate: 8 } as const;

/** Versions needed to extract (APPNOTE 4.4.3.2): 2.0 has deflate, 4.5 has ZIP64. */
export const VERSION = { deflate: 20, zip64: 45 } as const;

/** The maker of the archives written here: Unix, APPNOTE 6.3 (APPNOTE 4.4.2). */
export const VERSION_MADE_BY = (3 << 8) | 63;

/** Midnight of 1 January 1980, the first moment that an MS-DOS date has (APPNOTE 4.4.6). */
export const DOS_EPOCH = { time: 0, date: 0x00_21 } as const;

/** The Unix mode 0100644, a regular file, where external attributes keep it. */
export const REGULAR_FILE_ATTRIBUTES = 0o100644 * 2 ** 16;

/** Extra field that holds 64-bit sizes and offset (APPNOTE 4.5.3). */
export const EXTRA_ZIP64 = 0x00_01;
/** Extra field that holds the name once more, in UTF-8 (APPNOTE 4.6.9). */
export const EXTRA_UNICODE_PATH = 0x70_75;

/** Compares the bytes at this place with the signature of a record. */
export function startsRecord(layout: RecordLayout<string>, bytes: Uint8Array, at: number): boolean {
  return at >= 0 && at + 4 <= bytes.length && viewOf(bytes).getUint32(at, true) === layout.signature;
}

/**
 * The fields of the record at this place.
 * @throws DrillproofError `zip.RECORD_INVALID` when it does not begin there, `zip.ZIP64_INVALID` for a number beyond 2^53-1
 */
export function decodeRecord<Name extends string>(
  layout: RecordLayout<Name>,
  bytes: Uint8Array,
  at = 0,
): Readonly<Record<Name, number>> {
  if (at + layout.size > bytes.length) {
    throw new DrillproofError('zip.RECORD_INVALID', `the ${layout.name} is cut`);
  }
  const view = viewOf(bytes);
  if (view.getUint32(at, true) !== layout.signature) {
    throw new DrillproofError('zip.RECORD_INVALID', `the ${layout.name} has a wrong signature`);
  }
  const record: Record<Name, number> = { ...layout.zeros };
  for (let i = 0; i < layout.fields.length; i++) {
    const { field, at: offset, width } = layout.fields[i]!;
    record[field] = readers[width](view, at + offset);
  }
  return record;
}

export function encodeRecord<Name extends string>(
  layout: RecordLayout<Name>,
  record: Readonly<Record<Name, number>>,
): Uint8Array {
  const bytes = new Uint8Array(layout.size);
  const view = viewOf(bytes);
  view.setUint32(0, layout.signature, true);
  for (const { field, at, width } of layout.fields) writers[width](view, at, record[field]);
  return bytes;
}

/** An unsigned 64-bit number. @throws DrillproofError `zip.ZIP64_INVALID` beyond 2^53-1, where doubles have gaps */
export function readUint64(view: DataView, at: number): number {
  const value = view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
  if (Number.isSafeInteger(value)) return value;
  throw new DrillproofError('zip.ZIP64_INVALID', 'a 64-bit number is larger than any archive');
}

export function writeUint64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}

export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const readers: Readonly<Record<Width, (view: DataView, at: number) => number>> = {
  2: (view, at) => view.getUint16(at, true),
  4: (view, at) => view.getUint32(at, true),
  8: readUint64,
};

const writers: Readonly<Record<Width, (view: DataView, at: number, value: number) => void>> = {
  2: (view, at, value) => view.setUint16(at, value, true),
  4: (view, at, value) => view.setUint32(at, value, true),
  8: writeUint64,
};
