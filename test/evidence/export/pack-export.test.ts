import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import {
  memorySource,
  packExport,
  parseExportAttestation,
  parseExportManifest,
  parseExportResource,
  readPartFacts,
  selectionDigest,
  sumBytes,
  type ExportInput,
  type PartFacts,
} from '../../../src/evidence/index.ts';
import { verifyExport } from '../../../src/verify/index.ts';
import {
  EXPORT_ID,
  hashOf,
  idOf,
  ISSUER,
  makePart,
  makeReport,
  makeSigner,
  makeTrust,
  NOW,
  ORGANIZATION,
  PROJECT,
} from '../../support/evidence.ts';

const signer = makeSigner();
const signing = { signer, issuer: ISSUER, issuedAtMs: NOW };
const invalid = { code: 'pack.INPUT_INVALID' };

const factsOf = async (n: number, rest = {}): Promise<PartFacts> =>
  readPartFacts(memoryAccess((await makePart(n, signer, rest)).bytes));
const same = { createdAtMs: NOW - 100_000 };

const parts = [await factsOf(3, same), await factsOf(1, { createdAtMs: NOW - 1 }), await factsOf(2, same)];

const input = (rest: Partial<ExportInput> = {}): ExportInput => ({
  evidenceExportId: EXPORT_ID,
  organizationId: ORGANIZATION,
  scope: { kind: 'project', projectId: PROJECT },
  fromAtMs: NOW - 200_000,
  throughAtMs: NOW,
  operationId: idOf('op', 1),
  requestedBy: 'tester',
  createdAtMs: NOW,
  completedAtMs: NOW,
  parts,
  localReports: [makeReport(2).facts, makeReport(1).facts],
  ...rest,
});

