import { DrillproofError } from '../../errors.ts';
import { fromUtf8 } from '../../bytes/index.ts';
import { assertUnicodePathAgrees, parseExtraFields, withZip64, type ExtraFields } from './extra.ts';
import { CENTRAL_HEADER, FLAG, METHOD, type CentralHeader } from '../layouts.ts';
import { assertSafeName } from './names.ts';
import { assertInProfile } from './profile.ts';
import { decodeRecord } from '../record.ts';

/** What the central directory says of one entry, with ZIP64 numbers in place. */
export type CentralEntry = {
  readonly name: string;
  readonly nameBytes: Uint8Array;
  readonly header: CentralHeader;
  readonly extra: ExtraFields;
};

/**
 * All entries of a central directory, in its order. It holds exactly `count` headers and nothing after them.
 * @throws DrillproofError a `zip.` code for every entry outside the profile
 */
export function parseDirectory(directory: Uint8Array, count: number): CentralEntry[] {
  const entries: CentralEntry[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const { entry, end } = parseEntry(directory, at);
    entries.push(entry);
    at = end;
  }
  if (at === directory.length) return entries;
  throw new DrillproofError(
    'zip.BYTES_UNACCOUNTED',
    'there are bytes after the last entry of the central directory',
  );
}

function parseEntry(directory: Uint8Array, at: number): { entry: CentralEntry; end: number } {
  const raw = decodeRecord(CENTRAL_HEADER, directory, at);
  const nameAt = at + CENTRAL_HEADER.size;
  const extraAt = nameAt + raw.nameBytes;
  const commentAt = extraAt + raw.extraBytes;
  const end = commentAt + raw.commentBytes;
  if (end > directory.length) {
    throw new DrillproofError('zip.RECORD_INVALID', 'an entry extends past the end of the central directory');
  }
  const nameBytes = directory.subarray(nameAt, extraAt);
  const name = decodeName(nameBytes, raw.flags);
  assertInProfile(raw, name);
  assertSafeName(name);
  const extra = parseExtraFields(directory.subarray(extraAt, commentAt), name);
  assertUnicodePathAgrees(extra, name);
  const header = withZip64(raw, ['bytes', 'compressedBytes', 'offset'], extra, name);
  assertStoredSize(header, name);
  return { entry: { name, nameBytes, header, extra }, end };
}

/** UTF-8 if the flag is set. Without the flag, a name that is not ASCII is ambiguous (APPNOTE, appendix D). */
function decodeName(bytes: Uint8Array, flags: number): string {
  const utf8 = (flags & FLAG.utf8) !== 0;
  if (!utf8 && bytes.some((byte) => byte > 0x7f)) {
    throw invalidName(bytes, 'the name is not ASCII and has no UTF-8 flag');
  }
  try {
    return fromUtf8(bytes);
  } catch (cause) {
    throw invalidName(bytes, 'the name has the UTF-8 flag but is not UTF-8', cause);
  }
}

const invalidName = (bytes: Uint8Array, message: string, cause?: unknown): DrillproofError =>
  new DrillproofError('zip.NAME_INVALID', message, { path: new TextDecoder().decode(bytes), cause });

/** The two sizes of a stored entry must be equal, because readers differ in which of them they use. */
function assertStoredSize({ method, bytes, compressedBytes }: CentralHeader, path: string): void {
  if (method !== METHOD.store || bytes === compressedBytes) return;
  throw new DrillproofError('zip.SIZE_MISMATCH', 'the entry is stored but has two different sizes', { path });
}
