import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { writeDurably, writeNewFile } from '../../src/node/durable-file.ts';
import { makeFolder, makeFolderIn } from '../support/folder.ts';

/** The calls of the system, in order. */
const calls: string[] = [];
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const names = new Map<number, string>();
  return {
    ...fs,
    openSync: (...args: Parameters<typeof fs.openSync>) => {
      const fd = fs.openSync(...args);
      names.set(fd, basename(String(args[0])).replace(/[0-9a-f]{12}/, 'X'));
      return fd;
    },
    fsync: (...[fd, done]: Parameters<typeof fs.fsync>) => {
      calls.push(`flush ${names.get(fd)}`);
      fs.fsync(fd, done);
    },
    renameSync: (from: string, to: string) => {
      calls.push(`rename to ${basename(to)}`);
      fs.renameSync(from, to);
    },
  };
});

const folder = await makeFolder();
let root: string;
let file: string;
beforeEach(async () => {
  root = await makeFolderIn(folder);
  file = join(root, 'file');
  calls.length = 0;
});

const write = (text: string, mode?: number): Promise<void> =>
  writeDurably(file, (temporary) => writeNewFile(temporary, [Buffer.from(text)], mode));

describe('a durable file', () => {
  it('is flushed before it is renamed, and its folder afterwards', async () => {
    await write('new');
    expect(calls).toEqual(['flush .file.X.part', 'rename to file', `flush ${basename(root)}`]);
    expect(readFileSync(file, 'utf8')).toBe('new');
  });

  it('has all bytes of small and large chunks, in their order', async () => {
    const chunks = [1, 16 * 1024, 16 * 1024 + 1, 0, 100_000].map((length, at) => Buffer.alloc(length, at));
    await writeNewFile(file, chunks);
    expect(readFileSync(file)).toEqual(Buffer.concat(chunks));
  });

  it('replaces the bytes and keeps nothing else in the folder', async () => {
    writeFileSync(file, 'old');
    await write('new', 0o600);
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(root)).toEqual(['file']);
  });

  it('fails with a code that names its final path when the system refuses the write', async () => {
    mkdirSync(join(file, 'inside'), { recursive: true });
    await expect(write('new')).rejects.toMatchObject({ code: 'io.KIND', path: file });
    file = join(root, 'absent', 'file');
    await expect(write('new')).rejects.toMatchObject({ code: 'io.NOT_FOUND', path: file });
    expect(readdirSync(root)).toEqual(['file']);
  });

  it('with a name of 255 bytes is written', async () => {
    file = join(root, 'n'.repeat(255));
    await write('new');
    expect(readFileSync(file, 'utf8')).toBe('new');
  });
});
