import { describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import { DEFAULT_LIMITS } from '../../../src/evidence/document.ts';
import {
  codesOf,
  collect,
  editJson,
  errorsOf,
  flipBit,
  hashOf,
  idOf,
  listingOf,
  NOW,
  pack,
  repack,
  stateOf,
  unpack,
} from '../../support/evidence.ts';
import { entries, packed, part, signer, unsigned, verify, withManifest } from './setup.ts';

const listed = await listingOf(part);

describe('the entries of a part', () => {
  test('with a changed run result fail by its digest, and the report has no outcome', async () => {
    const path = 'objects/run-result.json';
    const bytes = entries.get(path)!;
    const edited = editJson(bytes, (result) => void (result['verdict'] = 'failed'));
    for (const other of [edited, toUtf8('no json')]) {
      const report = await verify(await repack(part, (copy) => void copy.set(path, other)));
      expect(report.verdict).toBe('failed');
      expect(errorsOf(report).every((code) => code.startsWith('object.'))).toBe(true);
      expect(report.outcome).toBeUndefined();
      expect(stateOf(report, 'attestation.binding')).toBe('not_checked');
    }
  });

  test('in another order, with other times, modes and descriptors, verify without errors', async () => {
    const zip = new ZipFile();
    for (const [name, bytes] of [...entries].toReversed())
      zip.addBuffer(Buffer.from(bytes), name, { mtime: new Date('2024-05-06T07:08:10Z'), mode: 0o100600 });
    zip.end();
    const foreign = await collect(zip.outputStream as unknown as AsyncIterable<Uint8Array>);
    const report = await verify(foreign);
    expect(report.verdict).toBe('verified');
    expect(codesOf(report)).toEqual(['zip.METADATA_UNUSUAL', 'zip.ORDER_UNUSUAL']);
    expect(errorsOf(report)).toEqual([]);
  });

  test('in another order are reported for an unsigned part, too', async () => {
    const files = [...(await unpack(unsigned))];
    const report = await verify(await pack(files.toReversed()));
    expect([report.verdict, codesOf(report)]).toEqual(['intact', ['bundle.UNSIGNED', 'zip.ORDER_UNUSUAL']]);
    const finding = { code: 'zip.ORDER_UNUSUAL', path: files.at(-1)![0] };
    expect(report.findings).toContainEqual(expect.objectContaining(finding));
    expect(codesOf(await verify(await pack(files)))).toEqual(['bundle.UNSIGNED']);
  });
});

describe('the manifest of a part', () => {
  test('edited and signed again by a trusted key is verified with that key as its signer', async () => {
    const report = await verify(await withManifest((m) => void (m['createdAtMs'] = NOW - 1)));
    expect(report.verdict).toBe('verified');
  });

  test('with many invalid rows gives only the first faults', async () => {
    const text = `{"objects":[${'1,'.repeat(200_000)}1]}`;
    const report = await verify(await pack([['manifest.json', toUtf8(text)]]));
    expect(report.verdict).toBe('failed');
    expect(report.findings.length).toBeLessThan(1000);
  });
});

describe('the row that lists a part', () => {
  test.each<[string, unknown]>([
    ['evidenceBundleId', idOf('evidence', 9)],
    ['projectId', idOf('prj', 9)],
    ['manifestDigest', hashOf('other')],
    ['signed', false],
  ])('must agree with it in %s', async (field, value) => {
    const row = { ...listed.row, [field]: value };
    const { verdict, findings } = await verify(part, { listed: { ...listed, row } });
    expect([verdict, findings.length]).toEqual(['failed', 1]);
    expect(findings).toMatchObject([{ code: 'part.ROW_MISMATCH', path: `manifest.json#/${field}` }]);
  });
});

describe('the expectations about a part', () => {
  test.each([{ evidenceExportId: idOf('evexp', 1) }, { bundles: 1 }])(
    'about its export cannot be checked, so the report is incomplete: %o',
    async (expected) => {
      const report = await verify(part, { expect: expected });
      expect(report.verdict).toBe('incomplete');
      expect(stateOf(report, 'bundle.expected')).toBe('not_checked');
    },
  );

  test('are compared with the row at depth digest', async () => {
    const { organizationId, row } = listed;
    const options = { listed, depth: 'digest' } as const;
    const other = { organizationId: idOf('org', 9) };
    expect((await verify(part, { ...options, expect: other })).verdict).toBe('failed');
    const equal = { organizationId, projectId: row.projectId };
    expect((await verify(part, { ...options, expect: equal })).verdict).toBe('intact');
  });
});

describe('a part that is not verified in full', () => {
  test('is intact at depth digest with its row, and the report lists what was not checked', async () => {
    const report = await verify(part, { listed, depth: 'digest' });
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

  test('fails at depth digest with one byte changed, and with one byte missing', async () => {
    const changed = await verify(flipBit(part, 100), { listed, depth: 'digest' });
    expect(errorsOf(changed)).toEqual(['part.DIGEST_MISMATCH']);
    const cut = await verify(part.slice(1), { listed, depth: 'digest' });
    expect(errorsOf(cut)).toEqual(['part.BYTES_MISMATCH']);
    expect([changed.verdict, cut.verdict]).toEqual(['failed', 'failed']);
  });
});

const sizeOf = (name: string): number => entries.get(name)!.length;

describe('the limits of a part', () => {
  test.each<[string, Partial<typeof DEFAULT_LIMITS>, Code]>([
    ['objects', { objects: 4 }, 'bundle.OBJECTS_EXCEEDED'],
    ['bytes of the manifest', { manifestBytes: 500 }, 'json.TOO_LARGE'],
    ['bytes of the attestation', { documentBytes: 500 }, 'json.TOO_LARGE'],
    ['bytes of the run result', { runResultBytes: 500 }, 'json.TOO_LARGE'],
  ])('of %s have their code when exceeded', async (_, limits, code) => {
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

test('the report on a part has the facts of exactly the bytes that were read', async () => {
  const { evidenceBundleId, organizationId, projectId, runId, createdAtMs } = packed.manifest;
  const report = await verify(part);
  expect(report).toMatchObject({
    kind: 'bundle',
    evidenceBundleId,
    organizationId,
    projectId,
    runId,
    createdAtMs,
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
