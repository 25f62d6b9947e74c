import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  BuildAttempt,
  EvidenceBundle,
  EvidenceExport,
  LocalReportItem,
} from '../../../src/contract/index.ts';
import type { NewExport, Store, TokenRow } from '../../../src/server/store/store.ts';
import { EXPORT, FOREIGN_PROJECT, HASH, id, localReport, NOW_MS, ORG, OTHER_ORG, PROJECT } from '../make.ts';

/** What a test of a store needs: how to open it, how to open it again, and how to remove it. */
export type StoreFactory = () => Promise<{ open(): Promise<Store>; remove(): Promise<void> }>;

const BLOB = { digest: HASH, bytes: 12 };

const tokenRow = (over: Partial<TokenRow> = {}): TokenRow => ({
  tokenId: 'tok_1',
  tokenHash: 'ab'.repeat(32),
  organizationId: ORG,
  projects: [PROJECT],
  permissions: ['evidence.read'],
  createdAtMs: NOW_MS,
  ...over,
});

const bundle: EvidenceBundle = {
  schemaVersion: 1,
  evidenceBundleId: id('evidence', 1),
  projectId: PROJECT,
  hostedRunId: id('hrun', 1),
  runId: 'run_number-1',
  manifestDigest: HASH,
  signed: false,
  state: 'available',
  createdAtMs: NOW_MS,
  storage: { objectCount: 1, manifestBytes: 2, artifactBytes: 3, totalBytes: 5 },
  storageVerifiedAtMs: NOW_MS,
};

const attempt: BuildAttempt = {
  schemaVersion: 1,
  buildAttemptId: id('attempt', 1),
  organizationId: ORG,
  projectId: PROJECT,
  sourceKind: 'upload',
  requestedBy: 'somebody',
  state: 'queued',
  diagnostics: [],
  sourceClosure: [],
  createdAtMs: NOW_MS,
  updatedAtMs: NOW_MS,
};

const resource = (evidenceExportId: string): EvidenceExport => ({
  schemaVersion: 1,
  evidenceExportId,
  organizationId: ORG,
  scope: { kind: 'organization' },
  operationId: id('op', 1),
  state: 'available',
  requestedBy: 'somebody',
  fromAtMs: 0,
  throughAtMs: 1,
  selectionDigest: HASH,
  bundleCount: 1,
  completedBundleCount: 1,
  sourceBytes: '1',
  archiveBytes: '1',
  createdAtMs: 0,
  updatedAtMs: 0,
});

const source = (n: number): LocalReportItem['source'] => {
  const { uploadedBy, submissionDigest = HASH, ...claims } = localReport(n).metadata;
  return {
    ...claims,
    ordinal: n,
    projectId: PROJECT,
    localReportId: id('lrep', n),
    submissionDigest,
    archiveBytes: 12,
    provenance: { origin: 'user_produced', trust: 'unattested', uploadedBy },
    verifiedAtMs: NOW_MS,
  };
};

const newExport = (evidenceExportId: string = EXPORT, over: Partial<NewExport> = {}): NewExport => ({
  organizationId: ORG,
  evidenceExportId,
  resource: resource(evidenceExportId),
  parts: [],
  reports: [],
  ...over,
});

const inProject = { organizationId: ORG, projectId: PROJECT };
const bundleRow = {
  ...inProject,
  evidenceBundleId: bundle.evidenceBundleId,
  archive: BLOB,
  resource: bundle,
};

