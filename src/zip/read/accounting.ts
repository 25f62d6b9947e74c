import type { RandomAccess } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { readWithin } from './access.ts';
import type { CentralEntry } from './central.ts';
import { DESCRIPTOR_SIGNATURE, FLAG } from '../layouts.ts';
import { readLocalPart, type LocalPart } from './local.ts';
import { readUint64, viewOf } from '../record.ts';

/** An entry whose two headers agree and whose place in the file is known. */
export type PlacedEntry = CentralEntry & { readonly local: LocalPart };

/**
 * Walks the file from its first byte to the central directory and finds every byte to belong to exactly one entry:
 * local header, data, data descriptor. Returns the entries in the order in which they lie.
 * @throws DrillproofError `zip.BYTES_UNACCOUNTED`, `zip.ENTRY_OVERLAP`, `zip.RECORD_INVALID` and the codes of local headers
 */
export async function placeEntries(
  access: RandomAccess,
  entries: readonly CentralEntry[],
  directoryOffset: number,
): Promise<PlacedEntry[]> {
  const inFile = entries.toSorted((a, b) => a.header.offset - b.header.offset);
  const placed: PlacedEntry[] = [];
  const last = inFile.at(-1);
  if (last !== undefined && last.header.offset >= directoryOffset) {
    const message = 'the directory places the entry behind all entries';
    throw new DrillproofError('zip.RECORD_INVALID', message, { path: last.name });
  }
  const first = inFile[0]?.header.offset ?? directoryOffset;
  if (first !== 0) {
    throw new DrillproofError('zip.BYTES_UNACCOUNTED', `${first} bytes stand before the first entry`);
  }
  for (const [i, entry] of inFile.entries()) {
    const next = inFile[i + 1]?.header.offset ?? directoryOffset;
    const local = await readLocalPart(access, entry);
    await assertEndsAt(access, entry, local, next);
    placed.push({ ...entry, local });
  }
  return placed;
}

async function assertEndsAt(
  access: RandomAccess,
  entry: CentralEntry,
  local: LocalPart,
  next: number,
): Promise<void> {
  const { name: path, header } = entry;
  const dataEnd = local.dataOffset + header.compressedBytes;
  const gap = next - dataEnd;
  if (gap < 0)
    throw new DrillproofError('zip.ENTRY_OVERLAP', 'the entry reaches into what follows it', { path });
  if ((header.flags & FLAG.descriptor) !== 0) {
    const descriptor = descriptorForms.find(({ bytes }) => bytes === gap);
    const wide = entry.extra.zip64 !== undefined || local.zip64;
    if (descriptor !== undefined && (wide || !descriptor.wide)) {
      return assertDescriptor(await readWithin(access, dataEnd, gap, path), descriptor, entry);
    }
  }
  if (gap > 0) {
    throw new DrillproofError('zip.BYTES_UNACCOUNTED', `${gap} bytes after the entry belong to no record`, {
      path,
    });
  }
}

type DescriptorForm = { readonly bytes: number; readonly signed: boolean; readonly wide: boolean };

/** Its signature is optional and its sizes have 8 bytes in ZIP64 format (APPNOTE 4.3.9); the length tells them apart. */
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
