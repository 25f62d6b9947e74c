import { beforeEach, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import type { BuildAttempt, BuildUpload } from '../../../src/contract/resources/build.ts';
import { sweepAttempts } from '../../../src/server/builds/drive-attempt.ts';
import type { BuildAttemptRow, Tx } from '../../../src/server/store/store.ts';
import { flipBit } from '../../support/evidence.ts';
import { answerOf, HOUR_MS, inProject, post, UPLOADS, type Sender } from '../change.ts';
import { expectCommonHeaders, expectEnvelope } from '../envelope.ts';
import {
  ask,
  bodyFrom,
  buildArchive,
  ENVIRONMENT,
  id,
  NOW_MS,
  ORG,
  OTHER_ORG,
  PROJECT,
  serverOn,
  SOURCE,
  token,
  importWorlds,
} from '../make.ts';
import { eachTest, withMembers } from '../each-test.ts';

type Archive = { readonly bytes: Uint8Array; readonly buildHash: string };

const plane = eachTest(importWorlds);
let build: Archive;
beforeEach(async () => {
  build = await buildArchive();
});

const announce = ({ bytes, buildHash }: Archive, over: Record<string, unknown> = {}) => ({
  buildHash,
  artifactDigest: digestOf(bytes),
  bytes: bytes.length,
  ...over,
});
const create = async (body: unknown = announce(build), from = plane): Promise<BuildUpload> =>
  answerOf('builds.uploads.create', post(from, UPLOADS, body));

type Put = { body?: BodyInit; headers?: Record<string, string>; token?: string; server?: Sender['server'] };
const put = (address: string, { server = plane.server, ...options }: Put = {}): Promise<Response> =>
  ask({ server }, address, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip' },
    body: build.bytes as BodyInit,
    ...options,
  });
const readAttempt = async (answer: Promise<Response>): Promise<BuildAttempt> => {
  const response = await answer;
  expectCommonHeaders(response);
  expect(response.status).toBe(200);
  return answerOf('builds.uploads.put', response);
};
const read = ({ buildAttemptId }: BuildAttempt): Promise<BuildAttempt> =>
  answerOf('builds.attempts.read', ask(plane, inProject(`build-attempts/${buildAttemptId}`), plane));
const findBuild = ({ buildHash }: Archive) => plane.store.builds.find(PROJECT, buildHash);
const listCodes = ({ diagnostics }: BuildAttempt): (string | undefined)[] =>
  diagnostics.map(({ code }) => code);

type Attempts = Tx['buildAttempts'];
/** A server on a store that updates attempts in this way. */
const createServerUpdating = (update: (row: BuildAttemptRow, attempts: Attempts) => Promise<void>) =>
  serverOn(plane, {
    store: withMembers(plane.store, ({ buildAttempts }) => ({
      buildAttempts: { ...buildAttempts, update: (row) => update(row, buildAttempts) },
    })),
  });
/** A server that fails when it stores an attempt in a state. */
const createFailingServer = (state: string) =>
  createServerUpdating((row, attempts) => {
    if (row.resource.state === state) throw new Error('the power failed');
    return attempts.update(row);
  });

it('a new upload has a waiting attempt and an address for its archive', async () => {
  const created = await create();
  expect(created).toEqual({
    schemaVersion: 1,
    attempt: {
      schemaVersion: 1,
      buildAttemptId: created.attempt.buildAttemptId,
      organizationId: ORG,
      projectId: PROJECT,
      sourceKind: 'upload',
      requestedBy: created.attempt.requestedBy,
      state: 'awaiting_upload',
      diagnostics: [],
      sourceClosure: [],
      createdAtMs: NOW_MS,
      updatedAtMs: NOW_MS,
      expectedBuildHash: build.buildHash,
      expectedArtifactDigest: digestOf(build.bytes),
      expectedBytes: build.bytes.length,
    },
    method: 'PUT',
    uploadUrl: created.uploadUrl,
    headers: { 'Content-Type': 'application/zip' },
    expiresAtMs: NOW_MS + HOUR_MS,
  });
  expect(created.uploadUrl.startsWith(`${UPLOADS}/${created.attempt.buildAttemptId}?`)).toBe(true);
  expect(await read(created.attempt)).toEqual(created.attempt);
});

it.each([
  [{ bytes: 1 }, 201],
  [{ bytes: 67_108_864 }, 201],
  [{ advanceEnvironmentId: ENVIRONMENT, expectedEnvironmentVersion: 1 }, 201],
  [{ advanceEnvironmentId: ENVIRONMENT, expectedEnvironmentVersion: Number.MAX_SAFE_INTEGER }, 201],
  [{ advanceEnvironmentId: id('env', 9), expectedEnvironmentVersion: 1 }, 404],
])('an upload that announces %j is answered with %i', async (over, status) => {
  expect((await post(plane, UPLOADS, announce(build, over))).status).toBe(status);
});

