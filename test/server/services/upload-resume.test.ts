import { randomBytes } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import type { BuildUpload } from '../../../src/contract/resources/build.ts';
import { sweepAttempts } from '../../../src/server/builds/drive-attempt.ts';
import { answerOf, HOUR_MS, post, UPLOADS } from '../change.ts';
import { eachTest } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, bodyFrom, buildArchive, PROJECT, importWorlds } from '../make.ts';

const PIECE = 1024 * 1024; // the size of the pieces that the server stores
const plane = eachTest(importWorlds);
const PADDING = randomBytes(2 * PIECE);
let archive: Uint8Array;
let upload: BuildUpload;

beforeEach(async () => {
  const build = await makePaddedArchive();
  archive = build.bytes;
  const body = { buildHash: build.buildHash, artifactDigest: digestOf(archive), bytes: archive.length };
  upload = await answerOf('builds.uploads.create', post(plane, UPLOADS, body));
});

/** A build archive with one large asset. */
function makePaddedArchive() {
  const path = 'greeter/zz.bin';
  const asset = { path, mediaType: 'image/x', artifactHash: digestOf(PADDING), bytes: PADDING.length };
  const lock = (document: Record<string, unknown>) => {
    const [locked] = document['packages'] as { ui: { assets: object[] } }[];
    locked!.ui.assets.push(asset);
    return document;
  };
  return buildArchive(undefined, { lock, extra: { [path]: PADDING } });
}

const put = (bytes: Uint8Array | BodyInit, range?: string): Promise<Response> =>
  ask(plane, upload.uploadUrl, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip', ...(range !== undefined && { 'content-range': range }) },
    body: bytes as BodyInit,
  });
const formatRange = (first: number, end = archive.length): string =>
  `bytes ${first}-${end - 1}/${archive.length}`;
const putFrom = (first: number, bytes = archive): Promise<Response> =>
  put(bytes.subarray(first), formatRange(first));
const readState = async (answer: Promise<Response>): Promise<string> =>
  (await answerOf('builds.uploads.put', answer)).state;
const readProgress = () => answerOf('builds.uploads.read', ask(plane, upload.uploadUrl));

/** Bytes in chunks of 64 KiB, and then a connection that breaks. */
function* breakOff(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.slice(at, at + 65_536);
  throw new Error('the connection was reset');
}
const cutAt = async (end: number, first = 0): Promise<void> => {
  const range = first === 0 ? undefined : formatRange(first);
  await expectEnvelope(put(bodyFrom(breakOff(archive.slice(first, end))), range), 'control.REQUEST_INVALID');
};
const listPieces = () => plane.store.uploadPieces.list(upload.attempt);

it.each([1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE])(
  'an upload that was cut continues after %i bytes',
  async (end) => {
    await cutAt(end);
    expect(await readProgress()).toMatchObject({ receivedBytes: end, bytes: archive.length });
    expect(await readState(putFrom(end))).toBe('succeeded');
    expect(await readProgress()).toMatchObject({ receivedBytes: archive.length, state: 'succeeded' });
    expect(await listPieces()).toEqual([]);
  },
);

it('an upload continues after each of several cuts, and one byte before the end', async () => {
  const ends = [0, 100, PIECE, 2 * PIECE + 7, archive.length - 1];
  for (const [n, end] of ends.entries()) if (n > 0) await cutAt(end, ends[n - 1]);
  expect(await readState(putFrom(archive.length - 1))).toBe('succeeded');
});

it('an upload in ranges gets the attempt as the answer to each range', async () => {
  expect(await readState(put(archive.slice(0, 10), formatRange(0, 10)))).toBe('awaiting_upload');
  const range = formatRange(10, PIECE * 2 + 10);
  expect(await readState(put(archive.slice(10, PIECE * 2 + 10), range))).toBe('awaiting_upload');
  expect(await readState(putFrom(PIECE * 2 + 10))).toBe('succeeded');
});

it('an upload without Content-Range starts again, and the earlier bytes are removed', async () => {
  await cutAt(PIECE + 1);
  const digests = (await listPieces()).map((piece) => piece.archive.digest);
  expect(digests).toHaveLength(2);
  expect(await readState(put(archive))).toBe('succeeded');
  const removals = await plane.store.blobs.removals('', 100);
  expect(removals).toEqual(expect.arrayContaining(digests));
  for (const digest of digests) expect(await plane.store.blobs.isReferenced(digest)).toBe(false);
});

