import { DrillproofError } from '../errors.ts';

type Width = 2 | 4 | 8;

/** A record of fixed size: its signature, then unsigned little-endian fields in order (APPNOTE 4.4.1.1). */
export type RecordLayout<Name extends string> = {
  readonly name: string;
  readonly signature: number;
  /** Bytes of the record, signature included. */
  readonly size: number;
  readonly fields: readonly (readonly [field: Name, at: number, width: Width])[];
};

export type RecordOf<Layout> =
  Layout extends RecordLayout<infer Name> ? Readonly<Record<Name, number>> : never;

/** A layout from its fields in order and their widths in bytes. */
export function recordLayout<Name extends string>(
  name: string,
  signature: number,
  widths: Readonly<Record<Name, Width>>,
): RecordLayout<Name> {
  let size = 4;
  const fields = (Object.entries(widths) as [Name, Width][]).map(([field, width]) => {
    const at = size;
    size += width;
    return [field, at, width] as const;
  });
  return { name, signature, size, fields };
}

/** Whether the signature of the record stands at this place. */
export function startsRecord(layout: RecordLayout<string>, bytes: Uint8Array, at: number): boolean {
  return at >= 0 && at + 4 <= bytes.length && viewOf(bytes).getUint32(at, true) === layout.signature;
}

/**
 * The fields of the record at this place.
 * @throws DrillproofError `zip.RECORD_INVALID` when it is not there, `zip.ZIP64_INVALID` for a number beyond 2^53-1
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
  const record = {} as Record<Name, number>;
  for (const [field, offset, width] of layout.fields) record[field] = readers[width](view, at + offset);
  return record;
}

/** The bytes of a record. */
export function encodeRecord<Name extends string>(
  layout: RecordLayout<Name>,
  record: Readonly<Record<Name, number>>,
): Uint8Array {
  const bytes = new Uint8Array(layout.size);
  const view = viewOf(bytes);
  view.setUint32(0, layout.signature, true);
  for (const [field, at, width] of layout.fields) writers[width](view, at, record[field]);
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
