import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import { packExport, type ExportInput } from '../../../src/evidence/export/pack-export.ts';
import { parseExportAttestation } from '../../../src/evidence/bundle/attestation.ts';
import {
  parseExportManifest,
  parseExportResource,
  selectionDigest,
  sumBytes,
} from '../../../src/evidence/export/manifest.ts';
import { readPartFacts, type PartFacts } from '../../../src/evidence/bundle/part.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import {
  hashOf,
  idOf,
  ISSUER,
  makeExportInput,
  makePart,
  makeReport,
  makeSigner,
  makeTrust,
  NOW,
} from '../../support/evidence.ts';

const signer = makeSigner();
const signing = { signer, issuer: ISSUER, issuedAtMs: NOW };
const invalid = { code: 'pack.INPUT_INVALID' };

const factsOf = async (n: number, rest = {}): Promise<PartFacts> =>
  readPartFacts(memoryAccess((await makePart(n, signer, rest)).bytes));
const same = { createdAtMs: NOW - 100_000 };

const parts = [await factsOf(3, same), await factsOf(1, { createdAtMs: NOW - 1 }), await factsOf(2, same)];

const input = (rest: Partial<ExportInput> = {}): ExportInput => ({
  ...makeExportInput(parts),
  createdAtMs: NOW,
  completedAtMs: NOW,
  localReports: [makeReport(2).facts, makeReport(1).facts],
  ...rest,
});

describe('packing an export', () => {
  test('sorts bundles and reports by creation, then by id', async () => {
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

  test('writes documents in order that parse', async () => {
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
    const counts = { bundleCount: 3, completedBundleCount: 3, localReportCount: 2 };
    expect(resource).toMatchObject({ ...counts, state: 'available' });
    const rows = [...manifest.parts, ...manifest.localReports];
    expect(resource.archiveBytes).toBe(String(rows.reduce((sum, row) => sum + Number(row.bytes), 0)));
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
    const report = makeReport(1).facts;
    const late = input({ parts: [], localReports: [report], throughAtMs: report.createdAtMs });
    await expect(packExport(late)).rejects.toMatchObject(invalid);
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
    ['an empty name of the requester', { requestedBy: '' }],
    ['half a millisecond as the time of creation', { createdAtMs: 0.5 }],
  ])('refuses %s', async (_, rest) => {
    await expect(packExport(input(rest))).rejects.toMatchObject(invalid);
  });

  test('refuses a bundle or a report that occurs twice, up to case', async () => {
    await expect(packExport(input({ parts: [...parts, parts[0]!] }))).rejects.toMatchObject(invalid);
    const report = makeReport(1).facts;
    const twin = { ...report, localReportId: report.localReportId.toUpperCase() };
    await expect(packExport(input({ localReports: [report, twin] }))).rejects.toMatchObject(invalid);
  });

  test('accepts several projects only in an export of an organization', async () => {
    const other = await factsOf(4, { projectId: idOf('prj', 2) });
    const all = { parts: [...parts, other] };
    await expect(packExport(input(all))).rejects.toMatchObject(invalid);
    const { manifest } = await packExport(input({ ...all, scope: { kind: 'organization' } }));
    expect(new Set(manifest.parts.map((row) => row.projectId)).size).toBe(2);
  });

  test.each([
    ['no issuer', { issuer: '' }],
    ['no time', { issuedAtMs: Number.NaN }],
  ])('does not sign a statement that verifiers would refuse: %s', async (_, rest) => {
    await expect(packExport(input(), { ...signing, ...rest })).rejects.toMatchObject(invalid);
  });

  test('accepts no parts, and the export has nothing to verify', async () => {
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