it('an upload that was cut keeps its bytes until it ends or expires', async () => {
  await cutAt(PIECE);
  const [piece] = await listPieces();
  expect(await plane.store.blobs.isReferenced(piece!.archive.digest)).toBe(true);
  const sweep = () => sweepAttempts({ ...plane, now: () => plane.clock.nowMs }, { stalledMs: HOUR_MS });
  plane.clock.nowMs += HOUR_MS - 1;
  expect(await sweep()).toBe(0);
  plane.clock.nowMs += 1;
  expect(await sweep()).toBe(1);
  expect(await listPieces()).toEqual([]);
  expect(await plane.store.blobs.isReferenced(piece!.archive.digest)).toBe(false);
  await expectEnvelope(ask(plane, upload.uploadUrl), 'control.UPLOAD_EXPIRED');
});

it('an upload starts again after wrong bytes', async () => {
  const wrong = archive.slice();
  wrong[5]! ^= 1;
  expect(await readState(put(wrong.slice(0, 10), formatRange(0, 10)))).toBe('awaiting_upload');
  await expectEnvelope(putFrom(10), 'control.UPLOAD_MISMATCH');
  expect(await readProgress()).toMatchObject({ receivedBytes: 0, state: 'awaiting_upload' });
  expect(await readState(put(archive))).toBe('succeeded');
});

it('uploads that continue at the same time never store other bytes', async () => {
  await cutAt(100);
  const all = await Promise.all([putFrom(100), putFrom(100), put(archive)]);
  expect(all.some(({ status }) => status === 200)).toBe(true);
  for (const { status } of all) expect([200, 404, 409, 422]).toContain(status);
  const { state } = await readProgress();
  if (state !== 'succeeded') expect(await readState(put(archive))).toBe('succeeded');
  expect(await listPieces()).toEqual([]);
});

const [INVALID, MISMATCH] = ['control.REQUEST_INVALID', 'control.UPLOAD_MISMATCH'] as const;
it.each([
  ['bytes 0-9/*', INVALID],
  ['bytes 9-0/TOTAL', INVALID],
  ['bytes 0-TOTAL/TOTAL', INVALID],
  ['bytes */TOTAL', INVALID],
  ['items 0-9/TOTAL', INVALID],
  ['', INVALID],
  ['bytes 0-9/10', MISMATCH],
  ['bytes 0-8/TOTAL', MISMATCH],
  ['bytes 0-10/TOTAL', MISMATCH],
  ['bytes 1-10/TOTAL', 'control.UPLOAD_OFFSET_MISMATCH'],
] as const)('ten bytes with the Content-Range %j are refused with %s', async (range, code) => {
  const answer = put(archive.slice(0, 10), range.replaceAll('TOTAL', String(archive.length)));
  await expectEnvelope(answer, code);
  expect(await listPieces()).toEqual([]);
});

it('an upload that repeats stored bytes is refused with the offset to continue at', async () => {
  await cutAt(100);
  const refused = await putFrom(50);
  const { details } = await expectEnvelope(refused, 'control.UPLOAD_OFFSET_MISMATCH');
  expect(details).toEqual({ receivedBytes: 100 });
});

it('the address of an upload answers 404 with a wrong signature, and needs no token', async () => {
  const forged = upload.uploadUrl.replace(/signature=./, (text) =>
    text.endsWith('A') ? 'signature=B' : 'signature=A',
  );
  await expectEnvelope(ask(plane, forged), 'control.NOT_FOUND');
  expect(await readProgress()).toEqual({
    schemaVersion: 1,
    buildAttemptId: upload.attempt.buildAttemptId,
    state: 'awaiting_upload',
    bytes: archive.length,
    receivedBytes: 0,
  });
});

it('the address of an upload of an attempt that failed stores no bytes', async () => {
  const useless = archive.slice(0, 1000);
  const body = { buildHash: digestOf(archive), artifactDigest: digestOf(useless), bytes: useless.length };
  upload = await answerOf('builds.uploads.create', post(plane, UPLOADS, body));
  expect(await readState(put(useless))).toBe('failed');
  await plane.blobs.remove(digestOf(useless));
  for (const range of [undefined, 'bytes 0-999/1000'])
    expect(await readState(put(useless, range))).toBe('failed');
  expect(await plane.blobs.has(digestOf(useless))).toBe(false);
  const other = useless.map((byte) => byte ^ 1);
  await expectEnvelope(put(other), 'control.UPLOAD_MISMATCH');
  expect((await plane.store.builds.find(PROJECT, body.buildHash))?.archive).toBeUndefined();
});
