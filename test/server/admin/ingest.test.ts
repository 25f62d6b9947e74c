import { describe, expect, it } from 'vitest';
import { canonicalBytes, digestOf, fromUtf8, memoryAccess, toUtf8 } from '../../../src/bytes/index.ts';
import { evidenceBundleSchema, type EvidenceExport } from '../../../src/contract/index.ts';
import { memorySource } from '../../../src/evidence/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { createAdmin } from '../../../src/server/index.ts';
import {
  buildArchive,
  EXPORT,
  exportFiles,
  FOREIGN_PROJECT,
  id,
  localReport,
  NOW_MS,
  ORG,
  OTHER_ORG,
  part,
  PROJECT,
  SECOND_PROJECT,
  signer,
  world,
  type ExportMake,
  type World,
} from '../make.ts';
import { codeOf } from '../thrown.ts';
import { eachTest } from '../each-test.ts';

const plane = eachTest();

const flip = (bytes: Uint8Array, at: number): Uint8Array => {
  const flipped = Uint8Array.from(bytes);
  flipped[at]! ^= 1;
  return flipped;
};

describe('creating tenants and tokens', () => {
  it('creates ids of the documented form when none is given', async () => {
    const { organizationId } = await plane.admin.createOrganization({ name: 'new' });
    const { projectId } = await plane.admin.createProject({ organizationId, name: 'new' });
    expect([organizationId, projectId]).toEqual([
      expect.stringMatching(/^org_[0-9a-z]{12,32}$/),
      expect.stringMatching(/^prj_[0-9a-z]{12,32}$/),
    ]);
  });

  it('shows each new token of 256 random bits once', async () => {
    const input = { organizationId: ORG, projects: 'all' as const, permissions: ['evidence.read' as const] };
    const tokens = await Promise.all(Array.from({ length: 20 }, () => plane.admin.createToken(input)));
    for (const { token } of tokens) expect(token).toMatch(/^dp_[A-Za-z0-9_-]{43}$/);
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(20);
    expect(JSON.stringify(await plane.store.tokens.list(ORG))).not.toContain(tokens[0]!.token);
  });

  it('refuses evidence that contradicts stored evidence', async () => {
    const { admin } = plane;
    const good = { organizationId: ORG, projects: 'all', permissions: ['evidence.read'] } as const;
    const refusals = [
      admin.createOrganization({ organizationId: ORG, name: 'again' }),
      admin.createOrganization({ organizationId: 'org_x', name: 'short' }),
      admin.createOrganization({ name: '' }),
      admin.createProject({ organizationId: ORG, projectId: PROJECT, name: 'again' }),
      admin.createProject({ organizationId: id('org', 9), name: 'nowhere' }),
      admin.createToken({ ...good, organizationId: id('org', 9) }),
      admin.createToken({ ...good, projects: [FOREIGN_PROJECT] }),
      admin.createToken({ ...good, projects: [id('prj', 99)] }),
      admin.createToken({ ...good, projects: [] }),
      admin.createToken({ ...good, permissions: [] }),
      admin.createToken({ ...good, expiresAtMs: NOW_MS }),
      admin.revokeToken('tok_nobody'),
    ];
    const codes = await Promise.all(refusals.map((refusal) => codeOf(refusal)));
    expect(codes).toEqual(refusals.map(() => 'server.ADMIN_REFUSED'));
  });
});

