import { describe, expect, it } from 'vitest';
import { migrations } from '../../../src/server/store/migrations.ts';
import type { TokenRow, Tx } from '../../../src/server/store/store.ts';
import { FOREIGN_PROJECT, HASH, id, NOW_MS, ORG, OTHER_ORG, PROJECT } from '../make.ts';
import { codeOf } from '../thrown.ts';
import { idempotencySuite } from './idempotency-suite.ts';
import { queueSuite } from './queue-suite.ts';
import { retentionSuite } from './retention-suite.ts';
import * as rows from './rows.ts';
import { workSuite } from './work-suite.ts';

const tokenRow = (over: Partial<TokenRow> = {}): TokenRow => ({
  tokenId: 'tok_1',
  tokenHash: 'ab'.repeat(32),
  organizationId: ORG,
  projects: [PROJECT],
  permissions: ['evidence.read'],
  createdAtMs: NOW_MS,
  ...over,
});
const DAMAGED = 'server.STORE_DAMAGED';
const EXPORT = id('evexp', 1);
const build = { ...rows.inProject, buildHash: HASH };

/** Tests what every store must do, on SQLite and on PostgreSQL. */
export function storeSuites(name: string, factory: rows.StoreFactory): void {
  workSuite(`${name}: work`, factory);
  queueSuite(name, factory);
  idempotencySuite(name, factory);
  retentionSuite(`${name}: retention`, factory);

  describe(name, () => {
    const { store, write, place } = rows.eachPair(factory);

    it('reads the organizations and projects that were written and no others', async () => {
      expect(await store.organizations.find(ORG)).toEqual(rows.organization(ORG, 'an organization'));
      expect(await store.projects.find(PROJECT)).toMatchObject(rows.inProject);
      expect((await store.organizations.list()).map((row) => row.organizationId)).toEqual([ORG, OTHER_ORG]);
      expect((await store.projects.list(ORG)).map((row) => row.projectId)).toEqual([PROJECT]);
      expect(await store.organizations.find('org_none00000000')).toBeUndefined();
      expect(await store.projects.find("x' OR 1=1 --")).toBeUndefined();
    });

    it.each([
      tokenRow(),
      tokenRow({ projects: 'all', permissions: ['build.read', 'run.write'], expiresAtMs: NOW_MS + 1 }),
      tokenRow({ projects: [], revokedAtMs: NOW_MS, name: 'ci', lastUsedAtMs: 1 }),
    ])('reads a token as it was written', async (row) => {
      await write((tx) => tx.tokens.insert(row));
      expect(await store.tokens.findByHash(row.tokenHash)).toEqual(row);
      expect(await store.tokens.list(ORG)).toEqual([row]);
      expect(await store.tokens.findByHash('cd'.repeat(32))).toBeUndefined();
    });

    it('revokes a token once', async () => {
      const revoke = (tokenId: string, atMs: number) => write((tx) => tx.tokens.revoke(tokenId, atMs));
      await write((tx) => tx.tokens.insert(tokenRow()));
      expect(await revoke('tok_1', 7)).toBe(true);
      for (const tokenId of ['tok_1', 'tok_2']) expect(await revoke(tokenId, 8)).toBe(false);
      expect(await store.tokens.findByHash(tokenRow().tokenHash)).toMatchObject({ revokedAtMs: 7 });
    });

    it('revokes every token of one organization, and returns how many were not revoked', async () => {
      const other = { organizationId: OTHER_ORG, tokenHash: 'ef'.repeat(32) };
      await write(async (tx) => {
        await tx.tokens.insert(tokenRow());
        await tx.tokens.insert(tokenRow({ tokenId: 'tok_2', tokenHash: '12'.repeat(32), revokedAtMs: 3 }));
        await tx.tokens.insert(tokenRow({ tokenId: 'tok_3', ...other }));
      });
      expect(await write((tx) => tx.tokens.revokeAll(ORG, 7))).toBe(1);
      expect((await store.tokens.list(ORG)).map((row) => row.revokedAtMs)).toEqual([7, 3]);
      expect(await store.tokens.list(OTHER_ORG)).toEqual([tokenRow({ tokenId: 'tok_3', ...other })]);
    });

    it('the last use of a token only moves forward', async () => {
      await write((tx) => tx.tokens.insert(tokenRow()));
      for (const [atMs, lastUsedAtMs] of [
        [5, 5],
        [4, 5],
        [6, 6],
      ] as const) {
        await write((tx) => tx.tokens.use('tok_1', atMs));
        expect(await store.tokens.find('tok_1')).toEqual(tokenRow({ lastUsedAtMs }));
      }
    });

    it('counts the bytes, operations and uploads of one organization that are not deleted or ended', async () => {
      const [gone, due] = [
        { createdAtMs: 1, deletedAtMs: 2 },
        { createdAtMs: 1, deleteAtMs: 2 },
      ];
      await write(async (tx) => {
        await tx.bundles.insert(rows.bundle(1));
        await tx.bundles.insert(rows.bundle(20, gone));
        await tx.bundles.insert(rows.bundle(300, due));
        await tx.builds.save({ ...build, archive: rows.blob(4000) });
        await tx.localReports.insert(rows.localReport(50_000));
        const parts = [rows.exportPart(7)];
        await tx.exports.insert(rows.newExport(1, { parts, manifest: rows.blob(600_000) }));
        for (const [n, state] of [
          [1, 'awaiting_upload'],
          [2, 'verifying'],
          [3, 'failed'],
          [4, 'succeeded'],
        ] as const) {
          const row = rows.attempt(n, state, NOW_MS + 10);
          await tx.buildAttempts.insert({ ...row, resource: { ...row.resource, expectedBytes: 1e6 } });
        }
        await tx.operations.insert(rows.operation(1));
        const job = { ...rows.inProject, operationId: id('op', 1), kind: 'k', resourceId: 'r' };
        await tx.jobs.enqueue({ ...job, createdAtMs: NOW_MS });
      });
      const usage = (organizationId: string, nowMs: number) =>
        store.usage.ofOrganization(organizationId, nowMs);
      const used = { storedBytes: 2_654_301, operations: 1, uploads: 2 };
      expect(await usage(ORG, NOW_MS + 9)).toEqual(used);
      expect(await usage(ORG, NOW_MS + 10)).toEqual({ ...used, storedBytes: 1_654_301, uploads: 1 });
      expect(await usage(OTHER_ORG, NOW_MS)).toEqual({ storedBytes: 0, operations: 0, uploads: 0 });
      const stored = await store.usage.stored();
      expect(stored.reduce((total, { value }) => total + value, 0)).toBe(654_301);
    });

    it('reads at once a change by another connection or by its own transaction', async () => {
      await write((tx) => tx.tokens.insert(tokenRow()));
      const other = await place().open();
      const revokedAtMs = async () => (await other.tokens.findByHash(tokenRow().tokenHash))?.revokedAtMs;
      expect(await revokedAtMs()).toBeUndefined();
      await write((tx) => tx.tokens.revoke('tok_1', 7));
      expect(await revokedAtMs()).toBe(7);
      const acme = rows.organization(ORG, 'Acme');
      expect(await other.organizations.find(ORG)).not.toEqual(acme);
      for (const change of [{ ...acme, maxSessionTtlMs: 5 }, acme]) {
        await other.transaction((tx) => tx.organizations.update(change));
        expect(await other.organizations.find(ORG)).toEqual(change);
      }
      await other.close();
    });

    it('adds an archive to a build that has none', async () => {
      for (const row of [build, { ...build, archive: rows.blob(12) }]) {
        await write((tx) => tx.builds.save(row));
        expect(await store.builds.find(PROJECT, HASH)).toEqual(row);
      }
      expect(await store.builds.find(FOREIGN_PROJECT, HASH)).toBeUndefined();
    });

    it('stores an export with its parts and reports, in order', async () => {
      const parts = [rows.exportPart(12)];
      const reports = [0, 1, 2].map((n) => rows.exportReport(n, n));
      const documents = { manifest: rows.blob(5), attestation: rows.blob(6) };
      await write(async (tx) => {
        await tx.bundles.insert(rows.bundle(1));
        for (const n of [0, 1, 2]) await tx.localReports.insert(rows.localReport(n));
        await tx.exports.insert(rows.newExport(1, { parts, reports, ...documents }));
        const row = (await tx.exports.find(ORG, EXPORT))!;
        await tx.exports.update({ ...row, resource: { ...row.resource, state: 'failed' } });
      });
      const owner = { organizationId: ORG, evidenceExportId: EXPORT };
      const list = (afterOrdinal: number) => store.exportReports.list(owner, afterOrdinal, 2);
      const stored = reports.map((report) => ({ ...report, ...owner }));
      const row = { ...documents, ordinal: 0, resource: { state: 'failed' } };
      expect(await store.exports.find(ORG, EXPORT)).toMatchObject(row);
      expect(await store.exportParts.find(ORG, EXPORT, id('evidence', 1))).toEqual({ ...parts[0], ...owner });
      expect(await store.exportParts.find(ORG, EXPORT, id('evidence', 9))).toBeUndefined();
      expect(await store.exportReports.find(ORG, EXPORT, id('lrep', 1))).toEqual(stored[1]);
      expect(await store.exportReports.find(OTHER_ORG, EXPORT, id('lrep', 1))).toBeUndefined();
      expect(await Promise.all([-1, 1, 2].map(list))).toEqual([stored.slice(0, 2), stored.slice(2), []]);
    });

    it('numbers the exports of each organization separately, without a gap', async () => {
      await write(async (tx) => {
        await tx.exports.insert(rows.newExport(1));
        await tx.exports.insert(rows.newExport(2, { organizationId: OTHER_ORG }));
        await tx.exports.insert(rows.newExport(3));
      });
      expect(await store.exports.list(ORG, -1, 10)).toMatchObject([
        { evidenceExportId: id('evexp', 1), ordinal: 0 },
        { evidenceExportId: id('evexp', 3), ordinal: 1 },
      ]);
      expect(await store.exports.list(ORG, 0, 1)).toHaveLength(1);
      expect(await store.exports.find(ORG, id('evexp', 2))).toBeUndefined();
    });

    it.each([
      ['with the key of another', [rows.bundle(1), rows.bundle(1)]],
      ['of a missing project', [{ ...rows.bundle(1), projectId: id('prj', 99) }]],
      ['of a project of another organization', [{ ...rows.bundle(1), organizationId: OTHER_ORG }]],
    ])('refuses a row %s', async (_, bundles) => {
      const writing = write(async (tx) => {
        for (const row of bundles) await tx.bundles.insert(row);
      });
      await expect(writing).rejects.toThrow();
    });

    it.each<[why: string, fail: (tx: Tx) => Promise<void>, message: string]>([
      ['whose work throws', () => Promise.reject(new Error('on purpose')), 'on purpose'],
      ['whose update matches no row', (tx) => tx.bundles.update(rows.bundle(1)), 'matched no row'],
    ])('a transaction %s writes nothing, and the next one succeeds', async (_, fail, message) => {
      const failing = write(async (tx) => {
        await tx.tokens.insert(tokenRow());
        await fail(tx);
      });
      await expect(failing).rejects.toThrow(message);
      expect(await store.tokens.list(ORG)).toEqual([]);
      await write((tx) => tx.tokens.insert(tokenRow()));
      expect(await store.tokens.list(ORG)).toHaveLength(1);
    });

    it('shows a write to its own transaction at once and to others only when it is committed', async () => {
      await write(async (tx) => {
        await tx.tokens.insert(tokenRow());
        expect(await tx.tokens.list(ORG)).toHaveLength(1);
        expect(await store.tokens.list(ORG)).toEqual([]);
      });
      expect(await store.tokens.list(ORG)).toHaveLength(1);
    });

    it.each<readonly [what: string, statement: string, code: string]>([
      ['of a newer version', `UPDATE meta SET value = '${migrations.length + 1}'`, 'server.SCHEMA_NEWER'],
      ...['x', '-1', '0.5', '', '01', ' 1'].map(
        (text) => [`of version "${text}"`, `UPDATE meta SET value = '${text}'`, DAMAGED] as const,
      ),
      ['of version 0 that has tables', "UPDATE meta SET value = '0'", DAMAGED],
      ['without a table', 'DROP TABLE blob_removals', DAMAGED],
      ['without a column', 'ALTER TABLE organizations DROP COLUMN max_session_ttl_ms', DAMAGED],
      ['without an index', 'DROP INDEX jobs_of_resource', DAMAGED],
      ['without a version', 'DELETE FROM meta', 'server.STORE_FOREIGN'],
      ['without the table of its version', 'DROP TABLE meta', 'server.STORE_FOREIGN'],
      ['with another table meta', 'ALTER TABLE meta RENAME COLUMN value TO other', 'server.STORE_FOREIGN'],
    ])('refuses a store %s, and changes nothing', async (_, statement, code) => {
      await place().query(statement);
      for (let n = 0; n < 2; n++) expect(await codeOf(place().open())).toBe(code);
    });

    it('opens a store with tables, columns and indexes that it does not know', async () => {
      await place().query('CREATE TABLE ours (a INTEGER)');
      await place().query('ALTER TABLE organizations ADD COLUMN ours INTEGER');
      await place().query('CREATE INDEX ours_in_order ON ours (a)');
      await (await place().open()).close();
    });

    it('migration keeps finished steps, undoes a failed one, and refuses a newer schema', async () => {
      const steps = [...migrations, 'CREATE TABLE done (a TEXT) STRICT;'];
      const broken = 'CREATE TABLE undone (a TEXT) STRICT; SELECT * FROM nowhere;';
      await expect(place().open([...steps, broken])).rejects.toThrow();
      expect(await store.schema()).toEqual({ version: steps.length, known: migrations.length });
      await (await place().open([...steps, 'CREATE TABLE undone (a TEXT) STRICT;'])).close();
      for (const table of ['done', 'undone'])
        expect(await place().query(`SELECT * FROM ${table}`)).toEqual([]);
      expect(await codeOf(place().open())).toBe('server.SCHEMA_NEWER');
    });

    it('secrets are distinct, and secrets and committed rows survive a restart', async () => {
      const secret = await store.secret('cursor');
      expect(secret).toHaveLength(32);
      expect(await store.secret('cursor')).toEqual(secret);
      expect(await store.secret('other')).not.toEqual(secret);
      await write((tx) => tx.tokens.insert(tokenRow()));
      await store.close();
      await store.close(); // harmless
      const reopened = await place().open();
      expect(await reopened.secret('cursor')).toEqual(secret);
      expect(await reopened.tokens.list(ORG)).toEqual([tokenRow()]);
      await reopened.close();
    });
  });
}
