import { describe, expect, test } from 'vitest';
import { canonicalBytes, digestOf, memoryAccess, toUtf8 } from '../../../src/bytes/index.ts';

import {
  attest,
  memorySource,
  readPartFacts,
  selectionDigest,
  type ExportManifest,
  type ExportStatement,
} from '../../../src/evidence/index.ts';
import type { TrustedKey } from '../../../src/trust/index.ts';
import { verifyExport, type ExportReport, type VerifyExportOptions } from '../../../src/verify/index.ts';
import {
  codesOf,
  edited,
  errorsOf,
  flipped,
  idOf,
  makeExport,
  makePart,
  makeTrust,
  NOW,
  ORGANIZATION,
  PROJECT,
  stateOf,
} from '../../support/evidence.ts';

type Files = Record<string, Uint8Array>;
const MANIFEST = 'manifest.json';
const RESOURCE = 'export.json';
const ATTESTATION = 'export-attestation.json';
const SECOND = 'parts/evidence_000000000002.zip';

const made = await makeExport();
const unsigned = await makeExport({ signer: made.signer, signedList: false });

const verify = (files: Files, options: Partial<VerifyExportOptions> = {}): Promise<ExportReport> =>
  verifyExport(memorySource(files), { asOfMs: NOW, trust: makeTrust(made.signer), ...options });

const without = (path: string, files = made.files): Files =>
  Object.fromEntries(Object.entries(files).filter(([name]) => name !== path));

/** The export with another manifest, and an export.json that agrees with it: all that an editor without a key can do. */
function withManifest(edit: (manifest: ExportManifest) => void, files = made.files): Files {
  const manifest = edited<ExportManifest>(files[MANIFEST], (value) => {
    edit(value);
    if (Array.isArray(value.parts)) value.selectionDigest = selectionDigest(value.parts, value.localReports);
  });
  const value = JSON.parse(new TextDecoder().decode(manifest)) as ExportManifest;
  const resource = edited(files[RESOURCE], (r) => {
    const { evidenceExportId, organizationId, scope, fromAtMs, throughAtMs } = value;
    Object.assign(r, { evidenceExportId, organizationId, scope, fromAtMs, throughAtMs });
    r['selectionDigest'] = value.selectionDigest;
    r['manifestDigest'] = digestOf(manifest);
    r['manifestBytes'] = String(manifest.length);
    r['bundleCount'] = value.parts?.length;
  });
  return { ...files, [MANIFEST]: manifest, [RESOURCE]: resource };
}

/** The export with an export attestation that was edited and signed again by a key, trusted or not. */
async function withAttestation(
  edit: (statement: ExportStatement) => void,
  signer = made.signer,
  files = made.files,
): Promise<Files> {
  const { statement } = made.packed.attestation!;
  const copy = structuredClone(statement);
  copy.keyId = signer.keyId;
  edit(copy);
  return { ...files, [ATTESTATION]: canonicalBytes(await attest(copy, { ...signer, keyId: copy.keyId })) };
}

