import { describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { canonicalBytes, memoryAccess, toUtf8 } from '../../../src/bytes/index.ts';
import type { Code } from '../../../src/codes/index.ts';
import { DEFAULT_LIMITS } from '../../../src/evidence/index.ts';
import { verifyPart, type BundleReport, type VerifyPartOptions } from '../../../src/verify/index.ts';
import {
  codesOf,
  collect,
  edited,
  errorsOf,
  flipped,
  forge,
  hashOf,
  idOf,
  listingOf,
  makePart,
  makeSigner,
  makeTrust,
  NOW,
  pack,
  repacked,
  stateOf,
  unpack,
  type Json,
} from '../../support/evidence.ts';

type Row = Json & { path: string };
type Manifest = Json & { objects: Row[] };

const signer = makeSigner();
const trust = makeTrust(signer);
const part = (await makePart(1, signer)).bytes;
const entries = await unpack(part);

const verify = (bytes: Uint8Array, options: Partial<VerifyPartOptions> = {}): Promise<BundleReport> =>
  verifyPart(memoryAccess(bytes), { asOfMs: NOW, trust, ...options });

/** The part with another manifest, and the attestation that a thief of the key would make for it. */
async function withManifest(edit: (manifest: Manifest) => void, resign = true): Promise<Uint8Array> {
  const manifest = edited<Manifest>(entries.get('manifest.json'), edit);
  const forged = new Map(entries).set('manifest.json', manifest);
  const sign = (): Promise<Uint8Array> =>
    forge(entries.get('attestation.json'), signer, ({ subject }) => {
      subject.manifestDigest = hashOf(new TextDecoder().decode(manifest));
    });
  if (resign) forged.set('attestation.json', await sign());
  return pack(forged);
}

describe('the entries of a part', () => {
  test('with a changed run result fail by its digest, and no outcome is read from it', async () => {
    const path = 'objects/run-result.json';
    const bytes = entries.get(path)!;
    for (const other of [edited(bytes, (result) => void (result['verdict'] = 'failed')), toUtf8('no json')]) {
      const report = await verify(await repacked(part, (copy) => void copy.set(path, other)));
      expect(report.verdict).toBe('failed');
      expect(errorsOf(report).every((code) => code.startsWith('object.'))).toBe(true);
      expect(report.outcome).toBeUndefined();
      expect(stateOf(report, 'attestation.binding')).toBe('not_checked');
    }
  });

  test('entries in another order, with other times, modes and descriptors, verify without errors', async () => {
    const zip = new ZipFile();
    for (const [name, bytes] of [...entries].toReversed())
      zip.addBuffer(Buffer.from(bytes), name, { mtime: new Date('2024-05-06T07:08:10Z'), mode: 0o100600 });
    zip.end();
    const foreign = await collect(zip.outputStream as unknown as AsyncIterable<Uint8Array>);
    const report = await verify(foreign);
    expect(report.verdict).toBe('verified');
    expect(codesOf(report)).toEqual(['zip.METADATA_UNUSUAL', 'zip.ORDER_UNUSUAL']);
    expect(report.findings.map((finding) => finding.severity)).not.toContain('error');
  });

  test('in another order are reported for an unsigned part, too', async () => {
    const files = [...(await unpack((await makePart(1)).bytes))];
    const report = await verify(await pack(files.toReversed()));
    expect([report.verdict, codesOf(report)]).toEqual(['intact', ['bundle.UNSIGNED', 'zip.ORDER_UNUSUAL']]);
    expect(report.findings).toContainEqual(
      expect.objectContaining({ code: 'zip.ORDER_UNUSUAL', path: files.at(-1)![0] }),
    );
    expect(codesOf(await verify(await pack(files)))).toEqual(['bundle.UNSIGNED']);
  });
});

describe('the manifest of a part', () => {
  test('edited and signed again by a trusted key is verified with that key as its signer', async () => {
    const report = await verify(await withManifest((m) => void (m['createdAtMs'] = NOW - 1)));
    expect(report.verdict).toBe('verified');
  });

  test('of millions of wrong rows gives the first faults only', async () => {
    const text = `{"objects":[${'1,'.repeat(200_000)}1]}`;
    const report = await verify(await pack([['manifest.json', toUtf8(text)]]));
    expect(report.verdict).toBe('failed');
    expect(report.findings.length).toBeLessThan(1000);
  });
});

describe('the row that lists a part', () => {
  const rows: [string, unknown][] = [
    ['evidenceBundleId', idOf('evidence', 9)],
    ['projectId', idOf('prj', 9)],
    ['manifestDigest', hashOf('other')],
    ['signed', false],
  ];
  test.each(rows)('must agree with it in %s', async (field, value) => {
    const listed = await listingOf(part);
    const row = { ...listed.row, [field]: value };
    const report = await verify(part, { listed: { ...listed, row } });
    expect(report.verdict).toBe('failed');
    expect(report.findings.map(({ code, path }) => [code, path])).toEqual([
      ['part.ROW_MISMATCH', `manifest.json#/${field}`],
    ]);
  });
});

describe('what the caller expects of a part', () => {
  test.each([{ evidenceExportId: idOf('evexp', 1) }, { bundles: 1 }])(
    'of its export cannot be checked, so it is not met: %o',
    async (expected) => {
      const report = await verify(part, { expect: expected });
      expect(report.verdict).toBe('incomplete');
      expect(stateOf(report, 'bundle.expected')).toBe('not_checked');
    },
  );

  test('holds at depth digest too, by the row', async () => {
    const listed = await listingOf(part);
    const foreign = { organizationId: idOf('org', 9) };
    expect((await verify(part, { listed, depth: 'digest', expect: foreign })).verdict).toBe('failed');
    const own = { organizationId: listed.organizationId, projectId: listed.row.projectId };
    expect((await verify(part, { listed, depth: 'digest', expect: own })).verdict).toBe('intact');
  });
});

describe('a part that is not verified in full', () => {
  test('is intact without a trust store, and the report notes it', async () => {
    const report = await verifyPart(memoryAccess(part), { asOfMs: NOW });
    expect([report.verdict, report.provenance]).toEqual(['intact', 'claimed']);
    expect(codesOf(report)).toEqual(['trust.STORE_ABSENT']);
    expect(stateOf(report, 'attestation.signature')).toBe('not_checked');
    expect(stateOf(report, 'attestation.binding')).toBe('passed');
    expect(report.signer).toBeUndefined();
  });

  test('is intact at depth digest with its row, and the report lists what was not checked', async () => {
    const report = await verify(part, { listed: await listingOf(part), depth: 'digest' });
    expect([report.verdict, report.findings.length]).toEqual(['intact', 0]);
    const states = Object.fromEntries(report.checks.map(({ id, state }) => [id, state]));
    expect(states).toMatchObject({ 'part.bytes': 'passed', 'bundle.objects': 'not_checked' });
    expect(report.coverage).toMatchObject({ coveredBytes: part.length, attestedBytes: 0 });
  });

  test('is incomplete at depth digest without a row: nothing was compared', async () => {
    const report = await verify(part, { depth: 'digest' });
    expect(report.verdict).toBe('incomplete');
    expect(report.coverage.coveredBytes).toBe(0);
  });

  test('a part fails at depth digest with one byte changed, and with one byte missing', async () => {
    const listed = await listingOf(part);
    const changed = await verify(flipped(part, 100), { listed, depth: 'digest' });
    expect(errorsOf(changed)).toEqual(['part.DIGEST_MISMATCH']);
    const cut = await verify(part.slice(1), { listed, depth: 'digest' });
    expect(errorsOf(cut)).toEqual(['part.BYTES_MISMATCH']);
    expect([changed.verdict, cut.verdict]).toEqual(['failed', 'failed']);
  });
});

const sizeOf = (name: string): number => entries.get(name)!.length;

describe('limits', () => {
  const cases: [string, Partial<typeof DEFAULT_LIMITS>, Code][] = [
    ['objects', { objects: 4 }, 'bundle.OBJECTS_EXCEEDED'],
    ['bytes of the manifest', { manifestBytes: 500 }, 'json.TOO_LARGE'],
    ['bytes of the attestation', { documentBytes: 500 }, 'json.TOO_LARGE'],
    ['bytes of the run result', { runResultBytes: 500 }, 'json.TOO_LARGE'],
  ];
  test.each(cases)('of %s fail by their code when passed', async (_, limits, code) => {
    const report = await verify(part, { limits: { ...DEFAULT_LIMITS, ...limits } });
    expect(report.verdict).toBe('failed');
    expect(errorsOf(report)).toContain(code);
  });

  test('that are just met change nothing', async () => {
    const limits = {
      ...DEFAULT_LIMITS,
      objects: 5,
      manifestBytes: sizeOf('manifest.json'),
      documentBytes: sizeOf('attestation.json'),
      runResultBytes: sizeOf('objects/run-result.json'),
    };
    expect((await verify(part, { limits })).verdict).toBe('verified');
  });

  test('of the archive are those of the caller', async () => {
    expect(errorsOf(await verify(part, { zipLimits: { entries: 6 } }))).toEqual(['zip.ENTRIES_EXCEEDED']);
    expect((await verify(part, { zipLimits: { entries: 7 } })).verdict).toBe('verified');
  });
});

describe('the arguments', () => {
  test.each([Number.NaN, Infinity, 1.5])('refuse %d as the time of verification', async (asOfMs) => {
    await expect(verify(part, { asOfMs })).rejects.toThrow(TypeError);
  });

  test('refuse a depth that is none', async () => {
    await expect(verify(part, { depth: 'deep' as 'full' })).rejects.toThrow(TypeError);
  });
});

test('exactly the bytes that were read are reported', async () => {
  const { manifest } = (await makePart(1)).packed;
  const report = await verify(part);
  expect(report).toMatchObject({
    kind: 'bundle',
    evidenceBundleId: manifest.evidenceBundleId,
    organizationId: manifest.organizationId,
    projectId: manifest.projectId,
    runId: manifest.runId,
    createdAtMs: manifest.createdAtMs,
    objectCount: 5,
    archive: { bytes: part.length },
    outcome: { drillId: 'check-package', targetId: 'target-1', status: 'completed', verdict: 'passed' },
    signer: { keyId: signer.keyId },
    coverage: { totalBytes: part.length },
  });
  const sizes = [...entries].filter(([name]) => name !== 'attestation.json').map(([, bytes]) => bytes.length);
  expect(report.evidenceBytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  expect(canonicalBytes(report).length).toBeGreaterThan(0);
});