describe('ingesting a bundle', () => {
  it('gives its metadata with its attestation', async () => {
    const bytes = await part(1, { key: signer() });
    const { bundle, created } = await plane.admin.ingestBundle(PROJECT, memoryAccess(bytes));
    expect(created).toBe(true);
    evidenceBundleSchema.parse(bundle);
    expect(bundle).toMatchObject({
      evidenceBundleId: id('evidence', 1),
      projectId: PROJECT,
      signed: true,
      state: 'available',
    });
    expect(bundle.attestation?.statement.subject.manifestDigest).toBe(bundle.manifestDigest);
    expect(bundle.storage.totalBytes).toBe(bundle.storage.manifestBytes + bundle.storage.artifactBytes);
    expect(await plane.store.bundles.find(PROJECT, id('evidence', 1))).toMatchObject({
      archive: { digest: digestOf(bytes), bytes: bytes.length },
      resource: bundle,
    });
  });

  it('a second ingest of the same bundle changes nothing', async () => {
    const bytes = await part(1);
    await plane.admin.ingestBundle(PROJECT, memoryAccess(bytes));
    const before = await plane.store.bundles.find(PROJECT, id('evidence', 1));
    plane.clock.nowMs += 1000;
    expect((await plane.admin.ingestBundle(PROJECT, memoryAccess(bytes))).created).toBe(false);
    expect(await plane.store.bundles.find(PROJECT, id('evidence', 1))).toEqual(before);
  });

  it('refuses a different bundle with the id of a stored one', async () => {
    await plane.admin.ingestBundle(PROJECT, memoryAccess(await part(1)));
    const other = await part(1, { createdAtMs: NOW_MS - 1 });
    expect(await codeOf(plane.admin.ingestBundle(PROJECT, memoryAccess(other)))).toBe('server.ADMIN_REFUSED');
  });

  it('refuses a bundle of another project or organization', async () => {
    const bytes = await part(1);
    for (const projectId of [SECOND_PROJECT, FOREIGN_PROJECT, id('prj', 99)]) {
      expect(await codeOf(plane.admin.ingestBundle(projectId, memoryAccess(bytes)))).toBe(
        'server.ADMIN_REFUSED',
      );
    }
    const lying = await part(1, { organizationId: OTHER_ORG });
    expect(await codeOf(plane.admin.ingestBundle(PROJECT, memoryAccess(lying)))).toBe('server.ADMIN_REFUSED');
  });

  it('refuses a damaged bundle with its findings and stores nothing', async () => {
    const bytes = await part(1, { key: signer() });
    for (let at = 0; at < bytes.length; at += 97) {
      const error: unknown = await plane.admin.ingestBundle(PROJECT, memoryAccess(flip(bytes, at))).then(
        () => `accepted with byte ${at} flipped`,
        (refusal: unknown) => refusal,
      );
      // What the ZIP reader only notes, such as a time, is no damage; the digest that is stored is then another.
      if (typeof error === 'string') continue;
      expect(error).toBeInstanceOf(DrillproofError);
      expect((error as DrillproofError).details?.['findings']).not.toEqual([]);
    }
    const half = memoryAccess(bytes.subarray(0, bytes.length >> 1));
    expect(await codeOf(plane.admin.ingestBundle(SECOND_PROJECT, half))).toBe('server.ADMIN_REFUSED');
  });

  it('reports an unreadable part as unreadable, not as damaged', async () => {
    const bytes = await part(1);
    const broken = {
      size: bytes.length,
      read: () => Promise.reject(new DrillproofError('io.UNREADABLE', 'the disk broke')),
    };
    expect(await codeOf(plane.admin.ingestBundle(PROJECT, broken))).toBe('io.UNREADABLE');
  });
});