it('an upload address begins with the public address, whatever the Host header', async () => {
  for (const publicUrl of ['https://control.example', () => 'https://control.example']) {
    const server = serverOn(plane, { publicUrl });
    const { uploadUrl } = await create(announce(build), { ...plane, server });
    expect(uploadUrl.startsWith(`https://control.example${UPLOADS}/`)).toBe(true);
  }
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': 'key-00000001',
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    forwarded: 'host=evil.example',
  };
  const body = JSON.stringify(announce(build));
  const response = await ask(plane, UPLOADS, { method: 'POST', token: plane.token, headers, body });
  expect(await response.text()).not.toContain('evil');
});

it('a replayed upload has the same expiry and a valid address', async () => {
  const other = await create();
  const send = () => answerOf('builds.uploads.create', post(plane, UPLOADS, announce(build), 'key-00000001'));
  const [first, replayed] = [await send(), await send()];
  expect(replayed).toEqual(first);
  expect(replayed.attempt.buildAttemptId).not.toBe(other.attempt.buildAttemptId);
  const key = [ORG, PROJECT, 'builds.uploads.create', 'key-00000001'] as const;
  const record = await plane.store.idempotency.find(...key);
  const signature = new URL(first.uploadUrl, 'http://x').searchParams.get('signature') ?? '';
  expect(record?.response).not.toContain(signature);
  expect((await readAttempt(put(replayed.uploadUrl))).state).toBe('succeeded');
});

it('an upload drives its attempt through its states to a build whose tools can be read', async () => {
  const states: string[] = [];
  const server = createServerUpdating((row, attempts) => {
    states.push(row.resource.state);
    return attempts.update(row);
  });
  const { uploadUrl, attempt } = await create();
  plane.clock.nowMs += 10;
  const done = await readAttempt(put(uploadUrl, { server }));
  expect(states).toEqual(['queued', 'fetching', 'compiling', 'verifying', 'succeeded']);
  expect(done).toEqual({
    ...attempt,
    state: 'succeeded',
    updatedAtMs: NOW_MS + 10,
    finishedAtMs: NOW_MS + 10,
    buildHash: build.buildHash,
    sourceClosure: ['greeter/index.js', 'greeter/package.json', 'greeter/ui.html'],
    sourceDigest: digestOf(build.bytes),
  });
  expect(await read(attempt)).toEqual(done);
  const path = inProject(`builds/${encodeURIComponent(build.buildHash)}/tools/source?packageId=greeter`);
  expect(await (await ask(plane, path, plane)).json()).toMatchObject({
    implementation: { source: SOURCE },
  });
});

it('sending the archive needs no token, and a token changes nothing', async () => {
  const { uploadUrl } = await create();
  const foreign = await token(plane, { organizationId: OTHER_ORG });
  expect((await readAttempt(put(uploadUrl, { token: foreign }))).state).toBe('succeeded');
});

it('a repeated upload answers with the current attempt, and 10 simultaneous ones make one build', async () => {
  const { uploadUrl } = await create();
  const ends = await Promise.all(Array.from({ length: 10 }, () => readAttempt(put(uploadUrl))));
  expect(new Set(ends.map(({ state }) => state))).toEqual(new Set(['succeeded']));
  plane.clock.nowMs += 1;
  expect(await readAttempt(put(uploadUrl))).toEqual(ends[0]);
});

it.each([
  ['the first byte flipped', (bytes: Uint8Array) => flipBit(bytes, 0)],
  ['a byte in the middle flipped', (bytes: Uint8Array) => flipBit(bytes, bytes.length >> 1)],
  ['the last byte flipped', (bytes: Uint8Array) => flipBit(bytes, bytes.length - 1)],
  ['a byte less', (bytes: Uint8Array) => bytes.slice(0, -1)],
  ['a byte more', (bytes: Uint8Array) => Uint8Array.from([...bytes, 0])],
  ['nothing', () => new Uint8Array()],
])(
  'an upload with %s is refused with or without a Content-Length; then the right bytes are stored in chunks',
  async (_, spoil) => {
    const { uploadUrl, attempt } = await create();
    const wrong = spoil(build.bytes);
    for (const body of [wrong as BodyInit, bodyFrom([wrong])]) {
      const response = await put(uploadUrl, { body });
      expect(response.headers.get('connection')).toBe('close');
      await expectEnvelope(response, 'control.UPLOAD_MISMATCH');
      expect(await plane.blobs.has(digestOf(wrong))).toBe(false);
    }
    expect((await read(attempt)).state).toBe('awaiting_upload');
    const body = bodyFrom(Array.from(build.bytes, (byte) => Uint8Array.of(byte)));
    expect((await readAttempt(put(uploadUrl, { body }))).state).toBe('succeeded');
  },
);

