import { DrillproofError } from '../../errors.ts';
import { type Reading, cutWindow } from './access.ts';
import type { CentralEntry } from './central.ts';
import {
  assertUnicodePathAgrees,
  equalBytes,
  parseExtraFields,
  applyZip64,
  type ExtraFields,
} from './extra.ts';
import {
  decodeRecord,
  DESCRIPTOR_SIGNATURE,
  FLAG_BITS,
  LOCAL_HEADER,
  type LocalHeader,
  readUint64,
  VERSION,
  viewOf,
} from '../layouts.ts';

export type PlacedEntry = CentralEntry & { readonly local: LocalPart };

/**
 * Walks the file from its first byte to the central directory and checks that every byte belongs to exactly one entry:
 * local header, data, data descriptor. Returns the entries in the order of the file.
 * @throws DrillproofError `zip.BYTES_UNACCOUNTED`, `zip.ENTRY_OVERLAP`, `zip.RECORD_INVALID` and the codes of local headers
 */
export function* placeEntries(
  fileBytes: number,
  entries: readonly CentralEntry[],
  directoryOffset: number,
): Reading<PlacedEntry[]> {
  const inFile = sortByOffset(entries);
  const placed: PlacedEntry[] = [];
  const last = inFile.at(-1);
  if (last !== undefined && last.header.offset >= directoryOffset) {
    const message = 'the directory places the entry after all entries';
    throw new DrillproofError('zip.RECORD_INVALID', message, { path: last.name });
  }
  const first = inFile[0]?.header.offset ?? directoryOffset;
  if (first !== 0) {
    throw new DrillproofError('zip.BYTES_UNACCOUNTED', `${first} bytes precede the first entry`);
  }
  for (let i = 0; i < inFile.length; i++) {
    const entry = inFile[i]!;
    const next = inFile[i + 1]?.header.offset ?? directoryOffset;
    const local = yield* readLocalPart(fileBytes, entry);
    yield* assertEndsAt(fileBytes, entry, local, next);
    placed.push({ ...entry, local });
  }
  return placed;
}

/** Sorts only if needed: nearly every directory has the order of the file. */
const sortByOffset = (entries: readonly CentralEntry[]): readonly CentralEntry[] =>
  entries.every(({ header }, i) => i === 0 || entries[i - 1]!.header.offset <= header.offset)
    ? entries
    : entries.toSorted((a, b) => a.header.offset - b.header.offset);

function* assertEndsAt(
  fileBytes: number,
  entry: CentralEntry,
  local: LocalPart,
  next: number,
): Reading<void> {
  const { name: path, header } = entry;
  const dataEnd = local.dataOffset + header.compressedBytes;
  const gap = next - dataEnd;
  if (gap < 0)
    throw new DrillproofError('zip.ENTRY_OVERLAP', 'the entry reaches into what follows it', { path });
  const announced = (header.flags & FLAG_BITS.descriptor) !== 0;
  const form = announced ? findDescriptorForm(gap, entry, local) : undefined;
  if (form !== undefined) {
    assertDescriptor(yield cutWindow(fileBytes, dataEnd, gap, path), form, entry);
  } else if (gap > 0 || announced) {
    const message = announced
      ? `${gap} bytes after the entry are not the data descriptor that its flags announce`
      : `${gap} bytes after the entry belong to no record`;
    throw new DrillproofError('zip.BYTES_UNACCOUNTED', message, { path });
  }
}

/** The form of data descriptor that has this size, if the entry may have that form. */
const findDescriptorForm = (
  bytes: number,
  { extra }: CentralEntry,
  local: LocalPart,
): DescriptorForm | undefined =>
  descriptorForms.find(
    (form) => form.bytes === bytes && (!form.wide || extra.zip64 !== undefined || local.zip64),
  );

type DescriptorForm = { readonly bytes: number; readonly signed: boolean; readonly wide: boolean };

/** The signature is optional, and sizes have 8 bytes in ZIP64 format (APPNOTE 4.3.9); each form has a length of its own. */
const descriptorForms: readonly DescriptorForm[] = [
  { bytes: 12, signed: false, wide: false },
  { bytes: 16, signed: true, wide: false },
  { bytes: 20, signed: false, wide: true },
  { bytes: 24, signed: true, wide: true },
];

