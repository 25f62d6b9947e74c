import type { Bytes } from '../bytes/platform.ts';
import { collectBytes } from '../bytes/async.ts';
import { defined } from '../bytes/arguments.ts';
import type { SourceFile } from '../evidence/source.ts';

/** The destination of a mirror, such as a folder or a bucket. */
export type MirrorSink = {
  /**
   * Locks the target for this process until it is closed.
   * @throws DrillproofError `io.LOCKED` if another process has locked it, and other errors of the storage
   */
  open(): Promise<MirrorTarget>;
  /**
   * Optional. The target as it is now, without a lock and without writing anything; `undefined` if it does not exist.
   * With it, a complete mirror is verified without a lock, and `checkMirror` works.
   */
  look?(): Promise<MirrorView | undefined>;
};

/** The readable part of a target. */
export type MirrorView = Pick<MirrorTarget, 'isEmpty' | 'size' | 'read' | 'list' | 'readClaim'>;

/** The digest and size that a file must have. */
export type Expected = { readonly digest: string; readonly bytes: number };

/** A file of the export, with the digest and size that it must have. */
export type ListedFile = Expected & { readonly path: string };

/**
 * An open target of a mirror (formats §1, Export). Paths are those of the export, with `/`. `write` and `commit` give
 * the final name to whole and durable bytes in one step; until then no reader sees them.
 */
export type MirrorTarget = {
  /** True if the target is empty apart from the private files of the sink. */
  isEmpty(): Promise<boolean>;
  /** The size of a file with its final name; `undefined` if it is missing. @throws DrillproofError `io.KIND` */
  size(path: string): Promise<number | undefined>;
  /** The bytes of a file with its final name. */
  read(path: string): Bytes;
  /** The sorted files and empty folders below a folder, `''` for the whole target; none if the folder is missing. */
  list(folder: string): Promise<readonly SourceFile[]>;
  /** Writes a small file. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Opens the incomplete file of an earlier run, or a new one. */
  partial(path: string): Promise<PartialFile>;
  /**
   * Optional. The number of `commit` calls that may be in progress while other files are fetched, because they share the
   * flush of a disk. Default 0: a file counts as fetched when its `commit` has ended.
   */
  readonly commitsAtOnce?: number;
  /**
   * Optional. Copies a file from a local store, verifies it again and gives it its final name. Returns `false`, without
   * a file, if the store has no valid one.
   */
  adopt?(path: string, expected: Expected): Promise<boolean>;
  /** Optional. Adds a verified file to a local store, for other mirrors. */
  share?(path: string, expected: Expected): Promise<void>;
  /** Reads the claim, which names the export that the target will contain. `clean` removes it. */
  readClaim(): Promise<Uint8Array | undefined>;
  writeClaim(bytes: Uint8Array): Promise<void>;
  /**
   * Optional. Called with every file of the export once the mirror is complete, to write files that describe it (the
   * tag files of a bag).
   */
  seal?(files: readonly ListedFile[]): Promise<void>;
  /** Removes the private files of the sink: the claim and partial files. */
  clean(): Promise<void>;
  /** Releases the lock. */
  close(): Promise<void>;
};

/** An incomplete file. Its bytes may be wrong in any way until they match the digest. */
export type PartialFile = {
  readonly bytes: number;
  /** The strong entity tag of the answer that contained the bytes, if any. */
  readonly etag: string | undefined;
  read(): Bytes;
  /** Discards its bytes and stores the entity tag of the next ones. */
  restart(etag: string | undefined): Promise<void>;
  append(chunk: Uint8Array): Promise<void> | void;
  /** Makes the bytes durable and gives the file its final name. */
  commit(): Promise<void>;
  /** Keeps the bytes for another run. After `commit` it does nothing. */
  close(): Promise<void>;
};

/** Reads a small file of a target; `undefined` if it is missing or larger than any valid one. */
export async function readSmallFile(
  target: Pick<MirrorView, 'size' | 'read'>,
  path: string,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const bytes = await target.size(path);
  return bytes === undefined || bytes > maxBytes ? undefined : collectBytes(target.read(path), maxBytes);
}

/** Reads and parses a small file of a target; `undefined` if it is missing or invalid. */
export async function readValid<T>(
  target: Pick<MirrorView, 'size' | 'read'>,
  path: string,
  maxBytes: number,
  parse: (bytes: Uint8Array) => T,
): Promise<T | undefined> {
  const bytes = await readSmallFile(target, path, maxBytes);
  return bytes && parseIfValid(() => parse(bytes));
}

export function parseIfValid<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** Wraps the view that `look` of a sink returns, if the sink has `look`. */
export const lookWith = (
  sink: MirrorSink,
  wrap: (view: MirrorView) => MirrorView,
): Pick<MirrorSink, 'look'> =>
  defined({
    look:
      sink.look &&
      (async () => {
        const view = await sink.look!();
        return view && wrap(view);
      }),
  });
