import { beforeEach, describe, expect, it } from 'vitest';
import { digestOf, toUtf8 } from '../../../src/bytes/index.ts';
import { operations, type BuildAttempt, type BuildUpload } from '../../../src/contract/index.ts';
import { sweepAttempts } from '../../../src/server/builds/drive-attempt.ts';
import { createServer, type Store } from '../../../src/server/index.ts';
import { answerOf, HOUR_MS, post, UPLOADS, type Sender } from '../change.ts';
import { expectCommonHeaders, expectEnvelope } from '../envelope.ts';
import {
  ask,
  buildArchive,
  ENVIRONMENT,
  id,
  NOW_MS,
  ORG,
  OTHER_ORG,
  PROJECT,
  SOURCE,
  stream,
  token,
  worlds,
} from '../make.ts';
import { eachTest, withMembers } from '../each-test.ts';

type Archive = { readonly bytes: Uint8Array; readonly buildHash: string };

const plane = eachTest(worlds);
let build: Archive;
beforeEach(async () => {
  build = await buildArchive();
});

const announced = ({ bytes, buildHash }: Archive, over: Record<string, unknown> = {}) => ({
  buildHash,
  artifactDigest: digestOf(bytes),
  bytes: bytes.length,
  ...over,
});
const create = async (body: unknown = announced(build), from = plane): Promise<BuildUpload> =>
  answerOf('builds.uploads.create', post(from, UPLOADS, body));

type Put = { body?: BodyInit; headers?: Record<string, string>; token?: string; server?: Sender['server'] };
const put = (address: string, { server = plane.server, ...options }: Put = {}): Promise<Response> =>
  ask({ server }, address, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip' },
    body: build.bytes as BodyInit,
    ...options,
  });
const attemptOf = async (response: Response): Promise<BuildAttempt> => {
  expectCommonHeaders(response);
  expect(response.status).toBe(200);
  return operations['builds.uploads.put'].success.schema.parse(await response.json());
};
const read = async ({ buildAttemptId }: BuildAttempt): Promise<BuildAttempt> => {
  const path = `/v1/projects/${PROJECT}/build-attempts/${buildAttemptId}`;
  return operations['builds.attempts.read'].success.schema.parse(
    await (await ask(plane, path, plane)).json(),
  );
};
const upload = async (archive: Archive, over: Record<string, unknown> = {}): Promise<BuildAttempt> => {
  const { uploadUrl } = await create(announced(archive, over));
  return attemptOf(await put(uploadUrl, { body: archive.bytes as BodyInit }));
};
const codes = ({ diagnostics }: BuildAttempt): (string | undefined)[] => diagnostics.map(({ code }) => code);

/** A body that arrives in pieces, its length unsaid. */
function streamed(pieces: AsyncIterator<Uint8Array>): BodyInit {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}
const chunked = (...chunks: Uint8Array[]): BodyInit => streamed(stream(...chunks));

/** The store of the test, telling of every state that an attempt is given; it may fail at one. */
function watched(failAt?: string): { store: Store; states: string[] } {
  const states: string[] = [];
  const store = withMembers(plane.store, ({ buildAttempts }) => ({
    buildAttempts: {
      ...buildAttempts,
      update: (row) => {
        if (row.resource.state === failAt) return Promise.reject(new Error('the power went'));
        states.push(row.resource.state);
        return buildAttempts.update(row);
      },
    },
  }));
  return { store, states };
}
const serverOn = (store: Store) => createServer({ store, blobs: plane.blobs, now: () => plane.clock.nowMs });