describe('ingesting a local report', () => {
  it('stores the claims of the uploader, and a second ingest changes nothing', async () => {
    const { bytes, metadata } = localReport(1);
    const ingest = () => plane.admin.ingestLocalReport(PROJECT, memoryAccess(bytes), metadata);
    expect(await ingest()).toEqual({ localReportId: id('lrep', 1), created: true });
    plane.clock.nowMs += 1;
    expect(await ingest()).toEqual({ localReportId: id('lrep', 1), created: false });
    expect((await plane.store.localReports.find(PROJECT, id('lrep', 1)))?.source).toMatchObject({
      archiveBytes: bytes.length,
      submissionDigest: digestOf(bytes),
      verifiedAtMs: NOW_MS,
    });
  });

  it('derives the id from the bytes when none is given', async () => {
    const { bytes, metadata } = localReport(1);
    const { localReportId: _none, ...anonymous } = metadata;
    const ingest = () => plane.admin.ingestLocalReport(PROJECT, memoryAccess(bytes), anonymous);
    const [first, second] = [await ingest(), await ingest()];
    expect(first.localReportId).toMatch(/^lrep_[0-9a-z]{12,32}$/);
    expect(second).toEqual({ ...first, created: false });
  });

  it('refuses different bytes or claims under a stored id, and invalid claims', async () => {
    const { bytes, metadata } = localReport(1);
    await plane.admin.ingestLocalReport(PROJECT, memoryAccess(bytes), metadata);
    for (const [archive, claims] of [
      [toUtf8('other'), metadata],
      [bytes, { ...metadata, uploadedBy: 'another' }],
      [bytes, { ...metadata, trust: 'attested' }],
      [bytes, {}],
      [bytes, null],
    ] as const) {
      const refusal = plane.admin.ingestLocalReport(PROJECT, memoryAccess(archive), claims);
      expect(await codeOf(refusal)).toBe('server.ADMIN_REFUSED');
    }
  });

  it.each(['artifactCount', 'expandedBytes'])('refuses a negative %s, which readers accept', async (name) => {
    const { bytes, metadata } = localReport(1);
    const claims = { ...metadata, summary: { ...metadata.summary, [name]: -1 } };
    const refusal = plane.admin.ingestLocalReport(PROJECT, memoryAccess(bytes), claims);
    expect(await codeOf(refusal)).toBe('server.ADMIN_REFUSED');
  });
});

const ingestExport = async (
  make: ExportMake = {},
  change: (files: Record<string, Uint8Array>) => void = () => {},
) => {
  const { files, localReports } = await exportFiles(make);
  change(files);
  return plane.admin.ingestExport(memorySource(files), { localReports });
};
const nothingStored = async () => expect(await plane.store.exports.list(ORG, -1, 10)).toEqual([]);

const edited =
  (path: string, change: (document: Record<string, unknown>) => void) =>
  (files: Record<string, Uint8Array>) => {
    const document = JSON.parse(fromUtf8(files[path]!)) as Record<string, unknown>;
    change(document);
    files[path] = canonicalBytes(document);
  };

