import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DrillproofError } from '../../src/errors.ts';
import { errnoOf, ioError, newId } from '../../src/node/fs-errors.ts';
import { makeFolder } from '../support/folder.ts';

const systemError = (code: string): Error => Object.assign(new Error(`${code}: made for a test`), { code });

const folder = await makeFolder();

describe('errors of the file system', () => {
  it.each([
    ['write', 'ENOSPC', 'io.DISK_FULL'],
    ['write', 'EDQUOT', 'io.DISK_FULL'],
    ['write', 'EROFS', 'io.READ_ONLY'],
    ['write', 'EACCES', 'io.READ_ONLY'],
    ['write', 'EPERM', 'io.READ_ONLY'],
    ['write', 'EIO', 'io.WRITE_FAILED'],
    ['write', 'EMFILE', 'io.WRITE_FAILED'],
    ['write', 'EEXIST', 'io.EXISTS'],
    ['write', 'ENOENT', 'io.NOT_FOUND'],
    ['write', 'ENOTDIR', 'io.KIND'],
    ['read', 'ENOENT', 'io.NOT_FOUND'],
    ['read', 'EACCES', 'io.UNREADABLE'],
    ['read', 'EIO', 'io.UNREADABLE'],
    ['read', 'EISDIR', 'io.KIND'],
    ['read', 'ELOOP', 'io.KIND'],
  ] as const)('to %s: %s is %s', (act, errno, code) => {
    expect(ioError(systemError(errno), 'x', act)).toMatchObject({ code, path: 'x', details: { errno } });
  });

  it('maps the errors of the real calls', async () => {
    await writeFile(join(folder, 'file'), '');
    for (const [work, act, code] of [
      [() => readFile(join(folder, 'absent')), 'read', 'io.NOT_FOUND'],
      [() => readFile(folder), 'read', 'io.KIND'],
      [() => open(join(folder, 'file'), 'wx'), 'write', 'io.EXISTS'],
    ] as const)
      expect(await work().catch((cause: unknown) => ioError(cause, 'x', act))).toMatchObject({ code });
  });

  it('returns a DrillproofError unchanged', () => {
    const error = new DrillproofError('part.DIGEST_MISMATCH', 'made for a test');
    expect(ioError(error, 'x', 'write')).toBe(error);
  });

  it('converts any value', () => {
    expect(ioError('text', 'x', 'read')).toMatchObject({ code: 'io.UNREADABLE' });
    expect(ioError(undefined, 'x', 'write')).toMatchObject({ code: 'io.WRITE_FAILED' });
    expect(errnoOf({ code: 'ENOENT' })).toBeUndefined();
    expect(errnoOf(Object.assign(new Error('x'), { code: 5 }))).toBeUndefined();
  });

  it('has a message of one line without the code', () => {
    const { message } = ioError(systemError('ENOSPC'), '/mirror/parts', 'write');
    expect(message).toBe('cannot write /mirror/parts: the disk is full');
  });
});

it('new ids have 24 characters, each with the same chance', () => {
  const ids = Array.from({ length: 10_000 }, () => newId('op'));
  for (const id of ids) expect(id).toMatch(/^op_[0-9a-z]{24}$/);
  const text = ids.map((id) => id.slice(3)).join('');
  // 6,667 of each are expected, and six standard deviations are 483.
  for (const character of '0123456789abcdefghijklmnopqrstuvwxyz')
    expect(Math.abs(text.split(character).length - 6_668)).toBeLessThan(483);
  expect(new Set(ids).size).toBe(10_000);
});
