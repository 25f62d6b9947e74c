import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DrillproofError } from '../../src/errors.ts';
import { errnoOf, ioError, newId } from '../../src/node/fs-errors.ts';
import { makeFolder } from '../support/folder.ts';

const systemError = (code: string): Error => Object.assign(new Error(`${code}: made for a test`), { code });

const folder = await makeFolder();

describe('errors of the file system', () => {
  it.each([
    ['ENOSPC', 'io.DISK_FULL'],
    ['EDQUOT', 'io.DISK_FULL'],
    ['EROFS', 'io.READ_ONLY'],
    ['EACCES', 'io.READ_ONLY'],
    ['EPERM', 'io.READ_ONLY'],
    ['EIO', 'io.WRITE_FAILED'],
    ['EMFILE', 'io.WRITE_FAILED'],
    ['EEXIST', 'io.EXISTS'],
    ['ENOENT', 'io.NOT_FOUND'],
    ['ENOTDIR', 'io.KIND'],
  ])('writing: %s is %s', (errno, code) => {
    expect(ioError(systemError(errno), 'x', 'write')).toMatchObject({ code, path: 'x', details: { errno } });
  });

  it.each([
    ['ENOENT', 'io.NOT_FOUND'],
    ['EACCES', 'io.UNREADABLE'],
    ['EIO', 'io.UNREADABLE'],
    ['EISDIR', 'io.KIND'],
    ['ELOOP', 'io.KIND'],
  ])('reading: %s is %s', (errno, code) => {
    expect(ioError(systemError(errno), 'x', 'read')).toMatchObject({ code });
  });

  it('maps the errors of the real calls', async () => {
    const absent = await readFile(join(folder, 'absent')).catch((cause: unknown) =>
      ioError(cause, 'absent', 'read'),
    );
    const kind = await readFile(folder).catch((cause: unknown) => ioError(cause, folder, 'read'));
    expect(absent).toMatchObject({ code: 'io.NOT_FOUND' });
    expect(kind).toMatchObject({ code: 'io.KIND' });
    await (await open(join(folder, 'here'), 'wx')).close();
    const twice = await open(join(folder, 'here'), 'wx').catch((cause: unknown) =>
      ioError(cause, 'here', 'write'),
    );
    expect(twice).toMatchObject({ code: 'io.EXISTS' });
  });

  it('leaves an error of ours as it is', () => {
    const ours = new DrillproofError('part.DIGEST_MISMATCH', 'made for a test');
    expect(ioError(ours, 'x', 'write')).toBe(ours);
  });

  it('takes anything that was thrown', () => {
    expect(ioError('text', 'x', 'read')).toMatchObject({ code: 'io.UNREADABLE' });
    expect(ioError(undefined, 'x', 'write')).toMatchObject({ code: 'io.WRITE_FAILED' });
    expect(errnoOf({ code: 'ENOENT' })).toBeUndefined();
    expect(errnoOf(Object.assign(new Error('x'), { code: 5 }))).toBeUndefined();
  });

  it('gives one line without the code', () => {
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
