import { expect, it } from 'vitest';
import { post, RERUNS, TURNS, UPLOADS } from '../change.ts';
import { HASH, importWorlds, id, ORG, OTHER_ORG, type Plane, serverOn, token } from '../make.ts';
import { eachTestOnStore, storeBuild } from '../each-test.ts';
import { expectRefused } from '../thrown.ts';

const plane = await eachTestOnStore(importWorlds, storeBuild);
type Limits = Omit<Parameters<Plane['admin']['setEntitlement']>[0], 'organizationId'>;
const limit = (limits: Limits, organizationId = ORG) =>
  plane.admin.setEntitlement({ organizationId, ...limits });
const announce = (n: number, bytes = 100) => ({
  buildHash: HASH,
  artifactDigest: `sha256:${String(n).padStart(64, '0')}`,
  bytes,
});
const upload = (n: number, bytes?: number, key?: string) =>
  post(plane, UPLOADS, announce(n, bytes), key ?? `key-of-upload-${n}`);
const rerun = (key?: string) => post(plane, RERUNS, {}, key);
const answerOf = async (answer: Promise<Response>) => {
  const { status, headers } = await answer;
  const { code, details } = (await (await answer).json()) as { code?: string; details?: object };
  return { status, code, details, retryAfter: headers.get('retry-after') };
};
const busy = (most: number) => ({
  status: 429,
  code: 'control.RATE_LIMITED',
  details: { limit: most },
  retryAfter: '5',
});

it('operations up to the quota wait; the next gets 429 until one has ended', async () => {
  await limit({ maxOperations: 2 });
  const first = await rerun('key-of-first-run');
  const { operation } = (await first.json()) as { operation: { operationId: string } };
  expect([first.status, (await rerun()).status]).toEqual([202, 202]);
  expect(await answerOf(rerun())).toEqual(busy(2));
  expect(await answerOf(post(plane, TURNS, { prompt: 'go' }))).toEqual(busy(2));
  expect((await rerun('key-of-first-run')).status, 'a replay').toBe(200);
  await plane.admin.cancelOperation({ organizationId: ORG, operationId: operation.operationId });
  expect((await post(plane, TURNS, { prompt: 'go' })).status).toBe(202);
});

it('uploads up to the quota begin; the next gets 429 until an address has expired', async () => {
  await limit({ maxUploads: 1 });
  expect((await upload(1)).status).toBe(201);
  expect(await answerOf(upload(2))).toEqual(busy(1));
  expect((await upload(1)).status, 'a replay').toBe(200);
  plane.clock.nowMs += 60 * 60 * 1000 - 1;
  expect((await upload(3)).status).toBe(429);
  plane.clock.nowMs += 1;
  expect((await upload(3)).status).toBe(201);
});

it('an upload counts with its bytes from its announcement, and is refused with 403 beyond the quota', async () => {
  await limit({ maxStoredBytes: 201 }); // of which the build has one byte
  expect((await upload(1)).status).toBe(201);
  expect(await answerOf(upload(2, 101))).toMatchObject({
    status: 403,
    code: 'control.ENTITLEMENT_EXCEEDED',
    details: { storedBytes: 101, maxStoredBytes: 201 },
    retryAfter: null,
  });
  expect((await rerun()).status, 'a byte is free').toBe(202);
  expect((await upload(2, 100)).status, 'the boundary').toBe(201);
  expect((await rerun()).status, 'no byte is free').toBe(403);
  await limit({ maxStoredBytes: 202 });
  expect((await rerun()).status).toBe(202);
});

it('of requests at once on two servers, no more than the quota are accepted', async () => {
  await limit({ maxUploads: 3 });
  const other = { ...serverOn(plane), token: plane.token };
  const sent = Array.from({ length: 12 }, (_, n) =>
    n % 2 === 0 ? upload(n) : post({ server: other, token: plane.token }, UPLOADS, announce(n)),
  );
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(3);
  expect(statuses.filter((status) => status === 429)).toHaveLength(9);
});

it('a quota of one organization limits no other', async () => {
  await limit({ maxUploads: 0, maxStoredBytes: 0, maxOperations: 0 }, OTHER_ORG);
  expect([(await upload(1)).status, (await rerun()).status]).toEqual([201, 202]);
  const foreign = await token(plane, { organizationId: OTHER_ORG });
  const path = UPLOADS.replace(id('prj', 1), id('prj', 3));
  expect((await post({ server: plane.server, token: foreign }, path, announce(1))).status).toBe(429);
});

it('setEntitlement changes only the limits that are given, shows the use, and removes a limit', async () => {
  await upload(1);
  const usage = { storedBytes: 101, operations: 0, uploads: 1 };
  expect(await limit({ maxUploads: 1, maxSessionTtlMs: 5 })).toMatchObject({ maxSessionTtlMs: 5, usage });
  expect(await limit({ maxOperations: 2 })).toMatchObject({ maxUploads: 1, maxOperations: 2 });
  expect(await limit({ maxUploads: 'none' })).not.toHaveProperty('maxUploads');
  expect(await plane.store.organizations.find(ORG)).toMatchObject({ maxOperations: 2, maxSessionTtlMs: 5 });
});

it.each([
  { maxUploads: -1 },
  { maxStoredBytes: 0.5 },
  { maxSessionTtlMs: 0 },
  { maxSessionTtlMs: 604_800_001 },
])('setEntitlement refuses %j and changes nothing', async (limits) => {
  await expectRefused(limit(limits));
  expect(await plane.store.organizations.find(ORG)).not.toHaveProperty(Object.keys(limits)[0]!);
});