it('an upload that is too long is refused by its length, or at the first extra byte of a chunked body', async () => {
  const { uploadUrl } = await create();
  let sent = 0;
  function* endless() {
    for (sent = 4096; ; sent += 4096) yield new Uint8Array(4096);
  }
  const body = (): BodyInit => bodyFrom(endless());
  const headers = { 'content-type': 'application/zip', 'content-length': '1000000000' };
  await expectEnvelope(put(uploadUrl, { body: body(), headers }), 'control.UPLOAD_MISMATCH');

  expect(sent).toBe(0);
  await expectEnvelope(put(uploadUrl, { body: body() }), 'control.UPLOAD_MISMATCH');
  expect(sent).toBeLessThanOrEqual(build.bytes.length + 3 * 4096);
});

it.each([
  { 'content-type': 'application/json' },
  { 'content-type': 'application/zip', 'content-encoding': 'gzip' },
  {},
])('an upload with the headers %j is refused', async (headers) => {
  const { uploadUrl } = await create();
  const body = bodyFrom([build.bytes]);
  await expectEnvelope(put(uploadUrl, { headers, body }), 'control.UNSUPPORTED_MEDIA_TYPE');
});

it('removed bytes leave no build, and the archive can be sent again', async () => {
  const { uploadUrl, attempt } = await create();
  const server = createServerUpdating(async (row, attempts) => {
    await attempts.update(row);
    if (row.resource.state === 'verifying') await plane.blobs.remove(digestOf(build.bytes));
  });
  await expectEnvelope(put(uploadUrl, { server }), 'control.UNAVAILABLE');
  expect(await findBuild(build)).toBeUndefined();
  expect((await read(attempt)).state).toBe('verifying');
  expect((await readAttempt(put(uploadUrl))).state).toBe('succeeded');
});

it('a changed upload address answers 404 without revealing what exists', async () => {
  const { uploadUrl, attempt } = await create();
  const other = await create();
  const change = (name: string, value: string): string => {
    const url = new URL(uploadUrl, 'http://x');
    url.searchParams.set(name, value);
    return url.pathname + url.search;
  };
  const signature = new URL(uploadUrl, 'http://x').searchParams.get('signature') ?? '';
  const flipped = signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  const answers = [];
  for (const address of [
    change('artifactDigest', `sha256:${'0'.repeat(64)}`),
    change('bytes', '1'),
    change('expiresAtMs', String(NOW_MS + 2 * HOUR_MS)),
    change('signature', 'A'.repeat(43)),
    change('signature', flipped),
    uploadUrl.replace(attempt.buildAttemptId, other.attempt.buildAttemptId),
    uploadUrl.replace(attempt.buildAttemptId, id('attempt', 9)),
    uploadUrl.replace(PROJECT, id('prj', 2)),
  ]) {
    const envelope = await expectEnvelope(put(address), 'control.NOT_FOUND');
    answers.push(JSON.stringify({ ...envelope, correlationId: '' }));
  }
  expect(new Set(answers).size).toBe(1);
  expect((await read(attempt)).state).toBe('awaiting_upload');
});

it('an upload address expires at its millisecond, and the attempt then reads as failed', async () => {
  const [first, second, third] = [await create(), await create(), await create()];
  plane.clock.nowMs = NOW_MS + HOUR_MS - 1;
  expect((await readAttempt(put(first.uploadUrl))).state).toBe('succeeded');
  plane.clock.nowMs += 1;
  await expectEnvelope(put(first.uploadUrl), 'control.UPLOAD_EXPIRED');
  expect((await read(first.attempt)).state).toBe('succeeded');
  await expectEnvelope(put(second.uploadUrl), 'control.UPLOAD_EXPIRED');
  for (const { attempt } of [second, third]) {
    const failed = await read(attempt);
    expect([failed.state, failed.finishedAtMs]).toEqual(['failed', NOW_MS + HOUR_MS]);
    expect(listCodes(failed)).toEqual(['control.UPLOAD_EXPIRED']);
  }
});

it('an upload address that expires during the upload stores nothing', async () => {
  const { uploadUrl, attempt } = await create();
  async function* late() {
    yield build.bytes.slice(0, 10);
    plane.clock.nowMs = NOW_MS + HOUR_MS;
    yield build.bytes.slice(10);
  }
  await expectEnvelope(put(uploadUrl, { body: bodyFrom(late()) }), 'control.UPLOAD_EXPIRED');
  expect(listCodes(await read(attempt))).toEqual(['control.UPLOAD_EXPIRED']);
  expect(await findBuild(build)).toBeUndefined();
});

