import { amountsOf } from '../bytes/arguments.ts';
import { foldPath, findPathProblem } from '../bytes/portable-path.ts';
import { DrillproofError } from '../errors.ts';

/** The limits of an archive. Exceeding a limit is a `LimitError`, never a truncation. */
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

/** Deflate expands at most 1,032 times, so the default ratio accepts every valid entry. */
export const zipLimits: Required<ZipLimits> = {
  entries: 100_000,
  directoryBytes: 64 * 2 ** 20,
  entryBytes: 16 * 2 ** 30,
  totalBytes: Number.MAX_SAFE_INTEGER,
  expansionRatio: 1_100,
  expansionFloorBytes: 2 ** 20,
};

export const ZIP_LIMITS = amountsOf(zipLimits);

/** @throws DrillproofError `zip.NAME_INVALID` for a name that is not a portable path (formats §1, Paths) */
export function assertSafeName(name: string): void {
  const problem = findPathProblem(name);
  if (problem === undefined) return;
  throw new DrillproofError('zip.NAME_INVALID', `the name is not a safe path: ${problem}`, { path: name });
}

/** Returns a check to call with each name of an archive. It throws `zip.ENTRY_DUPLICATE` for a repeated name or its twin. */
export function createNameCheck(): (name: string) => void {
  const seen = new Map<string, string>();
  return (name) => {
    const fold = foldPath(name);
    const twin = seen.get(fold);
    if (twin !== undefined) {
      const message =
        twin === name
          ? 'two entries have this name'
          : 'a file system may take the name for that of another entry';
      throw new DrillproofError('zip.ENTRY_DUPLICATE', message, { path: name, details: { twin } });
    }
    seen.set(fold, name);
  };
}
