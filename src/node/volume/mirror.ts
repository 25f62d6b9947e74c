import { checkArguments, type MembersOf, optional, optionsOf, TEXT } from '../../bytes/arguments.ts';
import { type MirrorSink, type MirrorTarget, type MirrorView, readSmallFile } from '../../mirror/sink.ts';
import { folderVolume } from './folder.ts';
import { LOCK_WAIT, type LockWait, retryWhileLocked } from './lock.ts';
import { PART_STORE, type PartStore } from './part-store.ts';
import { CLAIM, type VolumeFiles, type Hold, type Volume } from './volume.ts';

/** The options of `mirrorDirectory`. All are optional. */
export type MirrorDirectoryOptions = {
  /** Files that the mirrors of this machine share. A file in it is not fetched, and a fetched file is added. */
  readonly store?: PartStore;
  /** The longest wait for another process that writes to the same place; default: none. */
  readonly lock?: LockWait;
};
export const SINK_OPTIONS: MembersOf<MirrorDirectoryOptions> = {
  store: optional(PART_STORE),
  lock: optional(optionsOf(LOCK_WAIT)),
};

const MAX_CLAIM_BYTES = 4096;

/**
 * Uses a folder as the target of a mirror, and creates it if it is missing (formats §1, Export). Files are written under
 * temporary names in a private folder and flushed before they get their final name. Symbolic links below the folder are
 * not followed.
 * @throws TypeError for an argument of the wrong kind; its methods throw DrillproofError `io.LOCKED`, `io.KIND`,
 *   `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`, `io.UNREADABLE`
 * @example
 * const to = mirrorDirectory('mirror', { store: await openPartStore('parts') });
 * await mirrorExport({ projectId, evidenceExportId }, { client, to });
 */
export function mirrorDirectory(folder: string, options: MirrorDirectoryOptions = {}): MirrorSink {
  checkArguments({ folder: TEXT, options: optionsOf(SINK_OPTIONS) }, { folder, options });
  return mirrorVolume(async () => folderVolume(folder), options);
}

/** Uses a volume as the target of a mirror. It is connected each time that the target is opened or examined. */
export const mirrorVolume = (
  connect: () => Promise<Volume>,
  { store, lock }: MirrorDirectoryOptions = {},
): Required<MirrorSink> => ({
  async open() {
    const volume = await connect();
    try {
      const hold = await retryWhileLocked(() => volume.hold(), lock);
      const close = async (): Promise<void> => {
        await hold.release();
        await volume.close();
      };
      return { ...createTarget(hold, close), ...(store !== undefined && shareFiles(hold, store)) };
    } catch (cause) {
      await volume.close();
      throw cause;
    }
  },
  async look() {
    const files = await (await connect()).look();
    return files && createView(files);
  },
});

const createView = (files: VolumeFiles): MirrorView => ({
  ...files,
  readClaim: () => readSmallFile(files, CLAIM, MAX_CLAIM_BYTES),
});

const createTarget = (
  { local: _local, release: _release, ...hold }: Hold,
  close: () => Promise<void>,
): MirrorTarget => ({
  ...hold,
  ...createView(hold),
  writeClaim: (bytes) => hold.write(CLAIM, bytes),
  close,
});

/** Links files on this machine into the store, and from it. */
const shareFiles = ({ local }: Hold, store: PartStore): Partial<MirrorTarget> =>
  local === undefined
    ? {}
    : {
        adopt: (path, expected) => local.adopt(path, (file) => store.take(expected, file)),
        share: (path, expected) => store.put(expected, local.pathOf(path)),
      };
