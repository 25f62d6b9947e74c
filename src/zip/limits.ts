import { amountsOf, type Kind } from '../bytes/index.ts';

/** What an archive from outside may cost. Exceeding a limit is a `LimitError`, never a truncation. */
export type ZipLimits = {
  /** Entries in the archive. Default 100,000. */
  readonly entries?: number;
  /** Bytes of the central directory, which is held in memory. Default 64 MiB. */
  readonly directoryBytes?: number;
  /** Decompressed bytes of one entry. Default 16 GiB. */
  readonly entryBytes?: number;
  /** Decompressed bytes that the directory announces for all entries together. Default: no limit. */
  readonly totalBytes?: number;
  /** Decompressed bytes per compressed byte of one entry, once past `expansionFloorBytes`. Default 1,100. */
  readonly expansionRatio?: number;
  /** Decompressed bytes of an entry up to which its expansion is not checked. Default 1 MiB. */
  readonly expansionFloorBytes?: number;
};

/** Deflate expands at most 1,032 times, so the default ratio refuses what no encoder makes. */
export const zipLimits: Required<ZipLimits> = {
  entries: 100_000,
  directoryBytes: 64 * 2 ** 20,
  entryBytes: 16 * 2 ** 30,
  totalBytes: Number.MAX_SAFE_INTEGER,
  expansionRatio: 1_100,
  expansionFloorBytes: 2 ** 20,
};

/** What an argument that has some of these limits may be. */
export const ZIP_LIMITS: Kind = amountsOf(zipLimits);
