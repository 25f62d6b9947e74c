import { describe, expect, it } from 'vitest';
import { createMemory, type Versions } from '../../../src/server/store/remember.ts';

/** A memory of data with versions, which counts how often either is read. */
function counted() {
  const seen = { version: { all: 1, tenants: 1 } as Versions, versions: 0, reads: 0 };
  const memory = createMemory(() => {
    seen.versions++;
    return seen.version;
  });
  const read = (table = 'tokens', key = 'a') => memory.remember(table, key, async () => ++seen.reads);
  return { ...memory, seen, read };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

describe('the memory of a store', () => {
  it('reads one version, and one row once, for all that is asked for at the same time', async () => {
    const { seen, read } = counted();
    expect(await Promise.all([read(), read(), read('tokens', 'b')])).toEqual([1, 1, 2]);
    expect(seen).toMatchObject({ versions: 1, reads: 2 });
  });

  it('asks for the version again for a later read', async () => {
    const { seen, read } = counted();
    await read();
    await turn();
    expect(await read()).toBe(1);
    expect(seen.versions).toBe(2);
  });

  it('reads one later version for all that is asked for while a version is read', async () => {
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
    await turn();
    expect(answers).toHaveLength(2);
    answers[1]?.({ tenants: 2 });
    expect(await Promise.all(later)).toEqual(['after', 'after', 'after']);
  });

  it.each<[name: string, table: string, version: Versions, reads: number]>([
    ['a token again after another version of tenants', 'tokens', { all: 1, tenants: 2 }, 2],
    ['a token again without a version of tenants', 'tokens', { all: 1 }, 2],
    ['no token again after another version of other tables', 'tokens', { all: 2, tenants: 1 }, 1],
    ['a session again after another version', 'sessions', { all: 2, tenants: 1 }, 2],
    ['a session again without a version', 'sessions', { tenants: 1 }, 2],
    ['no session again after the same version', 'sessions', { all: 1 }, 1],
  ])('reads %s', async (_, table, version, reads) => {
    const { seen, read } = counted();
    await read(table);
    await turn();
    seen.version = version;
    expect(await read(table)).toBe(reads);
  });

  it('never takes two unknown versions for the same', async () => {
    const { seen, read } = counted();
    seen.version = {};
    for (const expected of [1, 2]) {
      expect(await read()).toBe(expected);
      await turn();
    }
  });

  it('forgets one table and keeps the others', async () => {
    const { read, forget } = counted();
    await Promise.all([read('tokens'), read('sessions')]);
    forget('sessions');
    expect(await Promise.all([read('tokens'), read('sessions')])).toEqual([1, 3]);
  });

  it('does not keep a read that failed', async () => {
    const { remember, read } = counted();
    await expect(remember('tokens', 'a', () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    expect(await read()).toBe(1);
  });

  it('does not keep requests from each other when the version cannot be read', async () => {
    let fails = true;
    const { remember } = createMemory(() => {
      if (fails) throw new Error('lost');
      return {};
    });
    await expect(remember('tokens', 'a', async () => 1)).rejects.toThrow('lost');
    fails = false;
    expect(await remember('tokens', 'a', async () => 1)).toBe(1);
  });
});
