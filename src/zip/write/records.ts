import { concatBytes } from '../../bytes/async.ts';
import {
  CENTRAL_HEADER,
  DOS_EPOCH,
  encodeRecord,
  END,
  END64,
  END64_LOCATOR,
  EXTRA_ZIP64,
  FLAG_BITS,
  IN_ZIP64_16,
  IN_ZIP64_32,
  LOCAL_HEADER,
  METHOD,
  REGULAR_FILE_ATTRIBUTES,
  VERSION,
  VERSION_MADE_BY,
  viewOf,
  writeUint64,
} from '../layouts.ts';

export type EntryFacts = {
  readonly nameBytes: Uint8Array;
  readonly method: keyof typeof METHOD;
  readonly crc32: number;
  readonly compressedBytes: number;
  readonly bytes: number;
  /** The offset of its local header. */
  readonly offset: number;
};

const isWide = (value: number): boolean => value >= IN_ZIP64_32;

export function encodeLocalHeader(entry: EntryFacts): Uint8Array {
  const extra = encodeZip64Field([entry.bytes, entry.compressedBytes]);
  const header = encodeRecord(LOCAL_HEADER, buildSharedFields(entry, extra));
  return concatBytes([header, entry.nameBytes, extra]);
}

/** If one number needs ZIP64, all three are written there, as other tools do. */
export function encodeCentralHeader(entry: EntryFacts): Uint8Array {
  const extra = encodeZip64Field([entry.bytes, entry.compressedBytes, entry.offset]);
  const header = encodeRecord(CENTRAL_HEADER, {
    ...buildSharedFields(entry, extra),
    versionMadeBy: VERSION_MADE_BY,
    commentBytes: 0,
    diskStart: 0,
    internalAttributes: 0,
    externalAttributes: REGULAR_FILE_ATTRIBUTES,
    offset: extra.length > 0 ? IN_ZIP64_32 : entry.offset,
  });
  return concatBytes([header, entry.nameBytes, extra]);
}

function buildSharedFields(entry: EntryFacts, extra: Uint8Array) {
  const wide = extra.length > 0;
  return {
    versionNeeded: wide ? VERSION.zip64 : VERSION.deflate,
    flags: FLAG_BITS.utf8,
    method: METHOD[entry.method],
    ...DOS_EPOCH,
    crc32: entry.crc32,
    compressedBytes: wide ? IN_ZIP64_32 : entry.compressedBytes,
    bytes: wide ? IN_ZIP64_32 : entry.bytes,
    nameBytes: entry.nameBytes.length,
    extraBytes: extra.length,
  };
}

/** The extra field with these numbers; empty if none of them needs ZIP64. */
function encodeZip64Field(numbers: readonly number[]): Uint8Array {
  if (!numbers.some(isWide)) return new Uint8Array();
  const field = new Uint8Array(4 + 8 * numbers.length);
  const view = viewOf(field);
  view.setUint16(0, EXTRA_ZIP64, true);
  view.setUint16(2, 8 * numbers.length, true);
  numbers.forEach((number, i) => writeUint64(view, 4 + 8 * i, number));
  return field;
}

/** The records after the central directory: the two of ZIP64 if a number needs them, and the end record. */
export function encodeEndRecords(
  entries: number,
  directoryOffset: number,
  directoryBytes: number,
): Uint8Array {
  const wide = entries >= IN_ZIP64_16 || isWide(directoryOffset) || isWide(directoryBytes);
  const end = encodeRecord(END, {
    disk: 0,
    directoryDisk: 0,
    entriesOnDisk: Math.min(entries, IN_ZIP64_16),
    entries: Math.min(entries, IN_ZIP64_16),
    directoryBytes: Math.min(directoryBytes, IN_ZIP64_32),
    directoryOffset: Math.min(directoryOffset, IN_ZIP64_32),
    commentBytes: 0,
  });
  return wide ? concatBytes([...encodeZip64End(entries, directoryOffset, directoryBytes), end]) : end;
}

function encodeZip64End(entries: number, directoryOffset: number, directoryBytes: number): Uint8Array[] {
  const end64 = encodeRecord(END64, {
    remainingBytes: END64.size - 12,
    versionMadeBy: VERSION_MADE_BY,
    versionNeeded: VERSION.zip64,
    disk: 0,
    directoryDisk: 0,
    entriesOnDisk: entries,
    entries,
    directoryBytes,
    directoryOffset,
  });
  const end64Offset = directoryOffset + directoryBytes;
  return [end64, encodeRecord(END64_LOCATOR, { end64Disk: 0, end64Offset, disks: 1 })];
}
