import type { Bytes } from '../bytes/index.ts';
import { collect } from '../client/index.ts';

/** Where a mirror goes: a folder, a bucket. */
export type MirrorSink = {
  /**
   * Takes the target for this process alone, until it is closed.
   * @throws DrillproofError `io.LOCKED` when another process holds it, and what else the store reports
   */
  open(): Promise<MirrorTarget>;
  /**
   * Optional. The target as it stands, without taking it and without writing anything; `undefined` when there is
   * none yet. With it a finished mirror is proven without a lock and without a trace, and a mirror can be checked.
   */
  look?(): Promise<MirrorView | undefined>;
};

/** What can be read of a target. */
export type MirrorView = Pick<MirrorTarget, 'isEmpty' | 'size' | 'read' | 'list' | 'readClaim'>;

/** What a file has to be. */
export type Expected = { readonly digest: string; readonly bytes: number };

/** A file that is here and proven. */
export type Sealed = Expected & { readonly path: string };

/**
 * An open target of a mirror (formats §1, Export). Paths are those of the export, with `/`. `write` and `commit` give
 * the final name to whole and durable bytes in one step; until then no reader sees them.
 */
export type MirrorTarget = {
  /** Whether the target holds nothing but what the sink keeps for itself. */
  isEmpty(): Promise<boolean>;
  /** Size of a file under its final name, `undefined` when there is none. @throws DrillproofError `io.KIND` */
  size(path: string): Promise<number | undefined>;
  /** The bytes of a file under its final name. */
  read(path: string): Bytes;
  /** Paths of the files that lie directly in a folder under their final names, sorted; none without the folder. */
  list(folder: string): Promise<readonly string[]>;
  /** Writes a small file whole. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** What an earlier run left of a file, or an empty beginning. */
  partial(path: string): Promise<PartialFile>;
  /**
   * Optional. Gives a file its final name from bytes that lie at hand elsewhere (a local store), which are proven
   * once more on the way; `false`, and nothing under the final name, when there are none that prove to be these.
   */
  adopt?(path: string, expected: Expected): Promise<boolean>;
  /** Optional. Offers a file that was just proven under its final name to others (a local store). */
  share?(path: string, expected: Expected): Promise<void>;
  /** A note that stays with the target until `clean`: what it is going to be a mirror of. */
  readClaim(): Promise<Uint8Array | undefined>;
  writeClaim(bytes: Uint8Array): Promise<void>;
  /**
   * Optional. Told when everything is here, with every file of the export: the place to write what describes the
   * whole (the tag files of a bag).
   */
  seal?(files: readonly Sealed[]): Promise<void>;
  /** Removes everything that the sink keeps for itself: claim and partial files. */
  clean(): Promise<void>;
  /** Lets go of the target. */
  close(): Promise<void>;
};

/** A file that is not whole yet. Its bytes may be wrong in any way: nobody but the digest vouches for them. */
export type PartialFile = {
  /** How many bytes are there. */
  readonly bytes: number;
  /** The strong entity tag under which they came, when it is known. */
  readonly etag: string | undefined;
  /** Everything that is there, from the beginning. */
  read(): Bytes;
  /** Forgets what is there and notes the entity tag of what comes next. */
  restart(etag: string | undefined): Promise<void>;
  append(chunk: Uint8Array): Promise<void> | void;
  /** Makes the bytes durable and gives them the final name. */
  commit(): Promise<void>;
  /** Leaves what is there for another run. After `commit` it does nothing. */
  close(): Promise<void>;
};

/** A small file of a target; `undefined` when it is absent or larger than any sound one. */
export async function readSmallFile(
  target: Pick<MirrorView, 'size' | 'read'>,
  path: string,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const bytes = await target.size(path);
  return bytes === undefined || bytes > maxBytes ? undefined : collect(target.read(path), maxBytes);
}
