import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { MirrorTarget } from '../../../src/mirror/sink.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { mirrorDirectory } from '../../../src/node/volume/mirror.ts';
import { failureOf } from '../../client/make.ts';
import { cleanUp, filesOf, newFolder } from '../../mirror/make.ts';
import { forAllAsync } from '../../support/property.ts';

const open: MirrorTarget[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((target) => target.close()));
  await cleanUp();
});
async function openTarget(folder: string): Promise<MirrorTarget> {
  const target = await mirrorDirectory(folder).open();
  open.push(target);
  return target;
}
async function openNew() {
  const folder = join(await newFolder(), 'new');
  return { folder, target: await openTarget(folder) };
}
/** Expects a folder to be refused with this code. */
async function expectRefusal(folder: string, code: string): Promise<void> {
  expect(await failureOf(mirrorDirectory(folder).open())).toMatchObject({ code });
}
const PRIVATE = '.drillproof-mirror';
const lockIn = (folder: string): string => join(folder, PRIVATE, 'lock');

describe('a folder as target', () => {
  it('gives complete files their final name and removes its private files', async () => {
    const { folder, target } = await openNew();
    expect(await target.isEmpty()).toBe(true);
    await target.write('a.json', toUtf8('first'));
    await target.write('a.json', toUtf8('2nd'));
    await target.write('deep/er/b.json', toUtf8('b'));
    expect(await target.size('a.json')).toBe(3);
    expect(await target.size('deep/absent')).toBeUndefined();
    expect(await target.size('no/folder')).toBeUndefined();
    expect(await text(target.read('a.json'))).toBe('2nd');
    expect(await target.isEmpty()).toBe(false);
    await target.clean();
    await target.close();
    expect([...(await filesOf(folder)).keys()].toSorted()).toEqual(['a.json', 'deep/er/b.json']);
    expect(await readdir(folder)).not.toContain(PRIVATE);
  });

  it('remembers a partial file and its entity tag until it is committed', async () => {
    const folder = await newFolder();
    const first = await (await openTarget(folder)).partial('parts/a.zip');
    await first.restart('"v1"');
    await first.append(toUtf8('hello '));
    await first.close();
    await open.pop()?.close();
    const target = await openTarget(folder);
    const second = await target.partial('parts/a.zip');
    expect([second.bytes, second.etag]).toEqual([6, '"v1"']);
    expect(await text(second.read())).toBe('hello ');
    await second.append(toUtf8('world'));
    expect(await target.size('parts/a.zip')).toBeUndefined();
    await second.commit();
    await second.close();
    expect(await text(target.read('parts/a.zip'))).toBe('hello world');
    expect(await readdir(join(folder, PRIVATE, 'partial'))).toEqual([]);
  });

  it('discards the bytes of a partial file that is restarted', async () => {
    const { folder, target } = await openNew();
    const partial = await target.partial('a');
    await partial.restart('"v1"');
    await partial.append(toUtf8('a long beginning'));
    await partial.restart(undefined);
    await partial.append(toUtf8('short'));
    await partial.close();
    const reopened = await target.partial('a');
    expect([reopened.bytes, reopened.etag]).toEqual([5, undefined]);
    await reopened.restart(undefined);
    await reopened.close();
    expect(await readdir(join(folder, PRIVATE, 'partial'))).toEqual([]);
  });

  it('writes exactly the appended bytes, in any pieces', async () => {
    const { folder, target } = await openNew();
    await forAllAsync(15, [fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 })], async (pieces) => {
      const partial = await target.partial('x');
      await partial.restart(undefined);
      for (const piece of pieces) await partial.append(piece);
      await partial.commit();
      expect(Buffer.concat(pieces).equals(await readFile(join(folder, 'x')))).toBe(true);
    });
  });

  it('keeps its claim until it is cleaned', async () => {
    const { target } = await openNew();
    expect(await target.readClaim()).toBeUndefined();
    await target.writeClaim(toUtf8('{}'));
    expect(String(Buffer.from((await target.readClaim()) ?? []))).toBe('{}');
    expect(await target.isEmpty()).toBe(true);
    await target.clean();
    expect(await target.readClaim()).toBeUndefined();
  });

  it('follows no symbolic link below its root', async () => {
    const folder = await newFolder();
    const outside = await newFolder();
    await writeFile(join(outside, 'secret'), 'secret');
    await symlink(outside, join(folder, 'parts'));
    await symlink(join(outside, 'secret'), join(folder, 'link'));
    const target = await openTarget(folder);
    for (const act of [
      () => target.write('parts/x', toUtf8('x')),
      () => target.size('parts/secret'),
      () => target.size('link'),
      () => text(target.read('link')),
    ])
      expect(await failureOf(act())).toMatchObject({ code: 'io.KIND' });
    await target.write('link', toUtf8('replaced, not followed'));
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect((await stat(join(folder, 'link'))).isFile()).toBe(true);
    expect(await readdir(outside)).toEqual(['secret']);
  });

  it('does not open when its own folder is a symbolic link', async () => {
    const folder = await newFolder();
    await symlink(await newFolder(), join(folder, PRIVATE));
    await expectRefusal(folder, 'io.KIND');
  });
});

