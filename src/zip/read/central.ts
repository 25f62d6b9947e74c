import { fromUtf8 } from '../../bytes/text/encoding.ts';
import type { Code } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import { assertUnicodePathAgrees, parseExtraFields, applyZip64, type ExtraFields } from './extra.ts';
import { CENTRAL_HEADER, type CentralHeader, decodeRecord, FLAG_BITS, METHOD, VERSION } from '../layouts.ts';
import { assertSafeName } from '../limits.ts';

/** An entry of the central directory, with its ZIP64 numbers in place. */
export type CentralEntry = {
  readonly name: string;
  readonly nameBytes: Uint8Array;
  readonly header: CentralHeader;
  readonly extra: ExtraFields;
};

/**
 * All entries of a central directory, in its order. It holds exactly `count` headers and nothing after them.
 * @param folders accepts entries of folders, which have no bytes
 * @throws DrillproofError a `zip.` code for every entry outside the profile
 */
export function parseDirectory(directory: Uint8Array, count: number, folders: boolean): CentralEntry[] {
  const entries: CentralEntry[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const { entry, end } = parseEntry(directory, at, folders);
    entries.push(entry);
    at = end;
  }
  if (at === directory.length) return entries;
  const message = 'there are bytes after the last entry of the central directory';
  throw new DrillproofError('zip.BYTES_UNACCOUNTED', message);
}

function parseEntry(
  directory: Uint8Array,
  at: number,
  folders: boolean,
): { entry: CentralEntry; end: number } {
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
  const folder = folders && isFolder(name) && raw.bytes === 0 && raw.compressedBytes === 0;
  assertInProfile(raw, name, folder);
  assertSafeName(folder ? name.slice(0, -1) : name);
  const extra = parseExtraFields(directory.subarray(extraAt, commentAt), name);
  assertUnicodePathAgrees(extra, name);
  const header = applyZip64(raw, ['bytes', 'compressedBytes', 'offset'], extra, name);
  assertStoredSize(header, name);
  return { entry: { name, nameBytes, header, extra }, end };
}

/** True for the name of a folder (APPNOTE 4.4.17). */
export const isFolder = (name: string): boolean => name.endsWith('/');

/** UTF-8 if the flag is set. Without the flag, a name that is not ASCII is ambiguous (APPNOTE, appendix D). */
function decodeName(bytes: Uint8Array, flags: number): string {
  const utf8 = (flags & FLAG_BITS.utf8) !== 0;
  if (!utf8 && bytes.some((byte) => byte > 0x7f)) {
    throw nameError(bytes, 'the name is not ASCII and has no UTF-8 flag');
  }
  try {
    return fromUtf8(bytes);
  } catch (cause) {
    throw nameError(bytes, 'the name has the UTF-8 flag but is not UTF-8', cause);
  }
}

const nameError = (bytes: Uint8Array, message: string, cause?: unknown): DrillproofError =>
  new DrillproofError('zip.NAME_INVALID', message, { path: new TextDecoder().decode(bytes), cause });

/** The two sizes of a stored entry must be equal, because readers differ in which of them they use. */
function assertStoredSize({ method, bytes, compressedBytes }: CentralHeader, path: string): void {
  if (method !== METHOD.store || bytes === compressedBytes) return;
  throw new DrillproofError('zip.SIZE_MISMATCH', 'the entry is stored but has two different sizes', { path });
}

type Refusal = {
  readonly code: Code;
  readonly message: string;
  readonly when: (header: CentralHeader, name: string) => boolean;
};

const ENCRYPTION = FLAG_BITS.encrypted | FLAG_BITS.strongEncryption | FLAG_BITS.maskedHeader;
const KNOWN_FLAGS = ENCRYPTION | FLAG_BITS.deflateOptions | FLAG_BITS.descriptor | FLAG_BITS.utf8;

const UNIX_TYPE = 0o170000;
const UNIX_REGULAR = 0o100000;
/** Volume label, directory, device and reparse point among the attributes of MS-DOS and Windows. */
const SPECIAL_ATTRIBUTES = 0x08 | 0x10 | 0x40 | 0x4_00;

const readUnixType = (header: CentralHeader): number => (header.externalAttributes >>> 16) & UNIX_TYPE;

/** Kinds of entries that evidence must not have; the first that applies is reported. */
const refusals: readonly Refusal[] = [
  {
    code: 'zip.ENCRYPTED',
    message: 'the entry is encrypted',
    when: (header) => (header.flags & ENCRYPTION) !== 0,
  },
  {
    code: 'zip.FEATURE_UNSUPPORTED',
    message: 'the entry sets a flag outside deflate options, data descriptor and UTF-8',
    when: (header) => (header.flags & ~KNOWN_FLAGS) !== 0,
  },
  {
    code: 'zip.METHOD_UNSUPPORTED',
    message: 'the method of the entry is neither stored nor deflate',
    when: ({ method }) => method !== METHOD.store && method !== METHOD.deflate,
  },
  {
    code: 'zip.FEATURE_UNSUPPORTED',
    message: 'the entry is stored and sets options of deflate',
    when: ({ method, flags }) => method === METHOD.store && (flags & FLAG_BITS.deflateOptions) !== 0,
  },
  {
    code: 'zip.FEATURE_UNSUPPORTED',
    message: 'the entry needs a version after 4.5',
    when: (header) => header.versionNeeded > VERSION.zip64,
  },
  {
    code: 'zip.MULTI_DISK',
    message: 'the entry is on another disk',
    when: (header) => header.diskStart !== 0,
  },
  {
    code: 'zip.COMMENT',
    message: 'the entry has a comment',
    when: (header) => header.commentBytes !== 0,
  },
  {
    code: 'zip.ENTRY_KIND',
    message: 'the entry is a directory, a link or a device',
    when: (header, name) =>
      isFolder(name) ||
      (header.externalAttributes & SPECIAL_ATTRIBUTES) !== 0 ||
      (readUnixType(header) !== 0 && readUnixType(header) !== UNIX_REGULAR),
  },
];

/** @throws DrillproofError for an entry that is not a plain stored or deflated regular file (formats §1, Part archive) */
function assertInProfile(header: CentralHeader, name: string, folder: boolean): void {
  for (const { code, message, when } of refusals) {
    if (folder && code === 'zip.ENTRY_KIND') continue;
    if (when(header, name)) throw new DrillproofError(code, message, { path: name });
  }
}