/** What every store must do, whatever stands behind it. */
export function storeSuite(name: string, factory: StoreFactory): void {
  describe(name, () => {
    let made: Awaited<ReturnType<StoreFactory>>;
    let store: Store;

    beforeEach(async () => {
      made = await factory();
      store = await made.open();
      await store.transaction(async (tx) => {
        for (const [organizationId, projectId] of [
          [ORG, PROJECT],
          [OTHER_ORG, FOREIGN_PROJECT],
        ] as const) {
          await tx.organizations.insert({ organizationId, name: 'an organization', createdAtMs: NOW_MS });
          await tx.projects.insert({ organizationId, projectId, name: 'a project', createdAtMs: NOW_MS });
        }
      });
    });
    afterEach(async () => {
      await store.close();
      await made.remove();
    });

    it('reads the organizations and projects that were written and no others', async () => {
      expect(await store.organizations.find(ORG)).toEqual({
        organizationId: ORG,
        name: 'an organization',
        createdAtMs: NOW_MS,
      });
      expect(await store.projects.find(PROJECT)).toMatchObject({ organizationId: ORG, projectId: PROJECT });
      expect((await store.organizations.list()).map((row) => row.organizationId)).toEqual([ORG, OTHER_ORG]);
      expect((await store.projects.list(ORG)).map((row) => row.projectId)).toEqual([PROJECT]);
      expect(await store.organizations.find('org_none00000000')).toBeUndefined();
      expect(await store.projects.find("x' OR 1=1 --")).toBeUndefined();
    });

    it.each([
      tokenRow(),
      tokenRow({ projects: 'all', permissions: ['build.read', 'run.write'], expiresAtMs: NOW_MS + 1 }),
      tokenRow({ projects: [], revokedAtMs: NOW_MS }),
    ])('gives a token back as it was written', async (row) => {
      await store.transaction((tx) => tx.tokens.insert(row));
      expect(await store.tokens.findByHash(row.tokenHash)).toEqual(row);
      expect(await store.tokens.list(ORG)).toEqual([row]);
      expect(await store.tokens.findByHash('cd'.repeat(32))).toBeUndefined();
    });

    it('revokes a token once', async () => {
      await store.transaction((tx) => tx.tokens.insert(tokenRow()));
      expect(await store.transaction((tx) => tx.tokens.revoke('tok_1', 7))).toBe(true);
      expect(await store.transaction((tx) => tx.tokens.revoke('tok_1', 8))).toBe(false);
      expect(await store.transaction((tx) => tx.tokens.revoke('tok_2', 8))).toBe(false);
      expect(await store.tokens.findByHash(tokenRow().tokenHash)).toMatchObject({ revokedAtMs: 7 });
    });

    it('shows at once a change by another connection or by its own transaction', async () => {
      await store.transaction((tx) => tx.tokens.insert(tokenRow()));
      const other = await made.open();
      const seen = async () => (await other.tokens.findByHash(tokenRow().tokenHash))?.revokedAtMs;
      expect(await seen()).toBeUndefined();
      await store.transaction((tx) => tx.tokens.revoke('tok_1', 7));
      expect(await seen()).toBe(7);
      const acme = { organizationId: ORG, name: 'Acme', createdAtMs: NOW_MS };
      expect(await other.organizations.find(ORG)).not.toEqual(acme);
      await other.transaction((tx) => tx.organizations.update(acme));
      expect(await other.organizations.find(ORG)).toEqual(acme);
      await other.close();
    });

    it('gives bundles, builds, attempts and local reports back as they were written, by their project', async () => {
      const buildRow = { ...inProject, buildHash: HASH };
      const attemptRow = { ...inProject, buildAttemptId: attempt.buildAttemptId, resource: attempt };
      const { ordinal: _ordinal, ...claims } = source(1);
      const reportRow = { ...inProject, localReportId: id('lrep', 1), archive: BLOB, source: claims };
      await store.transaction(async (tx) => {
        await tx.bundles.insert(bundleRow);
        await tx.builds.save(buildRow);
        await tx.buildAttempts.insert(attemptRow);
        await tx.localReports.insert(reportRow);
      });
      expect(await store.bundles.find(PROJECT, bundle.evidenceBundleId)).toEqual(bundleRow);
      expect(await store.builds.find(PROJECT, HASH)).toEqual(buildRow);
      expect(await store.buildAttempts.find(PROJECT, attempt.buildAttemptId)).toEqual(attemptRow);
      expect(await store.localReports.find(PROJECT, id('lrep', 1))).toEqual(reportRow);
      expect(await store.bundles.find(FOREIGN_PROJECT, bundle.evidenceBundleId)).toBeUndefined();
      expect(await store.builds.find(FOREIGN_PROJECT, HASH)).toBeUndefined();
      expect(await store.buildAttempts.find(FOREIGN_PROJECT, attempt.buildAttemptId)).toBeUndefined();
      expect(await store.localReports.find(FOREIGN_PROJECT, id('lrep', 1))).toBeUndefined();
    });

    it('gives a build its archive later', async () => {
      await store.transaction((tx) => tx.builds.save({ ...inProject, buildHash: HASH }));
      await store.transaction((tx) => tx.builds.save({ ...inProject, buildHash: HASH, archive: BLOB }));
      expect(await store.builds.find(PROJECT, HASH)).toEqual({
        ...inProject,
        buildHash: HASH,
        archive: BLOB,
      });
    });

    it('changes the resource of an existing bundle and export only', async () => {
      const deleted = { ...bundle, state: 'deleted' as const, deletedAtMs: NOW_MS };
      await store.transaction(async (tx) => {
        await tx.bundles.insert(bundleRow);
        await tx.bundles.update({ ...bundleRow, resource: deleted });
        await tx.exports.insert(newExport());
        const row = (await tx.exports.find(ORG, EXPORT))!;
        await tx.exports.update({ ...row, resource: { ...row.resource, state: 'failed' } });
      });
      expect((await store.bundles.find(PROJECT, bundle.evidenceBundleId))?.resource).toEqual(deleted);
      expect((await store.exports.find(ORG, EXPORT))?.resource.state).toBe('failed');
      const missing = { ...bundleRow, evidenceBundleId: id('evidence', 9) };
      await expect(store.transaction((tx) => tx.bundles.update(missing))).rejects.toThrow();
    });

    it('keeps an export with its parts and reports, in order', async () => {
      const ofExport = { organizationId: ORG, evidenceExportId: EXPORT };
      const reports = [0, 1, 2].map((n) => ({
        ...ofExport,
        ordinal: n,
        localReportId: id('lrep', n),
        projectId: PROJECT,
        archive: BLOB,
        item: {
          source: source(n),
          archive: {
            localReportId: id('lrep', n),
            path: `local-reports/${n}.zip`,
            digest: HASH,
            bytes: '12',
          },
        },
      }));
      const exportPart = {
        ...ofExport,
        ordinal: 0,
        evidenceBundleId: bundle.evidenceBundleId,
        projectId: PROJECT,
        archive: BLOB,
      };
      await store.transaction(async (tx) => {
        await tx.bundles.insert(bundleRow);
        for (const { localReportId, item } of reports) {
          const { ordinal: _ordinal, ...claims } = item.source;
          await tx.localReports.insert({ ...inProject, localReportId, archive: BLOB, source: claims });
        }
        await tx.exports.insert(
          newExport(EXPORT, { parts: [exportPart], reports, manifest: BLOB, attestation: BLOB }),
        );
      });
      expect(await store.exports.find(ORG, EXPORT)).toMatchObject({
        ordinal: 0,
        manifest: BLOB,
        attestation: BLOB,
      });
      expect(await store.exportParts.find(ORG, EXPORT, bundle.evidenceBundleId)).toEqual(exportPart);
      expect(await store.exportParts.find(ORG, EXPORT, id('evidence', 9))).toBeUndefined();
      expect(await store.exportReports.find(ORG, EXPORT, id('lrep', 1))).toEqual(reports[1]);
      expect(await store.exportReports.find(OTHER_ORG, EXPORT, id('lrep', 1))).toBeUndefined();
      expect(
        await store.exportReports.list({ organizationId: ORG, evidenceExportId: EXPORT }, -1, 2),
      ).toEqual(reports.slice(0, 2));
      expect(await store.exportReports.list({ organizationId: ORG, evidenceExportId: EXPORT }, 1, 2)).toEqual(
        reports.slice(2),
      );
      expect(await store.exportReports.list({ organizationId: ORG, evidenceExportId: EXPORT }, 2, 2)).toEqual(
        [],
      );
    });

    it('numbers the exports of each organization by itself, without a gap', async () => {
      await store.transaction(async (tx) => {
        await tx.exports.insert(newExport(id('evexp', 1)));
        await tx.exports.insert(newExport(id('evexp', 2), { organizationId: OTHER_ORG }));
        await tx.exports.insert(newExport(id('evexp', 3)));
      });
      const numbered = (await store.exports.list(ORG, -1, 10)).map((row) => [
        row.evidenceExportId,
        row.ordinal,
      ]);
      expect(numbered).toEqual([
        [id('evexp', 1), 0],
        [id('evexp', 3), 1],
      ]);
      expect(await store.exports.list(ORG, 0, 1)).toHaveLength(1);
      expect(await store.exports.find(ORG, id('evexp', 2))).toBeUndefined();
    });

    it('refuses a second row with the same key and a row of a missing project', async () => {
      const twice = store.transaction(async (tx) => {
        await tx.bundles.insert(bundleRow);
        await tx.bundles.insert(bundleRow);
      });
      await expect(twice).rejects.toThrow();
      const lost = { ...bundleRow, projectId: id('prj', 99) };
      await expect(store.transaction((tx) => tx.bundles.insert(lost))).rejects.toThrow();
      const foreign = { ...bundleRow, organizationId: OTHER_ORG };
      await expect(store.transaction((tx) => tx.bundles.insert(foreign))).rejects.toThrow();
    });

    it('a failed transaction writes nothing, and the next one succeeds', async () => {
      const failing = store.transaction(async (tx) => {
        await tx.tokens.insert(tokenRow());
        throw new Error('on purpose');
      });
      await expect(failing).rejects.toThrow('on purpose');
      expect(await store.tokens.list(ORG)).toEqual([]);
      await store.transaction((tx) => tx.tokens.insert(tokenRow()));
      expect(await store.tokens.list(ORG)).toHaveLength(1);
    });

    it('shows a write to its own transaction at once and to others only when it is committed', async () => {
      await store.transaction(async (tx) => {
        await tx.tokens.insert(tokenRow());
        expect(await tx.tokens.list(ORG)).toHaveLength(1);
        expect(await store.tokens.list(ORG)).toEqual([]);
      });
      expect(await store.tokens.list(ORG)).toHaveLength(1);
    });

    it('runs 50 transactions that come at once one after the other', async () => {
      const names = Array.from({ length: 50 }, (_, n) => id('evexp', n));
      await Promise.all(names.map((one) => store.transaction((tx) => tx.exports.insert(newExport(one)))));
      const rows = await store.exports.list(ORG, -1, 100);
      expect(rows.map((row) => row.ordinal)).toEqual(names.map((_, n) => n));
    });

    it('each secret is distinct and survives a restart', async () => {
      const secret = await store.secret('cursor');
      expect(secret).toHaveLength(32);
      expect(await store.secret('cursor')).toEqual(secret);
      expect(await store.secret('other')).not.toEqual(secret);
      await store.close();
      store = await made.open();
      expect(await store.secret('cursor')).toEqual(secret);
    });

    it('committed rows survive a restart, and closing twice is harmless', async () => {
      await store.transaction((tx) => tx.tokens.insert(tokenRow()));
      await store.close();
      await store.close();
      store = await made.open();
      expect(await store.tokens.list(ORG)).toEqual([tokenRow()]);
    });
  });
}
