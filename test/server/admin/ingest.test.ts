import { expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { fromUtf8, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import { evidenceBundleSchema, type EvidenceExport } from '../../../src/contract/resources/evidence.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import {
  buildArchive,
  EXPORT,
  exportFiles,
  ingestReports,
  FOREIGN_PROJECT,
  HASH,
  id,
  localReport,
  NOW_MS,
  ORG,
  OTHER_ORG,
  part,
  PROJECT,
  SECOND_PROJECT,
  signer,
  SOURCE,
  makePlane,
  type ExportMake,
  type Plane,
} from '../make.ts';
import { editJson, flipBit, type Json } from '../../support/evidence.ts';
import { codeOf, expectRefused, thrownBy } from '../thrown.ts';
import { eachTest } from '../each-test.ts';

const plane = eachTest();

const ingestPart = async (bytes: Uint8Array | Promise<Uint8Array>, projectId: string = PROJECT) =>
  plane.admin.ingestBundle(projectId, memoryAccess(await bytes));
const findBundle = (n: number) => plane.store.bundles.find(PROJECT, id('evidence', n));

it('new tenants get ids of the documented form when none is given', async () => {
  const { organizationId } = await plane.admin.createOrganization({ name: 'new' });
  const { projectId } = await plane.admin.createProject({ organizationId, name: 'new' });
  expect([organizationId, projectId]).toEqual([
    expect.stringMatching(/^org_[0-9a-z]{12,32}$/),
    expect.stringMatching(/^prj_[0-9a-z]{12,32}$/),
  ]);
});

it('each new token of 256 random bits is shown once', async () => {
  const input = { organizationId: ORG, projects: 'all' as const, permissions: ['evidence.read' as const] };
  const tokens = await Promise.all(Array.from({ length: 20 }, () => plane.admin.createToken(input)));
  for (const { token } of tokens) expect(token).toMatch(/^dp_[A-Za-z0-9_-]{43}$/);
  expect(new Set(tokens.map(({ token }) => token)).size).toBe(20);
  expect(JSON.stringify(await plane.store.tokens.list(ORG))).not.toContain(tokens[0]!.token);
});

it('invalid tenants and tokens are refused, and those that contradict stored ones', async () => {
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
  await Promise.all(refusals.map((refusal) => expectRefused(refusal)));
});

it('an ingested bundle has metadata with its attestation', async () => {
  const bytes = await part(1, { key: signer() });
  const { bundle, created } = await ingestPart(bytes);
  expect(created).toBe(true);
  const ids = { evidenceBundleId: id('evidence', 1), projectId: PROJECT };
  expect(evidenceBundleSchema.parse(bundle)).toMatchObject({ ...ids, signed: true, state: 'available' });
  expect(bundle.attestation?.statement.subject.manifestDigest).toBe(bundle.manifestDigest);
  expect(bundle.storage.totalBytes).toBe(bundle.storage.manifestBytes + bundle.storage.artifactBytes);
  expect(await findBundle(1)).toMatchObject({
    archive: { digest: digestOf(bytes), bytes: bytes.length },
    resource: bundle,
  });
});

it('a second ingest of the same bundle changes nothing, and a different bundle with its id is refused', async () => {
  const bytes = await part(1);
  await ingestPart(bytes);
  const before = await findBundle(1);
  plane.clock.nowMs += 1000;
  expect((await ingestPart(bytes)).created).toBe(false);
  await expectRefused(ingestPart(part(1, { createdAtMs: NOW_MS - 1 })));
  expect(await findBundle(1)).toEqual(before);
});

it('ingest refuses a bundle of another project or organization', async () => {
  for (const projectId of [SECOND_PROJECT, FOREIGN_PROJECT, id('prj', 99)])
    await expectRefused(ingestPart(part(1), projectId));
  await expectRefused(ingestPart(part(1, { organizationId: OTHER_ORG })));
});

it('ingest refuses a damaged bundle with its findings and stores nothing', async () => {
  const bytes = await part(1, { key: signer() });
  for (let at = 0; at < bytes.length; at += 97) {
    const damaged = ingestPart(flipBit(bytes, at, 0));
    // A change that the ZIP reader only notes, such as a time, is not damage.
    const error = await damaged.then(
      () => undefined,
      () => thrownBy(damaged),
    );
    if (error !== undefined) expect(error.details?.['findings']).not.toEqual([]);
  }
  await expectRefused(ingestPart(bytes.subarray(0, bytes.length >> 1), SECOND_PROJECT));
});

it('ingest reports an unreadable part as unreadable, not as damaged', async () => {
  const error = new DrillproofError('io.UNREADABLE', 'the disk broke');
  const broken = { size: 1_000, read: () => Promise.reject(error) };
  await expectRefused(plane.admin.ingestBundle(PROJECT, broken), 'io.UNREADABLE');
});

const ingestReport = (claims: unknown, bytes = localReport(1).bytes) =>
  plane.admin.ingestLocalReport(PROJECT, memoryAccess(bytes), claims);

it('ingest stores the claims of the uploader of a local report, and a second ingest changes nothing', async () => {
  const { bytes, metadata } = localReport(1);
  expect(await ingestReport(metadata)).toEqual({ localReportId: id('lrep', 1), created: true });
  plane.clock.nowMs += 1;
  expect(await ingestReport(metadata)).toEqual({ localReportId: id('lrep', 1), created: false });

  expect((await plane.store.localReports.find(PROJECT, id('lrep', 1)))?.source).toMatchObject({
    archiveBytes: bytes.length,
    submissionDigest: digestOf(bytes),
    verifiedAtMs: NOW_MS,
  });
});

it('ingest derives the id of a local report from its bytes by default', async () => {
  const { localReportId: _localReportId, ...claims } = localReport(1).metadata;
  const first = await ingestReport(claims);
  expect(first.localReportId).toMatch(/^lrep_[0-9a-z]{12,32}$/);
  expect(await ingestReport(claims)).toEqual({ ...first, created: false });
});

it('ingest refuses different bytes or claims under the id of a local report, and invalid claims', async () => {
  const { metadata } = localReport(1);
  await ingestReport(metadata);
  await expectRefused(ingestReport(metadata, toUtf8('other')));
  const wrong = [{ ...metadata, uploadedBy: 'another' }, { ...metadata, trust: 'attested' }, {}, null];
  for (const claims of wrong) await expectRefused(ingestReport(claims));
});

it.each(['artifactCount', 'expandedBytes'])(
  'ingest refuses a negative %s of a local report, which readers accept',
  async (name) => {
    const { metadata } = localReport(1);
    await expectRefused(ingestReport({ ...metadata, summary: { ...metadata.summary, [name]: -1 } }));
  },
);

const ingestExport = async (make: ExportMake = {}, change: Change = () => {}) => {
  const { files, reports } = await exportFiles(make);
  await ingestReports(plane, reports);
  change(files);
  return plane.admin.ingestExport(memorySource(files));
};
const expectNothingStored = async () => expect(await plane.store.exports.list(ORG, -1, 10)).toEqual([]);

type Change = (files: Record<string, Uint8Array>) => void;
const edit =
  (path: string, over: Json): Change =>
  (files) => {
    files[path] = editJson(files[path], (document) => ({ ...document, ...over }));
  };
type Statement = { statement: { subject: Partial<EvidenceExport> } };
const editSubject =
  (over: Partial<EvidenceExport>): Change =>
  (files) => {
    const path = 'export-attestation.json';
    files[path] = editJson<Statement>(
      files[path],
      ({ statement }) => void Object.assign(statement.subject, over),
    );
  };
const DIFFERENT = 'export.RESOURCE_MISMATCH';
const SUBJECT = 'export.ATTESTATION_SUBJECT_MISMATCH';
const PART = `parts/${id('evidence', 1)}.zip`;
const REPORT = `local-reports/${id('lrep', 1)}.zip`;

it('ingest stores the bundles and local reports of an export', async () => {
  const key = signer();
  const parts = [await part(1, { key }), await part(2)];
  const { resource, created } = await ingestExport({ parts, reports: [1, 2], key });
  expect([created, resource.bundleCount, resource.localReportCount]).toEqual([true, 2, 2]);
  expect(await findBundle(2)).toBeDefined();
  expect(await plane.store.localReports.find(PROJECT, id('lrep', 2))).toBeDefined();
  expect(await plane.store.exports.find(ORG, EXPORT)).toMatchObject({ ordinal: 0 });
});

it('a second ingest of an export changes nothing, even without its parts, and another manifest is refused', async () => {
  await ingestExport();
  expect((await ingestExport()).created).toBe(false);
  const { created } = await ingestExport({}, (files) => delete files[PART]);
  expect(created).toBe(false);
  await expectRefused(ingestExport({ parts: [await part(2)] }), 'export.CHANGED');
  expect(await plane.store.exportParts.find(ORG, EXPORT, id('evidence', 2))).toBeUndefined();
  expect(await plane.store.exports.list(ORG, -1, 10)).toHaveLength(1);
});

it('an ingested export uses bundles and local reports that are already stored', async () => {
  await ingestPart(part(1));
  await ingestReport(localReport(1).metadata);
  const { files } = await exportFiles({ reports: [1] });
  expect((await plane.admin.ingestExport(memorySource(files))).created).toBe(true);
});

it('ingest refuses an export with a local report that is not stored', async () => {
  const { files } = await exportFiles({ reports: [1] });
  await expectRefused(plane.admin.ingestExport(memorySource(files)));
  await expectNothingStored();
});

it.each<[string, Code, Change]>([
  ['a damaged part', 'server.ADMIN_REFUSED', (files) => void (files[PART] = flipBit(files[PART]!, 200, 0))],
  ['a missing part', 'io.NOT_FOUND', (files) => delete files[PART]],
  ['another report archive', 'control.UPLOAD_MISMATCH', (files) => void (files[REPORT] = toUtf8('other'))],
  ['no manifest', 'io.NOT_FOUND', (files) => delete files['manifest.json']],
  ['no resource', 'io.NOT_FOUND', (files) => delete files['export.json']],
  ['a resource that differs', DIFFERENT, edit('export.json', { bundleCount: 2 })],
  ['a resource that is not available', DIFFERENT, edit('export.json', { state: 'pending' })],
  ['an edited manifest', DIFFERENT, edit('manifest.json', { fromAtMs: 0 })],
  ['an attestation of another export', SUBJECT, editSubject({ evidenceExportId: id('evexp', 9) })],
  ['an attestation of another organization', SUBJECT, editSubject({ organizationId: OTHER_ORG })],
  ['an attestation of another manifest', SUBJECT, editSubject({ manifestDigest: HASH })],
  [
    'a manifest that is not canonical',
    'json.NOT_CANONICAL',
    (files) => void (files['manifest.json'] = toUtf8(` ${fromUtf8(files['manifest.json']!)}`)),
  ],
])('ingest refuses an export with %s and stores none of its rows', async (_, code, change) => {
  await expectRefused(ingestExport({ reports: [1], key: signer() }, change), code);
  await expectNothingStored();
  expect(await findBundle(1)).toBeUndefined();
});

it('ingest refuses an export of another organization or with a project that does not exist', async () => {
  const stranger = await makePlane();
  const { admin } = stranger;
  const { files } = await exportFiles();
  await expectRefused(admin.ingestExport(memorySource(files)));
  await admin.createOrganization({ organizationId: ORG, name: 'x' });
  await expectRefused(admin.ingestExport(memorySource(files)));
  await stranger.close();
});

it('ingest writes a blob before the row that names it', async () => {
  const order: string[] = [];
  const blobs: Plane['blobs'] = {
    ...plane.blobs,
    put: (...values) => plane.blobs.put(...values).finally(() => order.push('blob')),
    putVerified: (...values) => plane.blobs.putVerified(...values).finally(() => order.push('blob')),
  };
  const transaction: Plane['store']['transaction'] = (work) => {
    order.push('transaction');
    return plane.store.transaction(work);
  };
  const store = { ...plane.store, transaction };
  const { files, reports } = await exportFiles({ reports: [1], key: signer() });
  const admin = createAdmin({ store, blobs, now: () => NOW_MS });
  await ingestReports({ admin }, reports);
  expect(order.splice(0)).toEqual(['blob', 'transaction']);
  await admin.ingestExport(memorySource(files));

  // One transaction for the bundles, and one for the export that lists them.
  expect(order).toEqual(['blob', 'blob', 'blob', 'blob', 'transaction', 'transaction']);
});

const ingestBuild = (bytes: Uint8Array) => plane.admin.ingestBuild(PROJECT, memoryAccess(bytes));

it('ingest stores a build with a succeeded attempt, and a second ingest changes nothing', async () => {
  const { bytes, buildHash } = await buildArchive();
  const first = await ingestBuild(bytes);
  expect(first).toMatchObject({ buildHash, created: true });
  expect(await ingestBuild(bytes)).toEqual({ ...first, created: false });
  const attempt = await plane.store.buildAttempts.find(PROJECT, first.buildAttemptId);
  const done = { state: 'succeeded', buildHash, expectedArtifactDigest: digestOf(bytes) };
  expect(attempt?.resource).toMatchObject(done);
});

it.each<[string, Code, ...Parameters<typeof buildArchive>]>([
  ['no lock', 'build.ARCHIVE_INVALID', SOURCE, { drop: 'build.json' }],
  ['an invalid lock', 'build.ARCHIVE_INVALID', SOURCE, { lock: () => ({ kind: 'build' }) }],
  ['an unlisted file', 'build.ARCHIVE_INVALID', SOURCE, { extra: { 'other.js': toUtf8('1') } }],
  ['a missing source', 'build.PACKAGE_INVALID', SOURCE, { drop: 'greeter/index.js' }],
  ['another source', 'build.PACKAGE_INVALID', SOURCE, { extra: { 'greeter/index.js': toUtf8('evil()') } }],
  ['another manifest', 'build.PACKAGE_INVALID', SOURCE, { extra: { 'greeter/package.json': toUtf8('1') } }],
  ['another asset', 'build.PACKAGE_INVALID', SOURCE, { extra: { 'greeter/ui.html': toUtf8('<p>x</p>') } }],
  ['a source that is not UTF-8', 'build.PACKAGE_INVALID', Uint8Array.of(0x61, 0xff)],
])('ingest refuses a build with %s', async (_, code, source, change) => {
  const { bytes, buildHash } = await buildArchive(source, change);
  await expectRefused(ingestBuild(bytes), code);
  expect(await plane.store.builds.find(PROJECT, buildHash)).toBeUndefined();
});

it('ingest refuses a file that is not a ZIP, and one larger than 64 MiB without reading it', async () => {
  expect(await codeOf(ingestBuild(toUtf8('not an archive')))).toMatch(/^zip\./);
  const large = { size: 64 * 1024 * 1024 + 1, read: () => Promise.reject(new Error('was read')) };
  await expectRefused(plane.admin.ingestBuild(PROJECT, large), 'json.TOO_LARGE');
});

it.each([1, 604_800_000])('an entitlement of %d ms is stored', async (maxSessionTtlMs) => {
  const { usage: _usage, ...entitled } = await plane.admin.setEntitlement({
    organizationId: ORG,
    maxSessionTtlMs,
  });
  expect(entitled).toMatchObject({ name: 'first', maxSessionTtlMs });
  expect(await plane.store.organizations.find(ORG)).toEqual(entitled);
});

it.each([0, 604_800_001, 1.5])('an entitlement of %d ms is refused', (maxSessionTtlMs) =>
  expectRefused(plane.admin.setEntitlement({ organizationId: ORG, maxSessionTtlMs })),
);

it('an entitlement of an organization that does not exist is refused', () =>
  expectRefused(plane.admin.setEntitlement({ organizationId: id('org', 9), maxSessionTtlMs: 1 })));
