import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/bytes/arguments.ts';
import { createUses } from '../../../src/server/http/tokens.ts';
import type { LogEntry } from '../../../src/server/model/log.ts';
import { ask, id, NOW_MS, ORG, OTHER_ORG, PROJECT, token } from '../make.ts';
import { eachTest } from '../each-test.ts';
import { codeOf, expectRefused } from '../thrown.ts';

const plane = eachTest();
const EXPORTS = `/v1/projects/${PROJECT}/evidence-exports`;
const input = { organizationId: ORG, projects: 'all', permissions: ['evidence.read'] } as const;
const statusOf = async (text: string): Promise<number> => (await ask(plane, EXPORTS, { token: text })).status;
const HOUR_MS = 3_600_000;
const readUse = async (tokenId: string): Promise<number | undefined> =>
  (await plane.store.tokens.find(tokenId))?.lastUsedAtMs;

describe('a token that is rotated', () => {
  it('has a successor with its name, rights and lifetime, and both are valid during the overlap', async () => {
    const old = await plane.admin.createToken({ ...input, name: 'ci', expiresAtMs: NOW_MS + 10 * HOUR_MS });
    plane.clock.nowMs += HOUR_MS;
    const fresh = await plane.admin.rotateToken({ tokenId: old.tokenId, overlapMs: HOUR_MS });
    expect(fresh).toMatchObject({
      ...input,
      name: 'ci',
      expiresAtMs: NOW_MS + 11 * HOUR_MS,
      replacedTokenId: old.tokenId,
      replacedExpiresAtMs: NOW_MS + 2 * HOUR_MS,
    });
    expect(fresh.tokenId).not.toBe(old.tokenId);
    for (const [atMs, statuses] of [
      [NOW_MS + 2 * HOUR_MS - 1, [200, 200]],
      [NOW_MS + 2 * HOUR_MS, [401, 200]],
      [NOW_MS + 11 * HOUR_MS, [401, 401]],
    ] as const) {
      plane.clock.nowMs = atMs;
      expect([await statusOf(old.token), await statusOf(fresh.token)]).toEqual(statuses);
    }
  });

  it('never gets more time, and with no overlap ends at once', async () => {
    const old = await plane.admin.createToken({ ...input, expiresAtMs: NOW_MS + 5 });
    const { replacedExpiresAtMs } = await plane.admin.rotateToken({ tokenId: old.tokenId, overlapMs: 9 });
    expect(replacedExpiresAtMs).toBe(NOW_MS + 5);
    const other = await plane.admin.createToken(input);
    const fresh = await plane.admin.rotateToken({ tokenId: other.tokenId, overlapMs: 0 });
    expect([await statusOf(other.token), await statusOf(fresh.token)]).toEqual([401, 200]);
    expect(fresh).not.toHaveProperty('expiresAtMs');
  });

  it('must be live, and its successor must expire in the future', async () => {
    const { tokenId } = await plane.admin.createToken({ ...input, expiresAtMs: NOW_MS + 5 });
    await expectRefused(plane.admin.rotateToken({ tokenId, overlapMs: -1 }));
    await expectRefused(plane.admin.rotateToken({ tokenId, overlapMs: 1, expiresAtMs: NOW_MS }));
    await expectRefused(plane.admin.rotateToken({ tokenId: id('tok', 9), overlapMs: 1 }));
    plane.clock.nowMs += 5;
    await expectRefused(plane.admin.rotateToken({ tokenId, overlapMs: 1 }));
    const revoked = await plane.admin.createToken(input);
    await plane.admin.revokeToken(revoked.tokenId);
    await expectRefused(plane.admin.rotateToken({ tokenId: revoked.tokenId, overlapMs: 1 }));
  });
});

it('revokeTokens ends the access of every token of one organization at once', async () => {
  const other = await token(plane, { organizationId: OTHER_ORG });
  const path = `/v1/projects/${id('prj', 3)}/evidence-exports`;
  expect(await plane.admin.revokeTokens({ organizationId: ORG })).toEqual({ revoked: 1 });
  expect(await statusOf(plane.token)).toBe(401);
  expect((await ask(plane, path, { token: other })).status).toBe(200);
  expect(await plane.admin.revokeTokens({ organizationId: ORG })).toEqual({ revoked: 0 });
  await expectRefused(plane.admin.revokeTokens({ organizationId: id('org', 9) }));
});

it('a token has a name of 1 to 255 characters, or none', async () => {
  for (const name of ['', 'x'.repeat(256)])
    expect(await codeOf(plane.admin.createToken({ ...input, name }))).toBe('server.ADMIN_REFUSED');
  expect(await plane.admin.createToken({ ...input, name: 'x'.repeat(255) })).toHaveProperty('name');
});

describe('the last use of a token', () => {
  it('is stored after a request that was accepted, without waiting for it', async () => {
    const { tokenId, token: text } = await plane.admin.createToken(input);
    const idle = await plane.admin.createToken(input);
    expect(await statusOf(text)).toBe(200);
    expect(await readUse(tokenId)).toBeUndefined();
    await expect.poll(() => readUse(tokenId), { timeout: 30_000 }).toBe(NOW_MS);
    expect(await readUse(idle.tokenId)).toBeUndefined();
  });

  it('is written at most once a minute, with the latest of its uses', async () => {
    const { tokenId } = await plane.admin.createToken(input);
    const uses = createUses(plane.store, () => undefined);
    uses.note({ tokenId }, NOW_MS);
    for (const [lastUsedAtMs, usedAtMs, stored] of [
      [undefined, NOW_MS + 1, NOW_MS + 1],
      [NOW_MS + 1, NOW_MS + 60_000, NOW_MS + 1],
      [NOW_MS + 1, NOW_MS + 60_001, NOW_MS + 60_001],
    ] as const) {
      uses.note({ tokenId, ...defined({ lastUsedAtMs }) }, usedAtMs);
      await uses.write();
      expect(await readUse(tokenId)).toBe(stored);
    }
  });

  it('that cannot be written is logged, and harms no request', async () => {
    const log: LogEntry[] = [];
    const store = { ...plane.store, transaction: () => Promise.reject(new Error('the disk is full')) };
    const uses = createUses(store, (entry) => void log.push(entry));
    uses.note({ tokenId: 'tok_1' }, NOW_MS);
    await uses.write();
    expect(log).toMatchObject([{ level: 'warn', event: 'tokens.use_not_written' }]);
  });
});
