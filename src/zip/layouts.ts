import { recordLayout, type RecordOf } from './record.ts';

/** Local file header (APPNOTE 4.3.7); the name and the extra field follow it. */
export const LOCAL_HEADER = recordLayout('local header', 0x04_03_4b_50, {
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
});

/** Central directory header (APPNOTE 4.3.12); the name, the extra field and the comment follow it. */
export const CENTRAL_HEADER = recordLayout('central directory header', 0x02_01_4b_50, {
  versionMadeBy: 2,
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
  commentBytes: 2,
  diskStart: 2,
  internalAttributes: 2,
  externalAttributes: 4,
  offset: 4,
});

/** End of central directory record (APPNOTE 4.3.16); the archive comment follows it. */
export const END = recordLayout('end of central directory record', 0x06_05_4b_50, {
  disk: 2,
  directoryDisk: 2,
  entriesOnDisk: 2,
  entries: 2,
  directoryBytes: 4,
  directoryOffset: 4,
  commentBytes: 2,
});

/** ZIP64 end of central directory record (APPNOTE 4.3.14) without an extensible data sector. */
export const END64 = recordLayout('ZIP64 end of central directory record', 0x06_06_4b_50, {
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
export const END64_LOCATOR = recordLayout('ZIP64 locator', 0x07_06_4b_50, {
  end64Disk: 4,
  end64Offset: 8,
  disks: 4,
});

export const DESCRIPTOR_SIGNATURE = 0x08_07_4b_50;

export type LocalHeader = RecordOf<typeof LOCAL_HEADER>;
export type CentralHeader = RecordOf<typeof CENTRAL_HEADER>;

/** In a 16- or 32-bit field: the number stands in the ZIP64 record (APPNOTE 4.4.1.4). */
export const IN_ZIP64_16 = 0xff_ff;
export const IN_ZIP64_32 = 0xff_ff_ff_ff;

/** General purpose bit flags (APPNOTE 4.4.4). */
export const FLAG = {
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

/** Of who made an archive here: Unix, APPNOTE 6.3 (APPNOTE 4.4.2). */
export const VERSION_MADE_BY = (3 << 8) | 63;

/** Midnight of 1 January 1980, the first moment that an MS-DOS date has (APPNOTE 4.4.6). */
export const DOS_EPOCH = { time: 0, date: 0x00_21 } as const;

/** The Unix mode 0100644, a regular file, where external attributes keep it. */
export const REGULAR_FILE_ATTRIBUTES = 0o100644 * 2 ** 16;

/** Extra field that holds 64-bit sizes and offset (APPNOTE 4.5.3). */
export const EXTRA_ZIP64 = 0x00_01;
/** Extra field that holds the name once more, in UTF-8 (APPNOTE 4.6.9). */
export const EXTRA_UNICODE_PATH = 0x70_75;
