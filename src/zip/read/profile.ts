import type { Code } from '../../codes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { FLAG, METHOD, VERSION, type CentralHeader } from '../layouts.ts';

type Refusal = {
  readonly code: Code;
  readonly says: string;
  readonly when: (header: CentralHeader, name: string) => boolean;
};

const ENCRYPTION = FLAG.encrypted | FLAG.strongEncryption | FLAG.maskedHeader;
const KNOWN_FLAGS = ENCRYPTION | FLAG.deflateOptions | FLAG.descriptor | FLAG.utf8;

const UNIX_TYPE = 0o170000;
const UNIX_REGULAR = 0o100000;
/** Volume label, directory, device and reparse point among the attributes of MS-DOS and Windows. */
const SPECIAL_ATTRIBUTES = 0x08 | 0x10 | 0x40 | 0x4_00;

const unixType = (header: CentralHeader): number => (header.externalAttributes >>> 16) & UNIX_TYPE;

/** Kinds of entries that evidence must not have; the first that applies is reported. */
const refusals: readonly Refusal[] = [
  {
    code: 'zip.ENCRYPTED',
    says: 'the entry is encrypted',
    when: (header) => (header.flags & ENCRYPTION) !== 0,
  },
  {
    code: 'zip.FEATURE_UNSUPPORTED',
    says: 'the entry sets a flag outside deflate options, data descriptor and UTF-8',
    when: (header) => (header.flags & ~KNOWN_FLAGS) !== 0,
  },
  {
    code: 'zip.METHOD_UNSUPPORTED',
    says: 'the entry is compressed by another method than stored or deflate',
    when: ({ method }) => method !== METHOD.store && method !== METHOD.deflate,
  },
  {
    code: 'zip.FEATURE_UNSUPPORTED',
    says: 'the entry is stored and sets options of deflate',
    when: ({ method, flags }) => method === METHOD.store && (flags & FLAG.deflateOptions) !== 0,
  },
  {
    code: 'zip.FEATURE_UNSUPPORTED',
    says: 'the entry needs a version after 4.5',
    when: (header) => header.versionNeeded > VERSION.zip64,
  },
  {
    code: 'zip.MULTI_DISK',
    says: 'the entry lies on another disk',
    when: (header) => header.diskStart !== 0,
  },
  {
    code: 'zip.COMMENT',
    says: 'the entry carries a comment',
    when: (header) => header.commentBytes !== 0,
  },
  {
    code: 'zip.ENTRY_KIND',
    says: 'the entry is a directory, a link or a device',
    when: (header, name) =>
      name.endsWith('/') ||
      (header.externalAttributes & SPECIAL_ATTRIBUTES) !== 0 ||
      (unixType(header) !== 0 && unixType(header) !== UNIX_REGULAR),
  },
];

/** @throws DrillproofError for an entry that is not a plain stored or deflated regular file (formats §1, Part archive) */
export function assertInProfile(header: CentralHeader, name: string): void {
  for (const { code, says, when } of refusals) {
    if (when(header, name)) throw new DrillproofError(code, says, { path: name });
  }
}
