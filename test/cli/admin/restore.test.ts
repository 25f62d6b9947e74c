import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import { openEmbedded } from '../../../src/server/open-stores.ts';
import { createTenants, EXPORT, id, NOW_MS, ORG, part, PROJECT } from '../../server/make.ts';
import { call, type CliResult, useScratch } from '../make.ts';

const dir = useScratch();
const BUNDLE = id('evidence', 1);
const DAY_MS = 24 * 3_600_000;
// A time in the past, because the data of the test were made with the clock of this machine too.
const admin = (line: string, at = NOW_MS): Promise<CliResult> =>
  call(`admin ${line} --data ${dir.path('data')}`, { now: () => at });

async function adminJson(line: string, at = NOW_MS): Promise<any> {
  const { code, stdout, stderr } = await admin(`${line} --json`, at);
  expect([code, stderr.includes('drillproof:')]).toEqual([0, false]);
  return JSON.parse(stdout);
}

async function createToken(): Promise<string> {
  const { tokenId } = await adminJson(`token create --organization ${ORG} --project ${PROJECT}`);
  return tokenId;
}

/** Changes the record of the clock, as an earlier start of this machine would have left it. */
async function writeClock(seenMs: number): Promise<void> {
  const { store } = await openEmbedded(dir.path('data'));
  await store.transaction(({ meta }) => meta.recordClock({ seenMs, steadyMs: 1, boot: 'an earlier start' }));
  await store.close();
}

/** Replaces the rows, as a restore does; blobs and audit log are as they were. */
async function restore(): Promise<void> {
  for (const name of ['store.sqlite', 'store.sqlite-wal', 'store.sqlite-shm'])
    await rm(dir.path(`data/${name}`), { force: true });
  await copyFile(dir.path('backup.sqlite'), dir.path('data/store.sqlite'));
}

const check = async (options = '') => {
  const { code, stdout } = await admin(`restore-check --json ${options}`);
  return {
    code,
    ...(JSON.parse(stdout) as { findings: unknown[]; restoredToMs?: number; openUploads: number }),
  };
};

beforeEach(async () => {
  const { store, blobs } = await openEmbedded(dir.path('data'));
  const direct = createAdmin({ store, blobs, now: () => NOW_MS });
  await createTenants({ admin: direct });
  await direct.ingestBundle(PROJECT, memoryAccess(await part(1)));
  await store.close();
});

it('restore-check lists a revoked token, a deleted bundle and a deleted export that came back, and passes once they end', async () => {
  const [revoked, rotated, valid] = [await createToken(), await createToken(), await createToken()];
  await adminJson(`export create --organization ${ORG} --from 2026-11-01 --id ${EXPORT} --now`);
  await writeClock(NOW_MS);
  await adminJson(`backup --out ${dir.path('backup.sqlite')}`);
  const ends = [
    `token revoke ${revoked}`,
    `token rotate ${rotated} --overlap 1h`,
    `delete bundle ${BUNDLE} --project ${PROJECT}`,
    `delete export ${EXPORT} --organization ${ORG}`,
  ];
  for (const line of ends) await adminJson(line);
  expect(await check()).toMatchObject({ code: 0, findings: [] });
  await restore();
  const findings = [
    { code: 'server.RESTORED_TOKEN', id: revoked },
    { code: 'server.RESTORED_TOKEN', id: rotated },
    { code: 'server.RESTORED_EVIDENCE', id: BUNDLE },
    { code: 'server.RESTORED_EVIDENCE', id: EXPORT },
  ];
  expect(await check()).toMatchObject({ code: 1, restoredToMs: NOW_MS, openUploads: 0, findings });
  const { stdout } = await admin('restore-check');
  expect(stdout).toMatch(/^restored to +2026-11-21T12:00:00\.000Z\n/);
  expect(stdout).toMatch(new RegExp(`server\\.RESTORED_TOKEN +${revoked}\n`));
  expect(stdout).not.toContain(valid);
  const quiet = await admin('restore-check --quiet');
  expect(quiet.stdout).toBe('restored to 2026-11-21T12:00:00.000Z, findings 4, open uploads 0\n');
  for (const line of ends) await adminJson(line);
  expect(await check()).toMatchObject({ code: 0, findings: [] });
});

