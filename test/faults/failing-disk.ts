import type * as Fs from 'node:fs';
import type * as FsPromises from 'node:fs/promises';

/** A kind of disk call. */
export type DiskAct =
  | 'open'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'rename'
  | 'mkdir'
  | 'link'
  | 'remove'
  | 'read'
  | 'look';

type Armed = { readonly act: DiskAct; readonly nth: number; readonly errno: string; readonly path: RegExp };

/**
 * A disk on which the nth call of a kind fails. It replaces the modules of Node.js in every module that a test file
 * loads after
 *
 *     vi.mock('node:fs', async (real) => (await import('…/failing-disk.ts')).failingFs(await real()));
 *
 * and likewise `node:fs/promises` with `failingPromises`.
 */
class FailingDisk {
  private armed: Armed | undefined;
  private calls = 0;
  private counts: Map<DiskAct, number> | undefined;
  /** True once the call that fails was made. */
  get failed(): boolean {
    return this.armed !== undefined && this.calls >= this.armed.nth;
  }

  /** Makes only the nth call from now on fail. Calls whose path does not match are not counted. */
  arm(act: DiskAct, nth: number, errno: string, path = /(?:)/): void {
    this.armed = { act, nth, errno, path };
    this.calls = 0;
  }

  disarm(): void {
    this.armed = undefined;
  }

  /** Counts calls by kind until the returned function is called, which returns the counts. */
  count(): () => ReadonlyMap<DiskAct, number> {
    const counts = new Map<DiskAct, number>();
    this.counts = counts;
    return () => {
      this.counts = undefined;
      return counts;
    };
  }

  /** Counts this call, and throws if it must fail. */
  call(act: DiskAct, path = ''): void {
    const { armed } = this;
    this.counts?.set(act, (this.counts.get(act) ?? 0) + 1);
    if (armed?.act !== act || !armed.path.test(path)) return;
    if (++this.calls === armed.nth)
      throw Object.assign(new Error(`${armed.errno}: made for a test, ${act}`), { code: armed.errno });
  }
}

export const disk = new FailingDisk();

/** Fails after writing half of the bytes, like a disk that gets full. */
function writeHalf(write: () => void): void {
  try {
    disk.call('write');
  } catch (error) {
    write();
    throw error;
  }
}

const writes = (flags: string | number = 'r'): boolean =>
  typeof flags === 'number' ? (flags & 3) !== 0 : flags !== 'r';

/** The path with which each file descriptor was last opened. */
const paths = new Map<number, string>();

/** The position of the argument with the path or descriptor; -1 if none matters. */
type Row = readonly [name: string, act: DiskAct, at: number];
const SYNC: readonly Row[] = [
  ['readSync', 'read', 0],
  ['readFileSync', 'read', 0],
  ['lstatSync', 'look', 0],
  ['renameSync', 'rename', 1],
  ['rmSync', 'remove', 0],
  ['ftruncateSync', 'truncate', -1],
];
const PROMISES: readonly Row[] = [
  ['readFile', 'read', 0],
  ['lstat', 'look', 0],
  ['rename', 'rename', 1],
  ['rm', 'remove', 0],
  ['mkdir', 'mkdir', 0],
  ['link', 'link', 1],
  ['copyFile', 'link', 1],
];

const wrap =
  (fs: object, [name, act, at]: Row) =>
  (...args: readonly unknown[]): unknown => {
    const path = args[at];
    disk.call(act, typeof path === 'string' ? path : paths.get(Number(path)));
    return Reflect.apply(Reflect.get(fs, name), fs, args);
  };

export const failingFs = (fs: typeof Fs) => ({
  ...fs,
  ...Object.fromEntries(SYNC.map((row) => [row[0], wrap(fs, row)])),
  openSync(path: string, flags: string | number, mode?: number) {
    disk.call(writes(flags) ? 'open' : 'look', path);
    const fd = fs.openSync(path, flags, mode);
    paths.set(fd, path);
    return fd;
  },
  writeSync(fd: number, bytes: Uint8Array | string, offset?: number, length?: number, position?: number) {
    const buffer = Buffer.from(bytes);
    const [from, many] = [offset ?? 0, length ?? buffer.length - (offset ?? 0)];
    writeHalf(() => fs.writeSync(fd, buffer, from, Math.floor(many / 2), position));
    return fs.writeSync(fd, buffer, from, many, position);
  },
  write(fd: number, bytes: Uint8Array, offset: number, done: (cause: Error | null, written: number) => void) {
    try {
      writeHalf(() => fs.writeSync(fd, bytes, offset, Math.floor((bytes.length - offset) / 2)));
    } catch (error) {
      return done(error instanceof Error ? error : null, 0);
    }
    fs.write(fd, bytes, offset, done);
  },
  fsync(fd: number, done: Fs.NoParamCallback) {
    try {
      disk.call('sync', paths.get(fd));
    } catch (error) {
      return done(error instanceof Error ? error : null);
    }
    fs.fsync(fd, done);
  },
  writeFileSync(path: string, data: string) {
    writeHalf(() => fs.writeFileSync(path, data.slice(0, data.length / 2)));
    fs.writeFileSync(path, data);
  },
});

export const failingPromises = (fs: typeof FsPromises) => ({
  ...fs,
  ...Object.fromEntries(
    PROMISES.map((row) => [row[0], async (...args: readonly unknown[]) => wrap(fs, row)(...args)]),
  ),
  async open(path: string, flags?: string, mode?: number) {
    disk.call(writes(flags) ? 'open' : 'look', path);
    const file = await fs.open(path, flags, mode);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      disk.call('sync', path);
      await sync();
    };
    return file;
  },
  async writeFile(path: string, data: string | Uint8Array) {
    try {
      disk.call('write');
    } catch (error) {
      await fs.writeFile(path, data.slice(0, data.length / 2));
      throw error;
    }
    await fs.writeFile(path, data);
  },
});