describe('beginning an upload', () => {
  it('gives an attempt that waits, and where to send the archive', async () => {
    const made = await create();
    expect(made).toEqual({
      schemaVersion: 1,
      attempt: {
        schemaVersion: 1,
        buildAttemptId: made.attempt.buildAttemptId,
        organizationId: ORG,
        projectId: PROJECT,
        sourceKind: 'upload',
        requestedBy: made.attempt.requestedBy,
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
      uploadUrl: made.uploadUrl,
      headers: { 'Content-Type': 'application/zip' },
      expiresAtMs: NOW_MS + HOUR_MS,
    });
    expect(made.uploadUrl.startsWith(`${UPLOADS}/${made.attempt.buildAttemptId}?`)).toBe(true);
    expect(await read(made.attempt)).toEqual(made.attempt);
  });

  it.each([
    [{ bytes: 0 }, 400],
    [{ bytes: 1 }, 201],
    [{ bytes: 67_108_864 }, 201],
    [{ bytes: 67_108_865 }, 400],
    [{ bytes: 1.5 }, 400],
    [{ bytes: undefined }, 400],
    [{ buildHash: 'sha256:x' }, 400],
    [{ artifactDigest: undefined }, 400],
    [{ advanceEnvironmentId: ENVIRONMENT }, 400],
    [{ expectedEnvironmentVersion: 1 }, 400],
    [{ advanceEnvironmentId: ENVIRONMENT, expectedEnvironmentVersion: 1 }, 201],
    [{ advanceEnvironmentId: ENVIRONMENT, expectedEnvironmentVersion: Number.MAX_SAFE_INTEGER }, 201],
    [{ advanceEnvironmentId: id('env', 9), expectedEnvironmentVersion: 1 }, 404],
  ])('with %j', async (over, status) => {
    expect((await post(plane, UPLOADS, announced(build, over))).status).toBe(status);
  });

  it('an upload address begins with the public address, whatever the Host header', async () => {
    const options = { store: plane.store, blobs: plane.blobs, now: () => plane.clock.nowMs };
    for (const publicUrl of ['https://control.example', () => 'https://control.example']) {
      const server = createServer({ ...options, publicUrl });
      const { uploadUrl } = await create(announced(build), { ...plane, server });
      expect(uploadUrl.startsWith(`https://control.example${UPLOADS}/`)).toBe(true);
    }
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': 'key-00000001',
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
    };
    const body = JSON.stringify(announced(build));
    const response = await ask(plane, UPLOADS, { method: 'POST', token: plane.token, headers, body });
    expect(await response.text()).not.toContain('evil');
  });

  it('a replayed upload has the same expiry and a valid address', async () => {
    const first = await create();
    const again = await post(plane, UPLOADS, announced(build), 'key-00000001');
    const replayed = await post(plane, UPLOADS, announced(build), 'key-00000001');
    const [made, same] = [
      await answerOf('builds.uploads.create', again),
      await answerOf('builds.uploads.create', replayed),
    ];
    expect(same).toEqual(made);
    expect(same.attempt.buildAttemptId).not.toBe(first.attempt.buildAttemptId);
    const scope = { organizationId: ORG, projectId: PROJECT, operation: 'builds.uploads.create' };
    const kept = await plane.store.idempotency.find({
      ...scope,
      principalId: made.attempt.requestedBy,
      idempotencyKey: 'key-00000001',
    });
    const signature = new URL(same.uploadUrl, 'http://x').searchParams.get('signature') ?? '';
    expect(kept?.response).not.toContain(signature);
    expect((await attemptOf(await put(same.uploadUrl))).state).toBe('succeeded');
  });
});

