import { describe, expect, test } from 'vitest';
import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { digestOf } from '../../../src/bytes/hash.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { attest } from '../../../src/evidence/bundle/attestation.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import { readPartFacts } from '../../../src/evidence/bundle/part.ts';
import { selectionDigest, type ExportManifest } from '../../../src/evidence/export/manifest.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import {
  editJson,
  errorsOf,
  flipBit,
  idOf,
  makeExport,
  makePart,
  makeTrust,
  NOW,
  ORGANIZATION,
  PROJECT,
  stateOf,
} from '../../support/evidence.ts';
import { omitFiles } from '../sources.ts';
import { PART, sample, SECOND, verify, type Files } from './setup.ts';

const MANIFEST = 'manifest.json';
const RESOURCE = 'export.json';
const ATTESTATION = 'export-attestation.json';

/** The export with an edited manifest, and an export.json that agrees with it: an attack without a key. */
function withManifest(edit: (manifest: ExportManifest) => void, files = sample.files): Files {
  const manifest = editJson<ExportManifest>(files[MANIFEST], (value) => {
    edit(value);
    if (Array.isArray(value.parts)) value.selectionDigest = selectionDigest(value.parts, value.localReports);
  });
  const value = JSON.parse(new TextDecoder().decode(manifest)) as ExportManifest;
  const resource = editJson(files[RESOURCE], (r) => {
    const { evidenceExportId, organizationId, scope, fromAtMs, throughAtMs } = value;
    Object.assign(r, { evidenceExportId, organizationId, scope, fromAtMs, throughAtMs });
    r['selectionDigest'] = value.selectionDigest;
    r['manifestDigest'] = digestOf(manifest);
    r['manifestBytes'] = String(manifest.length);
    r['bundleCount'] = value.parts?.length;
  });
  return { ...files, [MANIFEST]: manifest, [RESOURCE]: resource };
}

/** Lists the parts in reverse order. */
const reverseParts = ({ parts }: ExportManifest): void => {
  parts.reverse();
  parts.forEach((row, i) => void (row.ordinal = i));
};

test.each([MANIFEST, ATTESTATION])('an export with any byte of %s flipped fails', async (path) => {
  const bytes = sample.files[path]!;
  for (let offset = 0; offset < bytes.length; offset += 3) {
    const report = await verify({ ...sample.files, [path]: flipBit(bytes, offset) }, { depth: 'digest' });
    expect([offset, report.verdict]).toEqual([offset, 'failed']);
  }
});

describe('the manifest of an export', () => {
  test('must exist', async () => {
    const report = await verify(omitFiles(sample.files, MANIFEST));
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['export.MANIFEST_MISSING']]);
    for (const id of ['export.selection', 'export.files', 'export.attestation'] as const)
      expect(stateOf(report, id)).toBe('not_checked');
    expect(report.parts).toEqual([]);
    expect([report.completeness, stateOf(report, 'dsse.attestation')]).toEqual(['claimed', undefined]);
  });

  test('orders parts by creation, even if their ids are in another order', async () => {
    const later = await makePart(1, undefined, { createdAtMs: NOW - 50_000 });
    const earlier = await makePart(2, undefined, { createdAtMs: NOW - 100_000 });
    const facts = await Promise.all([earlier, later].map(({ bytes }) => readPartFacts(memoryAccess(bytes))));
    const sorted = await makeExport({ parts: 0, signedList: false, input: { parts: facts } });
    const parts = { [PART]: later.bytes, [SECOND]: earlier.bytes };
    expect(errorsOf(await verify({ ...sorted.files, ...parts }))).toEqual([]);
    const files = withManifest(reverseParts, sorted.files);
    expect(errorsOf(await verify({ ...files, ...parts }))).toEqual(['export.SELECTION_MISMATCH']);
  });

  test('orders parts of the same millisecond by id', async () => {
    const { signer } = sample;
    const same = await makeExport({ signer, signedList: false, bundle: { createdAtMs: NOW - 100_000 } });
    expect((await verify(same.files)).verdict).toBe('verified');
    expect(errorsOf(await verify(withManifest(reverseParts, same.files)))).toEqual([
      'export.SELECTION_MISMATCH',
    ]);
  });
});