describe('the manifest of an export', () => {
  test('must exist', async () => {
    const report = await verify(without(MANIFEST));
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['export.MANIFEST_MISSING']]);
    expect(
      ['export.selection', 'export.files', 'export.attestation'].map((id) =>
        stateOf(report, id as 'export.files'),
      ),
    ).toEqual(['not_checked', 'not_checked', 'not_checked']);
    expect(report.parts).toEqual([]);
    // A digest that nobody pinned is not that of a manifest that is not there; nor were envelopes given.
    expect([report.completeness, stateOf(report, 'dsse.attestation')]).toEqual(['claimed', undefined]);
  });

  test('fails with any byte flipped, never verified', async () => {
    const bytes = made.files[MANIFEST]!;
    for (let offset = 0; offset < bytes.length; offset += 3) {
      const report = await verify({ ...made.files, [MANIFEST]: flipped(bytes, offset) }, { depth: 'digest' });
      expect([offset, report.verdict]).toEqual([offset, 'failed']);
    }
  });

  test('without one bundle is noticed only by a pinned digest or the number of bundles', async () => {
    const cut = (await makeExport({ signer: made.signer, parts: 1, signedList: false })).files;
    const report = await verify(cut);
    expect([report.verdict, report.completeness]).toEqual(['verified', 'claimed']);
    expect(codesOf(report)).toEqual(['export.COMPLETENESS_CLAIMED']);
    const pinned = await verify(cut, { expect: { manifestDigest: unsigned.packed.manifestDigest } });
    expect([pinned.verdict, errorsOf(pinned)]).toEqual(['failed', ['expect.MANIFEST_MISMATCH']]);
    expect(pinned.completeness).toBe('claimed');
    const counted = await verify(cut, { expect: { bundles: 2 } });
    expect([counted.verdict, errorsOf(counted)]).toEqual(['failed', ['expect.BUNDLES_MISMATCH']]);
  });

  test('orders parts by creation, even if their ids are in another order', async () => {
    const later = await makePart(1, undefined, { createdAtMs: NOW - 50_000 });
    const earlier = await makePart(2, undefined, { createdAtMs: NOW - 100_000 });
    const facts = await Promise.all([earlier, later].map(({ bytes }) => readPartFacts(memoryAccess(bytes))));
    const sorted = await makeExport({ parts: 0, signedList: false, input: { parts: facts } });
    const parts = { 'parts/evidence_000000000001.zip': later.bytes, [SECOND]: earlier.bytes };
    expect(errorsOf(await verify({ ...sorted.files, ...parts }))).toEqual([]);
    const files = withManifest((m) => {
      m.parts.reverse();
      m.parts.forEach((row, i) => void (row.ordinal = i));
    }, sorted.files);
    expect(errorsOf(await verify({ ...files, ...parts }))).toEqual(['export.SELECTION_MISMATCH']);
  });

  test('orders parts of the same millisecond by id', async () => {
    const { signer } = made;
    const same = await makeExport({ signer, signedList: false, bundle: { createdAtMs: NOW - 100_000 } });
    expect((await verify(same.files)).verdict).toBe('verified');
    const files = withManifest((m) => {
      m.parts.reverse();
      m.parts.forEach((row, i) => void (row.ordinal = i));
    }, same.files);
    expect(errorsOf(await verify(files))).toEqual(['export.SELECTION_MISMATCH']);
  });
});

describe('export.json', () => {
  test('must exist', async () => {
    const report = await verify(without(RESOURCE));
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['export.RESOURCE_MISSING']]);
  });

  test('may have values that the manifest does not determine', async () => {
    const resource = edited(made.files[RESOURCE], (r) => void (r['requestedBy'] = 'someone else'));
    expect((await verify({ ...made.files, [RESOURCE]: resource })).verdict).toBe('verified');
  });
});

const withKey = (rest: Partial<TrustedKey>): Partial<VerifyExportOptions> => ({
  trust: makeTrust(made.signer, rest),
});

const pinnedDigest = (): { manifestDigest: `sha256:${string}` } => ({
  manifestDigest: made.packed.manifestDigest,
});

describe('completeness', () => {
  test('is attested by a trusted key, and pinned by the caller even then', async () => {
    expect((await verify(made.files)).completeness).toBe('attested');
    const report = await verify(made.files, { expect: pinnedDigest() });
    expect([report.verdict, report.completeness]).toEqual(['verified', 'pinned']);
    expect(report.signer).toBeDefined();
  });

  test('is pinned without an attestation, and claimed with neither', async () => {
    const expected = { manifestDigest: unsigned.packed.manifestDigest };
    const pinned = await verify(unsigned.files, { expect: expected });
    expect([pinned.verdict, pinned.completeness, pinned.findings]).toEqual(['verified', 'pinned', []]);
    const claimed = await verify(unsigned.files);
    expect([claimed.verdict, claimed.completeness]).toEqual(['verified', 'claimed']);
    expect(stateOf(claimed, 'export.attestation')).toBe('not_applicable');
  });

  test('is claimed without a trust store, and pinned without one by the caller', async () => {
    const claimed = await verifyExport(memorySource(made.files), { asOfMs: NOW });
    expect(claimed.completeness).toBe('claimed');
    const pinned = await verifyExport(memorySource(made.files), { asOfMs: NOW, expect: pinnedDigest() });
    expect([pinned.verdict, pinned.completeness]).toEqual(['intact', 'pinned']);
  });

  test('of a project is attested by a key for this project alone', async () => {
    const report = await verify(made.files, withKey({ projects: [PROJECT] }));
    expect([report.verdict, report.completeness]).toEqual(['verified', 'attested']);
  });

  test('of a whole organization is not attested by a key for one project', async () => {
    const input = { scope: { kind: 'organization' as const } };
    const { files, signer } = await makeExport({ input });
    const limited = await verifyExport(memorySource(files), {
      asOfMs: NOW,
      trust: makeTrust(signer, { projects: [PROJECT] }),
    });
    expect([limited.verdict, limited.completeness]).toEqual(['failed', 'claimed']);
    expect(errorsOf(limited)).toEqual(['trust.PROJECT_MISMATCH']);
    const whole = { asOfMs: NOW, trust: makeTrust(signer, { organizations: [ORGANIZATION] }) };
    expect((await verifyExport(memorySource(files), whole)).completeness).toBe('attested');
  });
});