describe('sending the archive', () => {
  it('drives the attempt through its states to a build whose tools can be read', async () => {
    const { store, states } = watched();
    const { uploadUrl, attempt } = await create();
    plane.clock.nowMs += 10;
    const done = await attemptOf(await put(uploadUrl, { server: serverOn(store) }));
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
    const path = `/v1/projects/${PROJECT}/builds/${encodeURIComponent(build.buildHash)}/tools/source`;
    const source = await ask(plane, `${path}?packageId=greeter`, plane);
    expect(await source.json()).toMatchObject({ implementation: { source: SOURCE } });
  });

  it('sending the archive needs no token, and a token changes nothing', async () => {
    const { uploadUrl } = await create();
    const foreign = await token(plane, { organizationId: OTHER_ORG });
    expect((await attemptOf(await put(uploadUrl, { token: foreign }))).state).toBe('succeeded');
  });

  it('an upload accepts a chunked body without a length', async () => {
    const { uploadUrl } = await create();
    const pieces = Array.from(build.bytes, (byte) => Uint8Array.of(byte));
    expect((await attemptOf(await put(uploadUrl, { body: chunked(...pieces) }))).state).toBe('succeeded');
  });

  it('a repeated upload answers with the current attempt, and 10 simultaneous ones make one build', async () => {
    const { uploadUrl } = await create();
    const all = await Promise.all(Array.from({ length: 10 }, () => put(uploadUrl)));
    const ends = await Promise.all(all.map(attemptOf));
    expect(new Set(ends.map(({ state }) => state))).toEqual(new Set(['succeeded']));
    plane.clock.nowMs += 1;
    expect(await attemptOf(await put(uploadUrl))).toEqual(ends[0]);
  });

  it.each([
    ['the first byte flipped', (bytes: Uint8Array) => flip(bytes, 0)],
    ['a byte in the middle flipped', (bytes: Uint8Array) => flip(bytes, bytes.length >> 1)],
    ['the last byte flipped', (bytes: Uint8Array) => flip(bytes, bytes.length - 1)],
    ['a byte less', (bytes: Uint8Array) => bytes.slice(0, -1)],
    ['a byte more', (bytes: Uint8Array) => Uint8Array.from([...bytes, 0])],
    ['nothing', () => new Uint8Array()],
  ])('is refused with %s, announced or in chunks; then the right bytes are taken', async (_what, spoil) => {
    const { uploadUrl, attempt } = await create();
    const spoilt = spoil(build.bytes);
    for (const body of [spoilt as BodyInit, chunked(spoilt)]) {
      const response = await put(uploadUrl, { body });
      expect(response.headers.get('connection')).toBe('close');
      await expectEnvelope(response, 'control.UPLOAD_MISMATCH');
      expect(await plane.blobs.has(digestOf(spoilt))).toBe(false);
    }
    expect((await read(attempt)).state).toBe('awaiting_upload');
    expect((await attemptOf(await put(uploadUrl))).state).toBe('succeeded');
  });

  it('an upload that is too long is refused by its length, or at the first extra byte of a chunked body', async () => {
    const { uploadUrl } = await create();
    let sent = 0;
    const endless = (): BodyInit =>
      new ReadableStream(
        {
          pull(controller) {
            sent += 4096;
            controller.enqueue(new Uint8Array(4096));
          },
        },
        { highWaterMark: 0 },
      ) as BodyInit;
    const headers = { 'content-type': 'application/zip', 'content-length': '1000000000' };
    await expectEnvelope(put(uploadUrl, { body: endless(), headers }), 'control.UPLOAD_MISMATCH');
    expect(sent).toBe(0);
    await expectEnvelope(put(uploadUrl, { body: endless() }), 'control.UPLOAD_MISMATCH');
    expect(sent).toBeLessThanOrEqual(build.bytes.length + 3 * 4096);
  });

  it.each([
    { 'content-type': 'application/json' },
    { 'content-type': 'application/zip', 'content-encoding': 'gzip' },
    {},
  ])('is refused with the headers %j', async (headers) => {
    const { uploadUrl } = await create();
    const body = chunked(build.bytes);
    await expectEnvelope(put(uploadUrl, { headers, body }), 'control.UNSUPPORTED_MEDIA_TYPE');
  });
});

const flip = (bytes: Uint8Array, at: number): Uint8Array =>
  Uint8Array.from(bytes, (byte, i) => (i === at ? byte ^ 1 : byte));

it('removed bytes leave no build, and the archive can be sent again', async () => {
  const { uploadUrl, attempt } = await create();
  const store = withMembers(plane.store, ({ buildAttempts }) => ({
    buildAttempts: {
      ...buildAttempts,
      update: async (row) => {
        await buildAttempts.update(row);
        if (row.resource.state === 'verifying') await plane.blobs.remove(digestOf(build.bytes));
      },
    },
  }));
  await expectEnvelope(put(uploadUrl, { server: serverOn(store) }), 'control.UNAVAILABLE');
  expect(await plane.store.builds.find(PROJECT, build.buildHash)).toBeUndefined();
  expect((await read(attempt)).state).toBe('verifying');
  expect((await attemptOf(await put(uploadUrl))).state).toBe('succeeded');
});