const writeLock = async (folder: string, content: string): Promise<void> => {
  await mkdir(join(folder, PRIVATE), { recursive: true });
  await writeFile(lockIn(folder), content);
};
const makeLock = (pid: number, host = hostname()): string => JSON.stringify({ pid, host, nonce: 'x' });
const endedPid = (): number => spawnSync(process.execPath, ['-e', '0']).pid;

describe('the lock of a folder', () => {
  it('is free again after a mirror whose private files cannot be read', async () => {
    const folder = await newFolder();
    await mkdir(join(folder, PRIVATE));
    await writeFile(join(folder, PRIVATE, 'partial'), '');
    for (let run = 0; run < 2; run++) {
      const target = await mirrorDirectory(folder).open();
      expect(await failureOf(target.partial('parts/a.zip'))).toMatchObject({ code: 'io.KIND' });
      await target.close();
    }
  });

  it.each([
    ['a live process', () => makeLock(process.ppid)],
    ['another machine, whether its process lives or not', () => makeLock(endedPid(), 'another-machine')],
  ])('of %s is respected', async (_, content) => {
    const folder = await newFolder();
    await writeLock(folder, content());
    await expectRefusal(folder, 'io.LOCKED');
    expect(await readdir(join(folder, PRIVATE))).toEqual(['lock']);
  });

  it.each([
    ['a process that is dead', () => makeLock(endedPid())],
    ['an earlier process with our own pid', () => makeLock(process.pid)],
    ['a process that died while writing it', () => ''],
    ['no valid process', () => '{"pid":"1"}'],
  ])('of %s is taken over', async (_, content) => {
    const folder = await newFolder();
    await writeLock(folder, content());
    await openTarget(folder);
    expect(JSON.parse(await readFile(lockIn(folder), 'utf8'))).toMatchObject({ pid: process.pid });
    expect(await readdir(join(folder, PRIVATE))).toEqual(['lock']);
  });

  it('that a dead process renamed is removed by the next one; that of a live process stays', async () => {
    const folder = await newFolder();
    await mkdir(join(folder, PRIVATE));
    await writeFile(`${lockIn(folder)}.0123456789ab`, makeLock(endedPid()));
    await writeFile(`${lockIn(folder)}.ba9876543210`, makeLock(process.ppid));
    await (await mirrorDirectory(folder).open()).close();
    expect(await readdir(join(folder, PRIVATE))).toEqual(['lock.ba9876543210']);
  });

  it('that is stale is taken over by exactly one of many processes', async () => {
    const folder = await newFolder();
    await writeLock(folder, makeLock(endedPid()));
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => openTarget(folder)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
