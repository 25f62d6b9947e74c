import { execFileSync } from 'node:child_process';
import { open, readdir, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import type { DrillproofError } from '../../../src/errors.ts';
import { createServer } from '../../../src/server/server.ts';
import { openDiskBlobs } from '../../../src/server/blobs/disk.ts';
import { openEmbedded } from '../../../src/server/open-stores.ts';
import { makeTestFolder } from '../../support/folder.ts';
import { answerOf, beginUpload, post, RERUNS, sendArchive } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import { eachTest } from '../each-test.ts';
import { buildArchive, ORG, PROJECT, stream, whole } from '../make.ts';
import { BYTES } from '../blobs/suite.ts';
import { prepareStores } from './programs.ts';

/** Replaces the flush of descriptors, which folders use; files use that of their handle. */
const folders = vi.hoisted(() => ({ flush: undefined as (() => void) | undefined }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return {
    ...fs,
    fsync: (fd: number, done: (error: Error | null) => void) => {
      try {
        folders.flush?.();
      } catch (error) {
        return done(error as Error);
      }
      fs.fsync(fd, done);
    },
  };
});

type Syncing = { sync: (this: FileHandle) => Promise<void> };

/** Makes the nth sync to the disk fail and counts syncs. */
async function failSync(folder: string, nth: number) {
  const file = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(file) as Syncing; // that of every open file
  await file.close();
  const { sync } = prototype;
  let calls = 0;
  const count = (): void => {
    if (++calls === nth)
      throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', errno: -5, syscall: 'fsync' });
  };
  folders.flush = count;
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    count();
    await sync.call(this);
  });
  const restore = (): void => {
    folders.flush = undefined;
    spy.mockRestore();
  };
  return { calls: () => calls, restore };
}

const plane = eachTest();

it('a failed sync loses no accepted bytes, and the next request succeeds', async () => {
  let failures = 0;
  for (let nth = 1; ; nth++) {
    const archive = await buildArchive(`export const n = ${nth};\n`);
    const { uploadUrl, attempt } = await beginUpload(plane, archive);
    const failing = await failSync(plane.folder, nth);
    const response = await sendArchive(plane, uploadUrl, archive).finally(failing.restore);
    if (failing.calls() < nth) {
      expect(response.status).toBe(200);
      break;
    }
    failures++;
    await expectEnvelope(response, 'control.UNAVAILABLE');
    const row = await plane.store.buildAttempts.find(PROJECT, attempt.buildAttemptId);
    expect(row?.resource.state).toBe('awaiting_upload');
    expect(await plane.store.builds.find(PROJECT, archive.buildHash)).toBeUndefined();
    expect(await readdir(join(plane.folder, 'tmp'))).toEqual([]);
    const again = await sendArchive(plane, uploadUrl, archive);
    expect(await again.json()).toMatchObject({ state: 'succeeded', buildHash: archive.buildHash });
    const blob = await plane.blobs.open(digestOf(archive.bytes));
    expect(await whole(blob.stream({ start: 0, end: blob.bytes }))).toEqual(archive.bytes);
    await blob.close();
  }
  expect(failures).toBeGreaterThanOrEqual(2); // the file, and the folder that names it
});

it('a blob flushes the name of its folder again after another blob failed to', async () => {
  const path = await makeTestFolder();
  const blobs = await openDiskBlobs(path);
  const put = async (failing: number): Promise<[outcome: string, syncs: number]> => {
    const syncs = await failSync(path, failing);
    const putting = blobs.put(stream(BYTES)).then(
      () => 'stored',
      (error: DrillproofError) => error.code,
    );
    return [await putting.finally(syncs.restore), syncs.calls()];
  };
  expect(await put(2)).toEqual(['io.WRITE_FAILED', 2]);
  expect(await put(Infinity)).toEqual(['stored', 3]); // the file, the folder's name, the file's name
});

/** Writes a file until the disk is full. */
async function fill(path: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (const piece of [65_536, 4_096, 512, 1]) {
      const bytes = Buffer.alloc(piece, 1);
      for (;;) if ((await file.write(bytes)).bytesWritten < piece) break;
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    await file.close();
  }
}

it('a full disk answers unavailable, loses no answered request, and works again when space is free', async () => {
  const folder = await makeTestFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]);
  try {
    const { store, blobs } = await openEmbedded(folder);
    const bearer = await prepareStores({ store, blobs });
    const sender = { server: createServer({ store, blobs }), token: bearer };
    const answered: string[] = [];
    const note = async (response: Response): Promise<void> =>
      void answered.push((await answerOf('runs.reruns.create', response)).operation.operationId);
    await note(await post(sender, RERUNS, {}));

    const filler = join(folder, 'filler');
    await fill(filler);
    let refused: string | undefined;
    for (let n = 0; n < 500 && refused === undefined; n++) {
      const response = await post(sender, RERUNS, {}, `full-disk-${n}`);
      if (response.ok) await note(response);
      else {
        await expectEnvelope(response, 'control.UNAVAILABLE');
        refused = `full-disk-${n}`;
      }
    }
    expect(refused).toBeDefined();
    const large = await buildArchive('// '.padEnd(200_000, 'x'));
    for (const operationId of answered) expect(await store.operations.find(ORG, operationId)).toBeDefined();

    await rm(filler);
    expect((await post(sender, RERUNS, {}, refused)).status).toBe(202);
    const { uploadUrl } = await beginUpload(sender, large);
    await fill(filler);
    await expectEnvelope(sendArchive(sender, uploadUrl, large), 'control.UNAVAILABLE');
    await writeFile(filler, '');
    expect((await sendArchive(sender, uploadUrl, large)).status).toBe(200);
    await store.close();

    const reopened = await openEmbedded(folder);
    for (const operationId of answered)
      expect(await reopened.store.operations.find(ORG, operationId)).toBeDefined();
    const build = await reopened.store.builds.find(PROJECT, large.buildHash);
    expect(build?.archive?.bytes).toBe(large.bytes.length);
    await reopened.store.close();
  } finally {
    execFileSync('umount', ['--lazy', folder]); // a failure leaves files open
  }
});