describe('an upload address', () => {
  it('a changed upload address answers 404 without revealing what exists', async () => {
    const { uploadUrl, attempt } = await create();
    const other = await create();
    const change = (name: string, value: string): string => {
      const url = new URL(uploadUrl, 'http://x');
      url.searchParams.set(name, value);
      return url.pathname + url.search;
    };
    const signature = new URL(uploadUrl, 'http://x').searchParams.get('signature') ?? '';
    const answers = [];
    for (const address of [
      change('artifactDigest', `sha256:${'0'.repeat(64)}`),
      change('bytes', '1'),
      change('expiresAtMs', String(NOW_MS + 2 * HOUR_MS)),
      change('signature', 'A'.repeat(43)),
      change(
        'signature',
        signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
      ),
      uploadUrl.replace(attempt.buildAttemptId, other.attempt.buildAttemptId),
      uploadUrl.replace(attempt.buildAttemptId, id('attempt', 9)),
      uploadUrl.replace(PROJECT, id('prj', 2)),
    ]) {
      const { correlationId: _correlationId, ...envelope } = await expectEnvelope(
        put(address),
        'control.NOT_FOUND',
      );
      answers.push(JSON.stringify(envelope));
    }
    expect(new Set(answers).size).toBe(1);
    expect((await read(attempt)).state).toBe('awaiting_upload');
  });

  it('an upload address expires at its millisecond, and the attempt then reads as failed', async () => {
    const [first, second, third] = [await create(), await create(), await create()];
    plane.clock.nowMs = NOW_MS + HOUR_MS - 1;
    expect((await attemptOf(await put(first.uploadUrl))).state).toBe('succeeded');
    plane.clock.nowMs += 1;
    await expectEnvelope(put(first.uploadUrl), 'control.UPLOAD_EXPIRED');
    expect((await read(first.attempt)).state).toBe('succeeded');
    await expectEnvelope(put(second.uploadUrl), 'control.UPLOAD_EXPIRED');
    for (const { attempt } of [second, third]) {
      const failed = await read(attempt);
      expect([failed.state, codes(failed), failed.finishedAtMs]).toEqual([
        'failed',
        ['control.UPLOAD_EXPIRED'],
        NOW_MS + HOUR_MS,
      ]);
    }
  });

  it('an upload address that expires during the upload stores nothing', async () => {
    const { uploadUrl, attempt } = await create();
    const late = async function* () {
      yield build.bytes.slice(0, 10);
      plane.clock.nowMs = NOW_MS + HOUR_MS;
      yield build.bytes.slice(10);
    };
    const body = streamed(late());
    await expectEnvelope(put(uploadUrl, { body }), 'control.UPLOAD_EXPIRED');
    expect(codes(await read(attempt))).toEqual(['control.UPLOAD_EXPIRED']);
    expect(await plane.store.builds.find(PROJECT, build.buildHash)).toBeUndefined();
  });
});

describe('an archive that is not a build', () => {
  const notZip: Archive = { bytes: toUtf8('this is no archive'), buildHash: digestOf(toUtf8('x')) };
  const other = `sha256:${'cd'.repeat(32)}`;

  it.each<[string, () => Promise<Archive>, string]>([
    ['is no ZIP', async () => notZip, 'build.ARCHIVE_INVALID'],
    [
      'is of another build',
      async () => ({ ...(await buildArchive()), buildHash: other }),
      'build.HASH_MISMATCH',
    ],
    ['lacks a file', () => buildArchive(SOURCE, { drop: 'greeter/index.js' }), 'build.PACKAGE_INVALID'],
  ])('because it %s fails its attempt', async (_what, make, code) => {
    const archive = await make();
    const over = { advanceEnvironmentId: ENVIRONMENT, expectedEnvironmentVersion: 1 };
    const failed = await upload(archive, over);
    expect([failed.state, codes(failed), failed.buildHash]).toEqual(['failed', [code], undefined]);
    expect(failed.finishedAtMs).toBe(NOW_MS);
    expect(await plane.store.builds.find(PROJECT, archive.buildHash)).toBeUndefined();
    expect((await plane.store.environments.find(PROJECT, ENVIRONMENT))?.version).toBe(1);
    expect(await plane.store.blobs.removals('', 10)).toEqual([digestOf(archive.bytes)]);
  });
});

