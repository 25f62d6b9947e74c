import type * as Fs from 'node:fs';
import type * as FsPromises from 'node:fs/promises';

/** What a disk is asked to do, in the words of a test. */
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
 * A disk on which the nth call of a kind fails. It stands behind the modules of Node.js for every module that a test
 * file loads once it has said
 *
 *     vi.mock('node:fs', async (real) => (await import('…/failing-disk.ts')).failingFs(await real()));
 *
 * and likewise `node:fs/promises` with `failingPromises`.
 */
class FailingDisk {
  private armed: Armed | undefined;
  private calls = 0;
  private counts: Map<DiskAct, number> | undefined;
  /** Whether the call that shall fail was made. */
  get struck(): boolean {
    return this.armed !== undefined && this.calls >= this.armed.nth;
  }

  /** Lets the nth call from now on fail, and only that; of calls by path, those whose path matches. */
  arm(act: DiskAct, nth: number, errno: string, path = /(?:)/): void {
    this.armed = { act, nth, errno, path };
    this.calls = 0;
  }

  disarm(): void {
    this.armed = undefined;
  }

  /** Counts calls by kind until the returned function is called, which gives the counts. */
  count(): () => ReadonlyMap<DiskAct, number> {
    const counts = new Map<DiskAct, number>();
    this.counts = counts;
    return () => {
      this.counts = undefined;
      return counts;
    };
  }

  /** Throws if this call is the one. */
  meet(act: DiskAct, path = ''): void {
    const { armed } = this;
    this.counts?.set(act, (this.counts.get(act) ?? 0) + 1);
    if (armed?.act !== act || !armed.path.test(path)) return;
    if (++this.calls === armed.nth)
      throw Object.assign(new Error(`${armed.errno}: as a test wants it, ${act}`), { code: armed.errno });
  }
}

export const disk = new FailingDisk();

/** Writes half of what it was given, as a disk that gets full does, and then fails. */
function halfWritten(write: () => void): void {
  try {
    disk.meet('write');
  } catch (error) {
    write();
    throw error;
  }
}

const writes = (flags: string | number = 'r'): boolean =>
  typeof flags === 'number' ? (flags & 3) !== 0 : flags !== 'r';

/** What open files were opened as; a number stands for the last one that had it. */
const paths = new Map<number, string>();

export const failingFs = (fs: typeof Fs) => ({
  ...fs,
  openSync(path: string, flags: string | number, mode?: number) {
    disk.meet(writes(flags) ? 'open' : 'look', path);
    const fd = fs.openSync(path, flags, mode);
    paths.set(fd, path);
    return fd;
  },
  writeSync(fd: number, bytes: Uint8Array | string, offset?: number, length?: number, position?: number) {
    const buffer = Buffer.from(bytes);
    const [from, many] = [offset ?? 0, length ?? buffer.length - (offset ?? 0)];
    halfWritten(() => fs.writeSync(fd, buffer, from, Math.floor(many / 2), position));
    return fs.writeSync(fd, buffer, from, many, position);
  },
  write(fd: number, bytes: Uint8Array, offset: number, done: (cause: Error | null, written: number) => void) {
    try {
      halfWritten(() => fs.writeSync(fd, bytes, offset, Math.floor((bytes.length - offset) / 2)));
    } catch (error) {
      return done(error instanceof Error ? error : null, 0);
    }
    fs.write(fd, bytes, offset, done);
  },
  readSync(fd: number, buffer: Uint8Array, offset: number, length: number, position: number) {
    disk.meet('read', paths.get(fd));
    return fs.readSync(fd, buffer, offset, length, position);
  },
  ftruncateSync(fd: number, length: number) {
    disk.meet('truncate');
    fs.ftruncateSync(fd, length);
  },
  fsync(fd: number, done: Fs.NoParamCallback) {
    try {
      disk.meet('sync', paths.get(fd));
    } catch (error) {
      return done(error instanceof Error ? error : null);
    }
    fs.fsync(fd, done);
  },
  writeFileSync(path: string, data: string) {
    halfWritten(() => fs.writeFileSync(path, data.slice(0, data.length / 2)));
    fs.writeFileSync(path, data);
  },
  readFileSync(path: string, encoding?: BufferEncoding) {
    disk.meet('read', path);
    return fs.readFileSync(path, { encoding: encoding ?? null });
  },
  renameSync(from: string, to: string) {
    disk.meet('rename', to);
    fs.renameSync(from, to);
  },
  lstatSync(path: string, options?: Fs.StatSyncOptions) {
    disk.meet('look', path);
    return fs.lstatSync(path, options);
  },
  rmSync(path: string, options?: Fs.RmOptions) {
    disk.meet('remove', path);
    fs.rmSync(path, options);
  },
});

export const failingPromises = (fs: typeof FsPromises) => ({
  ...fs,
  async open(path: string, flags?: string, mode?: number) {
    disk.meet(writes(flags) ? 'open' : 'look', path);
    const file = await fs.open(path, flags, mode);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      disk.meet('sync', path);
      await sync();
    };
    return file;
  },
  async writeFile(path: string, data: string | Uint8Array) {
    try {
      disk.meet('write');
    } catch (error) {
      await fs.writeFile(path, data.slice(0, data.length / 2));
      throw error;
    }
    await fs.writeFile(path, data);
  },
  async copyFile(from: string, to: string, mode?: number) {
    disk.meet('link', to);
    await fs.copyFile(from, to, mode);
  },
  async link(from: string, to: string) {
    disk.meet('link', to);
    await fs.link(from, to);
  },
  async mkdir(path: string, options?: Fs.MakeDirectoryOptions) {
    disk.meet('mkdir', path);
    return fs.mkdir(path, options);
  },
  async rename(from: string, to: string) {
    disk.meet('rename', to);
    await fs.rename(from, to);
  },
  async rm(path: string, options?: Fs.RmOptions) {
    disk.meet('remove', path);
    await fs.rm(path, options);
  },
  async lstat(path: string) {
    disk.meet('look', path);
    return fs.lstat(path);
  },
  async readFile(path: string, encoding?: BufferEncoding) {
    disk.meet('read', path);
    return fs.readFile(path, { encoding: encoding ?? null });
  },
});