const readEnvironment = async () => (await plane.store.environments.find(PROJECT, ENVIRONMENT))!;
const ADVANCE = { advanceEnvironmentId: ENVIRONMENT, expectedEnvironmentVersion: 1 };

const other = `sha256:${'cd'.repeat(32)}`;
const notZip = { bytes: toUtf8('this is not an archive'), buildHash: digestOf(toUtf8('x')) };

it.each<[string, () => Archive | Promise<Archive>, string]>([
  ['is not a ZIP', () => notZip, 'build.ARCHIVE_INVALID'],
  ['is of another build', () => ({ ...build, buildHash: other }), 'build.HASH_MISMATCH'],
  ['lacks a file', () => buildArchive(SOURCE, { drop: 'greeter/index.js' }), 'build.PACKAGE_INVALID'],
])('an archive that %s fails its attempt', async (_, make, code) => {
  const archive = await make();
  const { uploadUrl } = await create(announce(archive, ADVANCE));
  const failed = await readAttempt(put(uploadUrl, { body: archive.bytes as BodyInit }));
  expect([failed.state, listCodes(failed), failed.buildHash]).toEqual(['failed', [code], undefined]);
  expect(failed.finishedAtMs).toBe(NOW_MS);
  expect(await findBuild(archive)).toBeUndefined();
  expect((await readEnvironment()).version).toBe(1);
  expect(await plane.store.blobs.removals('', 10)).toEqual([digestOf(archive.bytes)]);
});

it('an environment whose version has changed keeps its build, and the attempt fails', async () => {
  const { uploadUrl } = await create(announce(build, ADVANCE));
  await plane.store.transaction(async (tx) => {
    const row = (await tx.environments.lock(PROJECT, ENVIRONMENT))!;
    await tx.environments.update({ ...row, version: 2 });
  });
  const before = await readEnvironment();
  const failed = await readAttempt(put(uploadUrl));
  expect([failed.state, listCodes(failed)]).toEqual(['failed', ['build.ENVIRONMENT_VERSION_MISMATCH']]);
  expect(await readEnvironment()).toEqual(before);
  expect(await findBuild(build)).toBeUndefined();
});

it('one of 10 uploads that expect the same version advances the environment', async () => {
  const uploads = await Promise.all(Array.from({ length: 10 }, () => create(announce(build, ADVANCE))));
  const ends = await Promise.all(uploads.map(({ uploadUrl }) => readAttempt(put(uploadUrl))));
  expect(ends.filter(({ state }) => state === 'succeeded')).toHaveLength(1);
  expect(ends.flatMap(listCodes)).toEqual(
    Array.from({ length: 9 }, () => 'build.ENVIRONMENT_VERSION_MISMATCH'),
  );
  expect((await readEnvironment()).version).toBe(2);
});

it('the named environment gets the build and the next version only with the end of the attempt', async () => {
  const { uploadUrl, attempt } = await create(announce(build, ADVANCE));
  await expectEnvelope(put(uploadUrl, { server: createFailingServer('succeeded') }), 'control.INTERNAL');
  expect((await readEnvironment()).version).toBe(1);
  expect(await findBuild(build)).toBeUndefined();
  expect((await read(attempt)).state).toBe('verifying');
  plane.clock.nowMs += 3;
  expect((await readAttempt(put(uploadUrl))).state).toBe('succeeded');
  const advanced = { buildHash: build.buildHash, version: 2, updatedAtMs: NOW_MS + 3 };
  expect(await readEnvironment()).toMatchObject(advanced);
});

const sweep = (): Promise<number> =>
  sweepAttempts({ ...plane, now: () => plane.clock.nowMs }, { stalledMs: 1000 });

it.each(['queued', 'fetching', 'compiling', 'verifying', 'succeeded'])(
  'the sweep resumes an attempt whose server died before it was %s',
  async (state) => {
    const { uploadUrl, attempt } = await create();
    await put(uploadUrl, { server: createFailingServer(state) });
    plane.clock.nowMs += 1000;
    expect(await sweep()).toBe(0);
    plane.clock.nowMs += 1;
    expect(await sweep()).toBe(state === 'queued' ? 0 : 1);
    expect((await read(attempt)).state).toBe(state === 'queued' ? 'awaiting_upload' : 'succeeded');
  },
);

it('sweeping attempts fails an attempt whose archive is lost', async () => {
  const { uploadUrl, attempt } = await create();
  await put(uploadUrl, { server: createFailingServer('fetching') });
  await plane.blobs.remove(digestOf(build.bytes));
  plane.clock.nowMs += 1001;
  expect(await sweep()).toBe(1);
  expect(listCodes(await read(attempt))).toEqual(['control.STORED_BYTES_CORRUPT']);
});