const environment = async () => (await plane.store.environments.find(PROJECT, ENVIRONMENT))!;

describe('an environment that is named', () => {
  const over = { advanceEnvironmentId: ENVIRONMENT, expectedEnvironmentVersion: 1 };

  it('the named environment gets the build and the next version', async () => {
    plane.clock.nowMs += 3;
    expect((await upload(build, over)).state).toBe('succeeded');
    expect(await environment()).toMatchObject({
      buildHash: build.buildHash,
      version: 2,
      updatedAtMs: NOW_MS + 3,
    });
  });

  it('an environment whose version has changed keeps its build, and the attempt fails', async () => {
    const { uploadUrl } = await create(announced(build, over));
    await plane.store.transaction(async (tx) => {
      const row = (await tx.environments.lock(PROJECT, ENVIRONMENT))!;
      await tx.environments.update({ ...row, version: 2 });
    });
    const before = await environment();
    const failed = await attemptOf(await put(uploadUrl));
    expect([failed.state, codes(failed)]).toEqual(['failed', ['build.ENVIRONMENT_VERSION_MISMATCH']]);
    expect(await environment()).toEqual(before);
    expect(await plane.store.builds.find(PROJECT, build.buildHash)).toBeUndefined();
  });

  it('one of 10 uploads that expect the same version advances the environment', async () => {
    const addresses = await Promise.all(Array.from({ length: 10 }, () => create(announced(build, over))));
    const ends = await Promise.all(addresses.map(async ({ uploadUrl }) => attemptOf(await put(uploadUrl))));
    expect(ends.filter(({ state }) => state === 'succeeded')).toHaveLength(1);
    expect(ends.flatMap(codes)).toEqual(
      Array.from({ length: 9 }, () => 'build.ENVIRONMENT_VERSION_MISMATCH'),
    );
    expect((await environment()).version).toBe(2);
  });

  it('the environment does not advance when the end of the attempt cannot be written', async () => {
    const { uploadUrl, attempt } = await create(announced(build, over));
    const { store } = watched('succeeded');
    await expectEnvelope(put(uploadUrl, { server: serverOn(store) }), 'control.INTERNAL');
    expect((await environment()).version).toBe(1);
    expect(await plane.store.builds.find(PROJECT, build.buildHash)).toBeUndefined();
    expect((await read(attempt)).state).toBe('verifying');
    expect((await attemptOf(await put(uploadUrl))).state).toBe('succeeded');
    expect((await environment()).version).toBe(2);
  });
});

const sweep = (): Promise<number> =>
  sweepAttempts(
    { store: plane.store, blobs: plane.blobs, now: () => plane.clock.nowMs },
    { stalledMs: 1000 },
  );

it.each(['queued', 'fetching', 'compiling', 'verifying', 'succeeded'])(
  'the sweep resumes an attempt whose server died before it was %s',
  async (state) => {
    const { uploadUrl, attempt } = await create();
    await put(uploadUrl, { server: serverOn(watched(state).store) });
    plane.clock.nowMs += 1000;
    expect(await sweep()).toBe(0);
    plane.clock.nowMs += 1;
    expect(await sweep()).toBe(state === 'queued' ? 0 : 1);
    expect((await read(attempt)).state).toBe(state === 'queued' ? 'awaiting_upload' : 'succeeded');
  },
);

it('sweeping attempts fails an attempt whose address has ended', async () => {
  const { attempt } = await create();
  plane.clock.nowMs += HOUR_MS - 1;
  expect(await sweep()).toBe(0);
  plane.clock.nowMs += 1;
  expect(await sweep()).toBe(1);
  const row = await plane.store.buildAttempts.find(PROJECT, attempt.buildAttemptId);
  expect(row?.resource.state).toBe('failed');
});

it('sweeping attempts fails an attempt whose archive is lost', async () => {
  const { uploadUrl, attempt } = await create();
  await put(uploadUrl, { server: serverOn(watched('fetching').store) });
  await plane.blobs.remove(digestOf(build.bytes));
  plane.clock.nowMs += 1001;
  expect(await sweep()).toBe(1);
  expect(codes(await read(attempt))).toEqual(['control.STORED_BYTES_CORRUPT']);
});
