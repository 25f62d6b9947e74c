import type { RandomAccess } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { readWithin } from './access.ts';
import type { CentralEntry } from './central.ts';
import {
  assertUnicodePathAgrees,
  equalBytes,
  parseExtraFields,
  withZip64,
  type ExtraFields,
} from './extra.ts';
import { FLAG, LOCAL_HEADER, VERSION, type LocalHeader } from '../layouts.ts';
import { decodeRecord } from '../record.ts';

/** What an entry's local header adds: where the data begin, and what it may say otherwise than the directory. */
export type LocalPart = {
  readonly dataOffset: number;
  readonly versionNeeded: number;
  /** Whether its extra field holds ZIP64 sizes, and whether it holds anything else. */
  readonly zip64: boolean;
  readonly foreign: boolean;
};

/**
 * Reads the local header of an entry and compares every field that the central directory holds too, because readers
 * differ in which of the two they use.
 * @throws DrillproofError `zip.HEADER_MISMATCH`, `zip.RECORD_INVALID`, `zip.TRUNCATED`, `zip.ZIP64_INVALID`
 */
export async function readLocalPart(access: RandomAccess, central: CentralEntry): Promise<LocalPart> {
  const { name, nameBytes, header } = central;
  const fixed = await readWithin(access, header.offset, LOCAL_HEADER.size + nameBytes.length, name);
  const raw = decodeLocal(fixed, name);
  assertSame('flags', raw, central);
  assertSame('method', raw, central);
  assertSame('time', raw, central);
  assertSame('date', raw, central);
  assertVersion(raw, central);
  if (raw.nameBytes !== nameBytes.length || !equalBytes(fixed.subarray(LOCAL_HEADER.size), nameBytes)) {
    throw mismatch('name', name);
  }
  const extraOffset = header.offset + fixed.length;
  const extra = parseExtraFields(await readExtra(access, extraOffset, raw.extraBytes, name), name);
  assertUnicodePathAgrees(extra, name);
  assertNumbers(withLocalZip64(raw, extra, name), central);
  return {
    dataOffset: extraOffset + raw.extraBytes,
    versionNeeded: raw.versionNeeded,
    zip64: extra.zip64 !== undefined,
    foreign: extra.foreign,
  };
}

/** Most local headers have none, and a read for nothing costs as much as one for something. */
const readExtra = async (access: RandomAccess, offset: number, bytes: number, path: string) =>
  bytes === 0 ? new Uint8Array() : readWithin(access, offset, bytes, path);

function decodeLocal(bytes: Uint8Array, path: string): LocalHeader {
  try {
    return decodeRecord(LOCAL_HEADER, bytes);
  } catch (cause) {
    throw new DrillproofError(
      'zip.RECORD_INVALID',
      'there is no local header at the offset in the directory',
      {
        path,
        cause,
      },
    );
  }
}

function assertSame(field: 'flags' | 'method' | 'time' | 'date', raw: LocalHeader, central: CentralEntry) {
  if (raw[field] !== central.header[field]) throw mismatch(field, central.name);
}

/** Where only the offset needs ZIP64, a central header asks for 4.5 and its local header for less. */
function assertVersion(raw: LocalHeader, { name, header, extra }: CentralEntry): void {
  const onlyCentral = extra.zip64 !== undefined && header.versionNeeded === VERSION.zip64;
  if (raw.versionNeeded === header.versionNeeded || (onlyCentral && raw.versionNeeded < VERSION.zip64))
    return;
  // The reverse: a writer that did not know the size in advance reserved the local ZIP64 field.
  throw mismatch('version', name);
}

/** Both sizes stand in a local ZIP64 field, or none does (APPNOTE 4.5.3). */
function withLocalZip64(raw: LocalHeader, extra: ExtraFields, path: string): LocalHeader {
  const header = withZip64(raw, ['bytes', 'compressedBytes'], extra, path);
  if (extra.zip64 === undefined || extra.zip64.length === 16) return header;
  throw new DrillproofError('zip.ZIP64_INVALID', 'the local ZIP64 field contains only one size', { path });
}

/** With a data descriptor the local header says zero (APPNOTE 4.4.4, bit 3), or already what the descriptor will. */
function assertNumbers(raw: LocalHeader, { name, header }: CentralEntry): void {
  const follows = (header.flags & FLAG.descriptor) !== 0;
  for (const field of ['crc32', 'compressedBytes', 'bytes'] as const) {
    if (raw[field] !== header[field] && !(follows && raw[field] === 0)) throw mismatch(field, name);
  }
}

const mismatch = (field: string, path: string): DrillproofError =>
  new DrillproofError('zip.HEADER_MISMATCH', `the local and the central header differ in ${field}`, { path });