const judgedAt = async (issuedAtMs: number): Promise<ExportReport> =>
  verify(await withAttestation((s) => void (s.issuedAtMs = issuedAtMs)));

describe('the export attestation', () => {
  test('may be of this millisecond, and not of the next', async () => {
    expect((await judgedAt(NOW)).completeness).toBe('attested');
    const report = await judgedAt(NOW + 1);
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['attestation.ISSUED_IN_FUTURE']]);
  });

  test('fails with any byte flipped', async () => {
    const bytes = made.files[ATTESTATION]!;
    for (let offset = 0; offset < bytes.length; offset += 3) {
      const report = await verify(
        { ...made.files, [ATTESTATION]: flipped(bytes, offset) },
        { depth: 'digest' },
      );
      expect([offset, report.verdict]).toEqual([offset, 'failed']);
    }
  });

  test('that fails without a trust store still fails', async () => {
    const files = await withAttestation((s) => void (s.subject.evidenceExportId = idOf('evexp', 9)));
    expect((await verifyExport(memorySource(files), { asOfMs: NOW })).verdict).toBe('failed');
  });
});

const expectedOf = async (projectId: string, files: Files): Promise<string | undefined> =>
  stateOf(await verify(files, { expect: { projectId } }), 'export.expected');

describe('what the caller expects of an export', () => {
  test('is open without a manifest, except that a digest that does not match fails', async () => {
    const damaged = { ...made.files, [MANIFEST]: toUtf8('{}') };
    const counted = await verify(damaged, { expect: { bundles: 2, projectId: PROJECT } });
    expect([stateOf(counted, 'export.expected'), errorsOf(counted)]).toEqual([
      'not_checked',
      ['export.MANIFEST_INVALID'],
    ]);
    const pinned = await verify(damaged, {
      expect: { bundles: 2, manifestDigest: made.packed.manifestDigest },
    });
    expect(errorsOf(pinned)).toEqual(['expect.MANIFEST_MISMATCH', 'export.MANIFEST_INVALID']);
  });

  test('does not apply when nothing is expected', async () => {
    expect(stateOf(await verify(made.files), 'export.expected')).toBe('not_applicable');
  });

  test('is open where a part of it could not be read, though the rest is met', async () => {
    const damaged = toUtf8('{}');
    const report = await verify(
      { ...made.files, [MANIFEST]: damaged },
      { expect: { manifestDigest: digestOf(damaged), bundles: 2 } },
    );
    expect([stateOf(report, 'export.expected'), errorsOf(report)]).toEqual([
      'not_checked',
      ['export.MANIFEST_INVALID'],
    ]);
  });

  test('of a project is not met by an export of an organization, unless all of it is of the project', async () => {
    const input = { scope: { kind: 'organization' as const } };
    const { files } = await makeExport({ signer: made.signer, signedList: false, input });
    expect(await expectedOf(PROJECT, files)).toBe('passed');
    expect(await expectedOf(idOf('prj', 9), files)).toBe('failed');
    const mixed = withManifest((m) => void (m.localReports[0]!.projectId = idOf('prj', 9)), files);
    expect(await expectedOf(PROJECT, mixed)).toBe('failed');
  });

  test('of a project is not met by an export of another project, however empty', async () => {
    const { files } = await makeExport({ parts: 0, reports: 0 });
    const report = await verify(files, { expect: { projectId: idOf('prj', 9) } });
    expect(errorsOf(report)).toContain('expect.PROJECT_MISMATCH');
  });
});