describe('ingesting an export', () => {
  it('stores its bundles and local reports', async () => {
    const key = signer();
    const { resource, created } = await ingestExport({
      parts: [await part(1, { key }), await part(2)],
      reports: [1, 2],
      key,
    });
    expect([created, resource.bundleCount, resource.localReportCount]).toEqual([true, 2, 2]);
    expect(await plane.store.bundles.find(PROJECT, id('evidence', 2))).toBeDefined();
    expect(await plane.store.localReports.find(PROJECT, id('lrep', 2))).toBeDefined();
    expect(await plane.store.exports.find(ORG, EXPORT)).toMatchObject({ ordinal: 0 });
  });

  it('a second ingest of an export changes nothing, even from a source without its parts', async () => {
    await ingestExport();
    expect((await ingestExport()).created).toBe(false);
    const { created } = await ingestExport({}, (files) => delete files[`parts/${id('evidence', 1)}.zip`]);
    expect(created).toBe(false);
    expect(await plane.store.exports.list(ORG, -1, 10)).toHaveLength(1);
  });

  it('refuses a different manifest under the id of a stored export', async () => {
    await ingestExport();
    expect(await codeOf(ingestExport({ parts: [await part(2)] }))).toBe('export.CHANGED');
    expect(await plane.store.exportParts.find(ORG, EXPORT, id('evidence', 2))).toBeUndefined();
  });

  it('uses bundles and local reports that are already stored', async () => {
    const { bytes, metadata } = localReport(1);
    await plane.admin.ingestBundle(PROJECT, memoryAccess(await part(1)));
    await plane.admin.ingestLocalReport(PROJECT, memoryAccess(bytes), metadata);
    const { files } = await exportFiles({ reports: [1] });
    expect((await plane.admin.ingestExport(memorySource(files))).created).toBe(true);
  });

  it('refuses a local report that was neither stored nor described', async () => {
    const { files } = await exportFiles({ reports: [1] });
    expect(await codeOf(plane.admin.ingestExport(memorySource(files)))).toBe('server.ADMIN_REFUSED');
    await nothingStored();
  });

  it.each<[string, string, (files: Record<string, Uint8Array>) => void]>([
    [
      'a damaged part',
      'server.ADMIN_REFUSED',
      (files) => {
        const path = `parts/${id('evidence', 1)}.zip`;
        files[path] = flip(files[path]!, 200);
      },
    ],
    ['a missing part', 'io.NOT_FOUND', (files) => delete files[`parts/${id('evidence', 1)}.zip`]],
    [
      'another report archive',
      'control.UPLOAD_MISMATCH',
      (files) => {
        files[`local-reports/${id('lrep', 1)}.zip`] = toUtf8('other bytes');
      },
    ],
    ['no manifest', 'io.NOT_FOUND', (files) => delete files['manifest.json']],
    ['no resource', 'io.NOT_FOUND', (files) => delete files['export.json']],
    [
      'a resource that differs',
      'export.RESOURCE_MISMATCH',
      edited('export.json', (document) => {
        document['bundleCount'] = 2;
      }),
    ],
    [
      'a resource that is not available',
      'export.RESOURCE_MISMATCH',
      edited('export.json', (document) => {
        document['state'] = 'pending';
      }),
    ],
    [
      'an edited manifest',
      'export.RESOURCE_MISMATCH',
      edited('manifest.json', (document) => {
        document['fromAtMs'] = 0;
      }),
    ],
    [
      'an attestation of another export',
      'export.ATTESTATION_SUBJECT_MISMATCH',
      edited('export-attestation.json', (document) => {
        const { subject } = document['statement'] as { subject: EvidenceExport };
        subject.evidenceExportId = id('evexp', 9);
      }),
    ],
    [
      'a manifest that is not canonical',
      'json.NOT_CANONICAL',
      (files) => {
        files['manifest.json'] = toUtf8(` ${fromUtf8(files['manifest.json']!)}`);
      },
    ],
  ])('refuses one with %s, and keeps no row of it', async (_, code, change) => {
    expect(await codeOf(ingestExport({ reports: [1], key: signer() }, change))).toBe(code);
    await nothingStored();
    expect(await plane.store.bundles.find(PROJECT, id('evidence', 1))).toBeUndefined();
  });

  it('refuses an export of another organization or with a project that does not exist', async () => {
    const stranger = await world();
    const admin = createAdmin(stranger);
    const { files } = await exportFiles();
    expect(await codeOf(admin.ingestExport(memorySource(files)))).toBe('server.ADMIN_REFUSED');
    await admin.createOrganization({ organizationId: ORG, name: 'x' });
    expect(await codeOf(admin.ingestExport(memorySource(files)))).toBe('server.ADMIN_REFUSED');
    await stranger.close();
  });

  it('writes a blob before the row that names it', async () => {
    const order: string[] = [];
    const blobs: World['blobs'] = {
      ...plane.blobs,
      put: async (...args) => {
        const ref = await plane.blobs.put(...args);
        order.push('blob');
        return ref;
      },
      putVerified: async (...args) => {
        const verified = await plane.blobs.putVerified(...args);
        order.push('blob');
        return verified;
      },
    };
    const store: World['store'] = {
      ...plane.store,
      transaction: (work) => {
        order.push('transaction');
        return plane.store.transaction(work);
      },
    };
    const { files, localReports } = await exportFiles({ reports: [1], key: signer() });
    await createAdmin({ store, blobs, now: () => NOW_MS }).ingestExport(memorySource(files), {
      localReports,
    });
    // One transaction for the bundles, and one for the export that lists them.
    expect(order).toEqual(['blob', 'blob', 'blob', 'blob', 'transaction', 'transaction']);
  });
});