test('export.json may have values that the manifest does not determine', async () => {
  const resource = editJson(sample.files[RESOURCE], (r) => void (r['requestedBy'] = 'someone else'));
  expect((await verify({ ...sample.files, [RESOURCE]: resource })).verdict).toBe('verified');
});

const pinnedDigest = { manifestDigest: sample.packed.manifestDigest };

describe('completeness', () => {
  test('of a project is attested by a key for this project alone', async () => {
    const report = await verify(sample.files, { trust: makeTrust(sample.signer, { projects: [PROJECT] }) });
    expect([report.verdict, report.completeness]).toEqual(['verified', 'attested']);
  });

  test('of a whole organization is not attested by a key for one project', async () => {
    const input = { scope: { kind: 'organization' as const } };
    const { files, signer } = await makeExport({ input });
    const limited = await verify(files, { trust: makeTrust(signer, { projects: [PROJECT] }) });
    expect([limited.verdict, limited.completeness]).toEqual(['failed', 'claimed']);
    expect(errorsOf(limited)).toEqual(['trust.PROJECT_MISMATCH']);
    const trust = makeTrust(signer, { organizations: [ORGANIZATION] });
    expect((await verify(files, { trust })).completeness).toBe('attested');
  });
});

test('an export attestation that names another export fails without a trust store, too', async () => {
  const statement = structuredClone(sample.packed.attestation!.statement);
  statement.subject.evidenceExportId = idOf('evexp', 9);
  const attestation = canonicalBytes(await attest(statement, sample.signer));
  const source = memorySource({ ...sample.files, [ATTESTATION]: attestation });
  expect((await verifyExport(source, { asOfMs: NOW })).verdict).toBe('failed');
});

const stateWith = async (projectId: string, files: Files): Promise<string | undefined> =>
  stateOf(await verify(files, { expect: { projectId } }), 'export.expected');

const broken = toUtf8('{}');

describe('the expectations about an export', () => {
  test.each([
    ['open without a manifest', { bundles: 2, projectId: PROJECT }, []],
    ['open if a part of them is met', { bundles: 2, manifestDigest: digestOf(broken) }, []],
    ['broken by the digest alone', { bundles: 2, ...pinnedDigest }, ['expect.MANIFEST_MISMATCH']],
  ] as const)('are %s', async (_, expected, codes) => {
    const report = await verify({ ...sample.files, [MANIFEST]: broken }, { expect: expected });
    expect(stateOf(report, 'export.expected')).toBe(codes.length === 0 ? 'not_checked' : 'failed');
    expect(errorsOf(report)).toEqual([...codes, 'export.MANIFEST_INVALID']);
  });

  test('do not apply when nothing is expected', async () => {
    expect(stateOf(await verify(sample.files), 'export.expected')).toBe('not_applicable');
  });

  test('about a project are not met by an export of an organization, unless all of it is of the project', async () => {
    const input = { scope: { kind: 'organization' as const } };
    const { files } = await makeExport({ signer: sample.signer, signedList: false, input });
    expect(await stateWith(PROJECT, files)).toBe('passed');
    expect(await stateWith(idOf('prj', 9), files)).toBe('failed');
    const mixed = withManifest((m) => void (m.localReports[0]!.projectId = idOf('prj', 9)), files);
    expect(await stateWith(PROJECT, mixed)).toBe('failed');
  });

  test('about a project are not met by an empty export of another project', async () => {
    const { files } = await makeExport({ parts: 0, reports: 0 });
    const report = await verify(files, { expect: { projectId: idOf('prj', 9) } });
    expect(errorsOf(report)).toContain('expect.PROJECT_MISMATCH');
  });
});
