import { nextTick } from 'node:process';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createMemory, type Versions } from '../../../src/server/store/remember.ts';

/** Creates a memory that counts how often it reads versions and data. */
function createCounted() {
  const source = { version: { all: 1, tenants: 1 } as Versions, versions: 0, reads: 0 };
  const memory = createMemory(() => {
    source.versions++;
    return source.version;
  });
  const read = (table = 'tokens', key = 'a') => memory.remember(table, key, async () => ++source.reads);
  return { ...memory, source, read };
}

/** Waits until everything that was begun has had its turn, also on a busy machine. */
const turn = async (): Promise<void> => {
  await sleep(1);
  await setImmediate();
};

describe('the memory of a store', () => {
  it('simultaneous requests read one version, and each row once', async () => {
    const { source, read } = createCounted();
    expect(await Promise.all([read(), read(), read('tokens', 'b')])).toEqual([1, 1, 2]);
    expect(source).toMatchObject({ versions: 1, reads: 2 });
  });

  it('a later read reads the version again', async () => {
    const { source, read } = createCounted();
    await read();
    await turn();
    expect(await read()).toBe(1);
    expect(source.versions).toBe(2);
  });

  it('requests that come while a version is read, or right after it, share one later version', async () => {
    const answers: ((versions: Versions) => void)[] = [];
    const { remember } = createMemory(() => new Promise((resolve) => answers.push(resolve)));
    let row = 'before';
    const read = () => remember('tokens', 'a', async () => row);
    const first = read();
    const later: Promise<string>[] = [];
    for (let n = 0; n < 3; n++) {
      await turn();
      later.push(read());
    }
    expect(answers).toHaveLength(1);
    answers[0]?.({ tenants: 1 });
    expect(await first).toBe('before');
    row = 'after';
    expect(answers).toHaveLength(1);
    later.push(new Promise(nextTick).then(read));
    await turn();
    expect(answers).toHaveLength(2);
    answers[1]?.({ tenants: 2 });
    expect(await Promise.all(later)).toEqual(Array(4).fill('after'));
  });

  it.each<[name: string, table: string, version: Versions, reads: number]>([
    ['a token again when the version of tenants differs', 'tokens', { all: 1, tenants: 2 }, 2],
    ['a token again without a version of tenants', 'tokens', { all: 1 }, 2],
    ['no token again when the version of other tables differs', 'tokens', { all: 2, tenants: 1 }, 1],
    ['a session again when the version differs', 'sessions', { all: 2, tenants: 1 }, 2],
    ['a session again without a version', 'sessions', { tenants: 1 }, 2],
    ['no session again when the version is the same', 'sessions', { all: 1 }, 1],
  ])('reads %s', async (_, table, version, reads) => {
    const { source, read } = createCounted();
    await read(table);
    await turn();
    source.version = version;
    expect(await read(table)).toBe(reads);
  });

  it('two unknown versions are never the same', async () => {
    const { source, read } = createCounted();
    source.version = {};
    for (const expected of [1, 2]) {
      expect(await read()).toBe(expected);
      await turn();
    }
  });

  it('forgets one table and keeps the others', async () => {
    const { read, forget } = createCounted();
    await Promise.all([read('tokens'), read('sessions')]);
    forget('sessions');
    expect(await Promise.all([read('tokens'), read('sessions')])).toEqual([1, 3]);
  });

  it('a read that failed is not remembered', async () => {
    const { remember, read } = createCounted();
    await expect(remember('tokens', 'a', () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    expect(await read()).toBe(1);
  });

  it('a request succeeds after one whose version could not be read', async () => {
    const readVersions = vi
      .fn<() => Versions>(() => ({}))
      .mockImplementationOnce(() => {
        throw new Error('lost');
      });
    const { remember } = createMemory(readVersions);
    await expect(remember('tokens', 'a', async () => 1)).rejects.toThrow('lost');
    expect(await remember('tokens', 'a', async () => 1)).toBe(1);
  });
});