const ingestBuild = (bytes: Uint8Array) => plane.admin.ingestBuild(PROJECT, memoryAccess(bytes));

describe('ingesting a build', () => {
  it('stores a build with a succeeded attempt, and a second ingest changes nothing', async () => {
    const { bytes, buildHash } = await buildArchive();
    const first = await ingestBuild(bytes);
    expect(first).toMatchObject({ buildHash, created: true });
    expect(await ingestBuild(bytes)).toEqual({ ...first, created: false });
    const attempt = await plane.store.buildAttempts.find(PROJECT, first.buildAttemptId);
    expect(attempt?.resource).toMatchObject({
      state: 'succeeded',
      buildHash,
      expectedArtifactDigest: digestOf(bytes),
    });
  });

  it.each<[string, string, Parameters<typeof buildArchive>[1]]>([
    ['no lock', 'build.ARCHIVE_INVALID', { drop: 'build.json' }],
    ['a lock that breaks its format', 'build.ARCHIVE_INVALID', { lock: () => ({ kind: 'build' }) }],
    ['a file that the lock does not name', 'build.ARCHIVE_INVALID', { extra: { 'other.js': toUtf8('1') } }],
    ['a missing source', 'build.PACKAGE_INVALID', { drop: 'greeter/index.js' }],
    ['another source', 'build.PACKAGE_INVALID', { extra: { 'greeter/index.js': toUtf8('evil()') } }],
    [
      'another package manifest',
      'build.PACKAGE_INVALID',
      { extra: { 'greeter/package.json': toUtf8('{}') } },
    ],
    ['another asset', 'build.PACKAGE_INVALID', { extra: { 'greeter/ui.html': toUtf8('<p>other</p>') } }],
  ])('refuses one with %s', async (_, code, change) => {
    const { bytes, buildHash } = await buildArchive(undefined, change);
    expect(await codeOf(ingestBuild(bytes))).toBe(code);
    expect(await plane.store.builds.find(PROJECT, buildHash)).toBeUndefined();
  });

  it('refuses a source that is not UTF-8', async () => {
    const { bytes } = await buildArchive(Uint8Array.of(0x61, 0xff));
    expect(await codeOf(ingestBuild(bytes))).toBe('build.PACKAGE_INVALID');
  });

  it('refuses a file that is not a ZIP, and one larger than 64 MiB without reading it', async () => {
    expect(await codeOf(ingestBuild(toUtf8('no archive')))).toMatch(/^zip\./);
    const large = { size: 64 * 1024 * 1024 + 1, read: () => Promise.reject(new Error('was read')) };
    expect(await codeOf(plane.admin.ingestBuild(PROJECT, large))).toBe('json.TOO_LARGE');
  });
});

describe('the entitlement of an organization', () => {
  it.each([1, 604_800_000])('is stored as %d ms', async (maxSessionTtlMs) => {
    const entitled = await plane.admin.setEntitlement({ organizationId: ORG, maxSessionTtlMs });
    expect(entitled).toMatchObject({ name: 'first', maxSessionTtlMs });
    expect(await plane.store.organizations.find(ORG)).toEqual(entitled);
  });

  it.each([0, 604_800_001, 1.5])('refuses %d ms', async (maxSessionTtlMs) => {
    expect(await codeOf(plane.admin.setEntitlement({ organizationId: ORG, maxSessionTtlMs }))).toBe(
      'server.ADMIN_REFUSED',
    );
  });

  it('is refused for an organization that does not exist', async () => {
    const lost = { organizationId: id('org', 9), maxSessionTtlMs: 1 };
    expect(await codeOf(plane.admin.setEntitlement(lost))).toBe('server.ADMIN_REFUSED');
  });
});