it('restore-check reads several logs, and a revocation of all tokens ends those that existed', async () => {
  const token = await createToken();
  const line = { actor: 'admin:x', action: 'admin.revokeTokens', organizationId: ORG };
  const write = (name: string, atMs: number, more = {}) =>
    writeFile(
      dir.path(name),
      `${JSON.stringify({ time: new Date(atMs).toISOString(), ...line, ...more })}\n`,
    );
  await write('before.log', NOW_MS - 1);
  await write('failed.log', NOW_MS + 1, { code: 'server.ADMIN_REFUSED' });
  await write('after.log', NOW_MS + 1);
  const options = ['before.log', 'failed.log'].map((name) => `--audit-log ${dir.path(name)}`).join(' ');
  expect(await check(options)).toMatchObject({ code: 0, findings: [] });
  expect(await check(`${options} --audit-log ${dir.path('after.log')}`)).toMatchObject({
    code: 1,
    findings: [{ code: 'server.RESTORED_TOKEN', id: token }],
  });
});

const attempt = (n: number, uploadExpiresAtMs: number) => ({
  organizationId: ORG,
  projectId: PROJECT,
  buildAttemptId: id('attempt', n),
  uploadExpiresAtMs,
  resource: {
    schemaVersion: 1 as const,
    buildAttemptId: id('attempt', n),
    organizationId: ORG,
    projectId: PROJECT,
    sourceKind: 'upload' as const,
    requestedBy: 'admin',
    state: 'awaiting_upload' as const,
    diagnostics: [],
    sourceClosure: [],
    createdAtMs: NOW_MS,
    updatedAtMs: NOW_MS,
  },
});

it('restore-check counts upload addresses that are open, and none that has expired', async () => {
  await createToken();
  const { store } = await openEmbedded(dir.path('data'));
  await store.transaction(async (tx) => {
    await tx.buildAttempts.insert(attempt(1, NOW_MS + 1));
    await tx.buildAttempts.insert(attempt(2, NOW_MS));
  });
  await store.close();
  expect(await check()).toMatchObject({ code: 0, openUploads: 1 });
});

it.each([
  ['a missing log', undefined, 'io.NOT_FOUND'],
  ['a line that ends early', '{"time":"2026-11-', 'json.INVALID'],
  ['a line of another log', '{"level":"info"}', 'server.ADMIN_REFUSED'],
  ['an empty log', '', 'server.ADMIN_REFUSED'],
  ['a time that is not one', '{"time":"yesterday","action":"x"}', 'server.ADMIN_REFUSED'],
])('restore-check with %s never passes', async (_what, text, code) => {
  if (text !== undefined) await writeFile(dir.path('audit.log'), text);
  const result = await admin(`restore-check --json --audit-log ${dir.path('audit.log')}`);
  expect([result.code > 0, JSON.parse(result.stdout).code]).toEqual([true, code]);
});

it('sweep deletes and settles nothing while the clock cannot be right, until an operator confirms it', async () => {
  await adminJson(`delete bundle ${BUNDLE} --project ${PROJECT}`);
  await writeClock(NOW_MS);
  for (const at of [NOW_MS + 2 * DAY_MS, NOW_MS - DAY_MS]) {
    const refused = await admin('sweep --json', at);
    expect([refused.code, JSON.parse(refused.stdout).code]).toEqual([3, 'server.CLOCK_JUMPED']);
    const shown = await admin('clock --json', at);
    expect([shown.code, JSON.parse(shown.stdout).message]).toEqual([
      3,
      expect.stringContaining('2026-11-21T12:00'),
    ]);
  }
  expect(await readFile(dir.path('data/store.sqlite')).then(({ length }) => length)).toBeGreaterThan(0);
  await adminJson('clock --accept', NOW_MS + 2 * DAY_MS);
  expect(await adminJson('sweep', NOW_MS + 2 * DAY_MS)).toMatchObject({ jobs: 1, blobsRemoved: 1 });
});