describe('packing an export', () => {
  test('puts bundles and reports in order of creation, then of their ids, whatever order they come in', async () => {
    const packed = await packExport(input());
    const { manifest } = packed;
    expect(manifest.parts.map((row) => [row.ordinal, row.evidenceBundleId])).toEqual([
      [0, idOf('evidence', 2)],
      [1, idOf('evidence', 3)],
      [2, idOf('evidence', 1)],
    ]);
    expect(manifest.localReports.map((row) => row.localReportId)).toEqual([idOf('lrep', 1), idOf('lrep', 2)]);
    const other = await packExport(
      input({ parts: parts.toReversed(), localReports: input().localReports.toReversed() }),
    );
    expect(other.documents).toEqual(packed.documents);
  });

  test('writes documents that its own parsers read, in their order', async () => {
    const { documents, manifest, resource, attestation } = await packExport(input(), signing);
    const [first, second, third] = documents;
    expect(documents.map(({ path }) => path)).toEqual([
      'manifest.json',
      'export.json',
      'export-attestation.json',
    ]);
    expect(parseExportManifest(first!.bytes)).toEqual(manifest);
    expect(parseExportResource(second!.bytes)).toEqual(resource);
    expect(parseExportAttestation(third!.bytes)).toEqual(attestation);
  });

  test('counts and sums its content', async () => {
    const { resource, manifest } = await packExport(input());
    expect(resource).toMatchObject({
      bundleCount: 3,
      completedBundleCount: 3,
      localReportCount: 2,
      state: 'available',
    });
    const archives = [...manifest.parts, ...manifest.localReports].reduce(
      (sum, row) => sum + Number(row.bytes),
      0,
    );
    expect(resource.archiveBytes).toBe(String(archives));
    expect(resource.sourceBytes).toBe(String(parts.reduce((sum, part) => sum + part.totalBytes, 2000)));
    expect(resource.selectionDigest).toBe(selectionDigest(manifest.parts, manifest.localReports));
    const without = await packExport(input({ localReports: [] }));
    expect(without.resource).not.toHaveProperty('localReportCount');
  });

  test('takes bundles that were created in the window, from inclusive to exclusive', async () => {
    const created = NOW - 100_000;
    const only = parts.filter((part) => part.manifest.createdAtMs === created);
    const within = (fromAtMs: number, throughAtMs: number): Promise<unknown> =>
      packExport(input({ fromAtMs, throughAtMs, parts: only, localReports: [] }));
    await expect(within(created, created + 1)).resolves.toBeDefined();
    await expect(within(created + 1, NOW)).rejects.toMatchObject(invalid);
    await expect(within(0, created)).rejects.toMatchObject(invalid);
    const reports = [makeReport(1).facts];
    const { createdAtMs } = reports[0]!;
    await expect(
      packExport(input({ parts: [], localReports: reports, throughAtMs: createdAtMs })),
    ).rejects.toMatchObject(invalid);
  });

  test.each<[string, Partial<ExportInput>]>([
    ['another organization', { organizationId: idOf('org', 9) }],
    ['another project', { scope: { kind: 'project', projectId: idOf('prj', 9) } }],
    [
      'a window that ends before it begins',
      { fromAtMs: NOW, throughAtMs: NOW - 1, parts: [], localReports: [] },
    ],
    ['a wrong id', { evidenceExportId: 'evexp' }],
    ['a wrong operation', { operationId: 'op' }],
    ['nobody who asked', { requestedBy: '' }],
    ['a time of creation that is none', { createdAtMs: 0.5 }],
  ])('refuses %s', async (_, rest) => {
    await expect(packExport(input(rest))).rejects.toMatchObject(invalid);
  });

  test('refuses a bundle or a report that occurs twice, up to case', async () => {
    await expect(packExport(input({ parts: [...parts, parts[0]!] }))).rejects.toMatchObject(invalid);
    const report = makeReport(1).facts;
    const twin = { ...report, localReportId: report.localReportId.toUpperCase() };
    await expect(packExport(input({ localReports: [report, twin] }))).rejects.toMatchObject(invalid);
  });

  test('takes projects of one organization together', async () => {
    const other = await readPartFacts(
      memoryAccess((await makePart(4, signer, { projectId: idOf('prj', 2) })).bytes),
    );
    const all = { parts: [...parts, other] };
    await expect(packExport(input(all))).rejects.toMatchObject(invalid);
    const { manifest } = await packExport(input({ ...all, scope: { kind: 'organization' } }));
    expect(new Set(manifest.parts.map((row) => row.projectId)).size).toBe(2);
  });

  test.each([
    ['no issuer', { issuer: '' }],
    ['no time', { issuedAtMs: Number.NaN }],
  ])('signs nothing that no verifier would read: %s', async (_, rest) => {
    await expect(packExport(input(), { ...signing, ...rest })).rejects.toMatchObject(invalid);
  });

  test('without parts is an export, and has nothing to verify', async () => {
    const { documents } = await packExport(input({ parts: [], localReports: [] }), signing);
    const files = Object.fromEntries(documents.map(({ path, bytes }) => [path, bytes]));
    const report = await verifyExport(memorySource(files), { asOfMs: NOW, trust: makeTrust(signer) });
    expect([report.verdict, report.findings.map(({ code }) => code)]).toEqual([
      'incomplete',
      ['export.EMPTY'],
    ]);
  });
});

test('the selection digest covers ids, digests and order, and distinguishes parts from reports', () => {
  const [a, b] = ['a', 'b'].map((id) => ({ evidenceBundleId: id, manifestDigest: hashOf(id) }));
  const report = { localReportId: 'a', manifestDigest: hashOf('a') };
  const digests = [
    selectionDigest([], []),
    selectionDigest([a!], []),
    selectionDigest([], [report]),
    selectionDigest([a!, b!], []),
    selectionDigest([b!, a!], []),
    selectionDigest([{ ...a!, manifestDigest: hashOf('c') }], []),
  ];
  expect(new Set(digests).size).toBe(digests.length);
  expect(selectionDigest([], [])).toBe(hashOf('[]'));
});

test('sums of bytes are exact at any size', () => {
  expect(sumBytes([])).toBe('0');
  expect(sumBytes(['9007199254740993', '1', '99999999999999999999999999999999999999'])).toBe(
    '100000000000000000000009007199254740993',
  );
});