function assertDescriptor(bytes: Uint8Array, { signed, wide }: DescriptorForm, entry: CentralEntry): void {
  const { name: path, header } = entry;
  const view = viewOf(bytes);
  const crcAt = signed ? 4 : 0;
  const size = (index: number): number =>
    wide ? readUint64(view, crcAt + 4 + 8 * index) : view.getUint32(crcAt + 4 + 4 * index, true);
  if (signed && view.getUint32(0, true) !== DESCRIPTOR_SIGNATURE) {
    throw new DrillproofError('zip.RECORD_INVALID', 'the data descriptor has a wrong signature', { path });
  }
  const same =
    view.getUint32(crcAt, true) === header.crc32 &&
    size(0) === header.compressedBytes &&
    size(1) === header.bytes;
  if (same) return;
  throw new DrillproofError('zip.HEADER_MISMATCH', 'the data descriptor contradicts the directory', { path });
}

const NO_BYTES = new Uint8Array();
const SAME_FIELDS = ['flags', 'method', 'time', 'date'] as const;

/** Facts from the local header of an entry: the offset of its data, and fields that may differ from the directory. */
type LocalPart = {
  readonly dataOffset: number;
  readonly versionNeeded: number;
  /** The extra field has ZIP64 sizes (`zip64`), or anything else (`foreign`). */
  readonly zip64: boolean;
  readonly foreign: boolean;
};

/**
 * Reads the local header of an entry and compares it with the central directory, because readers differ in which of the
 * two they use.
 * @throws DrillproofError `zip.HEADER_MISMATCH`, `zip.RECORD_INVALID`, `zip.TRUNCATED`, `zip.ZIP64_INVALID`
 */
function* readLocalPart(fileBytes: number, central: CentralEntry): Reading<LocalPart> {
  const { name, nameBytes, header } = central;
  const fixed = yield cutWindow(fileBytes, header.offset, LOCAL_HEADER.size + nameBytes.length, name);
  const raw = decodeLocal(fixed, name);
  for (const field of SAME_FIELDS) if (raw[field] !== header[field]) throw mismatch(field, name);
  assertVersion(raw, central);
  if (raw.nameBytes !== nameBytes.length || !equalBytes(fixed.subarray(LOCAL_HEADER.size), nameBytes))
    throw mismatch('name', name);
  const extraOffset = header.offset + fixed.length;
  // An empty read would cost as much as any other, and most local headers have no extra field.
  const extraBytes =
    raw.extraBytes === 0 ? NO_BYTES : yield cutWindow(fileBytes, extraOffset, raw.extraBytes, name);
  const extra = parseExtraFields(extraBytes, name);
  assertUnicodePathAgrees(extra, name);
  assertNumbers(applyLocalZip64(raw, extra, name), central);
  return {
    dataOffset: extraOffset + raw.extraBytes,
    versionNeeded: raw.versionNeeded,
    zip64: extra.zip64 !== undefined,
    foreign: extra.foreign,
  };
}

function decodeLocal(bytes: Uint8Array, path: string): LocalHeader {
  try {
    return decodeRecord(LOCAL_HEADER, bytes);
  } catch (cause) {
    const message = 'the offset in the directory is not that of a local header';
    throw new DrillproofError('zip.RECORD_INVALID', message, { path, cause });
  }
}

/** If only the offset needs ZIP64, the central header requires version 4.5 and the local header an earlier one. */
function assertVersion(raw: LocalHeader, { name, header, extra }: CentralEntry): void {
  const onlyCentral = extra.zip64 !== undefined && header.versionNeeded === VERSION.zip64;
  if (raw.versionNeeded === header.versionNeeded || (onlyCentral && raw.versionNeeded < VERSION.zip64))
    return;
  // The reverse: a writer that did not know the size in advance reserved the local ZIP64 field.
  throw mismatch('version', name);
}

/** A local ZIP64 field holds both sizes or none (APPNOTE 4.5.3). */
function applyLocalZip64(raw: LocalHeader, extra: ExtraFields, path: string): LocalHeader {
  const header = applyZip64(raw, ['bytes', 'compressedBytes'], extra, path);
  if (extra.zip64 === undefined || extra.zip64.length === 16) return header;
  throw new DrillproofError('zip.ZIP64_INVALID', 'the local ZIP64 field contains only one size', { path });
}

/** With a data descriptor the local header has zero (APPNOTE 4.4.4, bit 3), or already the values of the descriptor. */
function assertNumbers(raw: LocalHeader, { name, header }: CentralEntry): void {
  const follows = (header.flags & FLAG_BITS.descriptor) !== 0;
  for (const field of ['crc32', 'compressedBytes', 'bytes'] as const) {
    if (raw[field] !== header[field] && !(follows && raw[field] === 0)) throw mismatch(field, name);
  }
}

const mismatch = (field: string, path: string): DrillproofError =>
  new DrillproofError('zip.HEADER_MISMATCH', `the local and the central header differ in ${field}`, { path });
