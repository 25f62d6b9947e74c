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
  const README = 'objects/files/readme.txt';
  const cases: [string, Code, (copy: Map<string, Uint8Array>) => void][] = [
    ['an extra object', 'object.EXTRA', (copy) => copy.set('objects/more.txt', toUtf8('more'))],
    ['an extra file beside the objects', 'object.EXTRA', (copy) => copy.set('readme.md', toUtf8('more'))],
    ['a second manifest', 'object.EXTRA', (copy) => copy.set('objects/manifest.json', toUtf8('{}'))],
    ['a missing object', 'object.MISSING', (copy) => copy.delete(README)],
    ['another content', 'object.DIGEST_MISMATCH', (copy) => copy.set(README, toUtf8('h'.repeat(300)))],
    ['another size', 'object.BYTES_MISMATCH', (copy) => copy.set(README, toUtf8('hello'))],
    ['no content', 'object.BYTES_MISMATCH', (copy) => copy.set(README, toUtf8(''))],
    ['no manifest', 'bundle.MANIFEST_MISSING', (copy) => copy.delete('manifest.json')],
  ];
  test.each(cases)('with %s fail with %s', async (_, code, edit) => {
    const report = await verify(await repacked(part, edit));
    expect(report.verdict).toBe('failed');
    expect(errorsOf(report)).toContain(code);
    expect(report.coverage.attestedBytes).toBe(0);
  });

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

  test('under other names are missing here and extra there', async () => {
    const forged = await repacked(part, (copy) => {
      copy.set('objects/renamed.txt', copy.get(README)!).delete(README);
    });
    expect(errorsOf(await verify(forged))).toEqual(['object.EXTRA', 'object.MISSING']);
  });

  test('with the contents of two objects swapped fail both', async () => {
    const [a, b] = ['objects/evidence.jsonl', 'objects/trajectory.jsonl'] as const;
    const forged = await repacked(part, (copy) => {
      copy.set(a, entries.get(b)!).set(b, entries.get(a)!);
    });
    const report = await verify(forged);
    const paths = report.findings
      .filter((one) => one.code === 'object.DIGEST_MISMATCH')
      .map(({ path }) => path);
    expect(paths).toEqual([a, b]);
  });

  test('of names that a file system may take for each other are refused by the archive', async () => {
    // The writer refuses twins, so the name of a harmless entry is overwritten in both of its headers.
    const [harmless, twin] = ['objects/evidence.json_', 'objects/Evidence.jsonl'];
    const double = await pack([...entries, [harmless, toUtf8('twin')]]);
    const text = new TextDecoder('latin1').decode(double);
    for (const { index } of text.matchAll(new RegExp(harmless, 'g'))) double.set(toUtf8(twin), index);
    expect(errorsOf(await verify(double))).toEqual(['zip.ENTRY_DUPLICATE']);
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
  const faults: [string, (manifest: Manifest) => void][] = [
    ['an unknown member', (m) => void (m['extra'] = 1)],
    ['an unknown member of an object', (m) => void (m.objects[0]!['extra'] = 1)],
    ['another kind', (m) => void (m['kind'] = 'evidence.export')],
    ['another schema version', (m) => void (m['schemaVersion'] = 2)],
    ['objects out of order', (m) => void (m.objects = m.objects.toReversed())],
    ['an object twice', (m) => void m.objects.unshift(m.objects[0]!)],
    ['a path outside objects/', (m) => void (m.objects[0]!.path = 'manifest.json')],
    ['a path that climbs', (m) => void (m.objects[0]!.path = 'objects/../manifest.json')],
    ['a role twice', (m) => m.objects.forEach((object) => void (object['role'] = 'state'))],
    ['a role that is none', (m) => void (m.objects[0]!['role'] = 'proof')],
    ['a digest in capitals', (m) => void (m.objects[0]!['digest'] = `sha256:${'A'.repeat(64)}`)],
    ['bytes below zero', (m) => void (m.objects[0]!['bytes'] = -1)],
    ['bytes as text', (m) => void (m.objects[0]!['bytes'] = '1')],
    ['no objects', (m) => void Reflect.deleteProperty(m, 'objects')],
  ];
  test.each(faults)('with %s is invalid, even when signed', async (_, edit) => {
    const report = await verify(await withManifest(edit));
    expect(report.verdict).toBe('failed');
    expect(errorsOf(report)).toEqual(['bundle.MANIFEST_INVALID']);
    expect(stateOf(report, 'bundle.objects')).toBe('not_checked');
    expect(stateOf(report, 'attestation.signature')).toBe('not_checked');
  });

  test('edited and made canonical again is not what was signed', async () => {
    const report = await verify(await withManifest((m) => void (m['createdAtMs'] = NOW), false));
    expect(errorsOf(report)).toEqual(['attestation.SUBJECT_MISMATCH']);
    expect(report.verdict).toBe('failed');
  });

  test('edited and signed again by a trusted key is verified with that key as its signer', async () => {
    const report = await verify(await withManifest((m) => void (m['createdAtMs'] = NOW - 1)));
    expect(report.verdict).toBe('verified');
  });

  test.each(['manifest.json', 'attestation.json', 'objects/run-result.json'])(
    'and its like: %s that is not canonical is refused',
    async (name) => {
      const spaced = toUtf8(` ${new TextDecoder().decode(entries.get(name))}`);
      const forged = new Map(entries).set(name, spaced);
      if (name.startsWith('objects/')) {
        const manifest = edited<Manifest>(entries.get('manifest.json'), ({ objects }) => {
          const row = objects.find((object) => object.path === name)!;
          row['digest'] = hashOf(new TextDecoder().decode(spaced));
          row['bytes'] = spaced.length;
        });
        forged.set('manifest.json', manifest);
      }
      const report = await verify(await pack(forged));
      expect(report.verdict).toBe('failed');
      expect(errorsOf(report)).toContain('json.NOT_CANONICAL');
    },
  );

  test.each([
    ['a duplicate member', '{"a":1,"a":1}', 'json.MEMBER_DUPLICATE'],
    ['a byte order mark', '\u{feff}{}', 'json.BOM'],
    ['no JSON', 'not json', 'json.INVALID'],
    ['depth', '['.repeat(65) + ']'.repeat(65), 'json.DEPTH_EXCEEDED'],
    ['__proto__', '{"__proto__":{"schemaVersion":1}}', 'bundle.MANIFEST_INVALID'],
  ])('with %s is refused by that name', async (_, text, code) => {
    const report = await verify(await pack([['manifest.json', toUtf8(text)]]));
    expect(errorsOf(report)).toEqual([code]);
    expect(report.verdict).toBe('failed');
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

  test('must be of the same organization', async () => {
    const listed = { ...(await listingOf(part)), organizationId: idOf('org', 9) };
    expect(errorsOf(await verify(part, { listed }))).toEqual(['part.ROW_MISMATCH']);
  });

  test('must have the time of creation in its window, from inclusive to exclusive', async () => {
    const listed = await listingOf(part);
    const created = NOW - 100_000 + 1;
    const within = (fromAtMs: number, throughAtMs: number): Promise<BundleReport> =>
      verify(part, { listed: { ...listed, fromAtMs, throughAtMs } });
    expect((await within(created, created + 1)).verdict).toBe('verified');
    expect(errorsOf(await within(created + 1, NOW))).toEqual(['part.ROW_MISMATCH']);
    expect(errorsOf(await within(0, created))).toEqual(['part.ROW_MISMATCH']);
  });

  test('that calls an unsigned part signed is contradicted: an attestation was stripped', async () => {
    const listed = await listingOf(part);
    const bytes = await repacked(part, (copy) => void copy.delete('attestation.json'));
    const digest = (await listingOf(bytes)).row.digest;
    const row = { ...listed.row, digest, bytes: String(bytes.length) };
    expect(errorsOf(await verify(bytes, { listed: { ...listed, row } }))).toEqual(['part.ROW_MISMATCH']);
  });
});

describe('what the caller expects of a part', () => {
  test('is met by itself', async () => {
    const { manifestDigest, organizationId, projectId } = await verify(part);
    const expected = {
      manifestDigest: manifestDigest!,
      organizationId: organizationId!,
      projectId: projectId!,
    };
    const report = await verify(part, { expect: expected });
    expect(report.verdict).toBe('verified');
    expect(stateOf(report, 'bundle.expected')).toBe('passed');
  });

  test.each([
    ['organizationId', idOf('org', 9), 'expect.ORGANIZATION_MISMATCH'],
    ['projectId', idOf('prj', 9), 'expect.PROJECT_MISMATCH'],
    ['manifestDigest', hashOf('x'), 'expect.MANIFEST_MISMATCH'],
  ])('fails by its own code for another %s', async (field, value, code) => {
    const report = await verify(part, { expect: { [field]: value } });
    expect(report.verdict).toBe('failed');
    expect(errorsOf(report)).toEqual([code]);
  });

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

  test('still fails without a trust store when something that is signed is not bound', async () => {
    const forged = await withManifest((m) => void (m['createdAtMs'] = NOW), false);
    expect((await verifyPart(memoryAccess(forged), { asOfMs: NOW })).verdict).toBe('failed');
  });

  test('is intact when unsigned, with a trust store and without', async () => {
    const unsigned = (await makePart(1)).bytes;
    for (const report of [
      await verify(unsigned),
      await verifyPart(memoryAccess(unsigned), { asOfMs: NOW }),
    ]) {
      expect([report.verdict, report.signed, report.provenance]).toEqual(['intact', false, 'claimed']);
      expect(codesOf(report)).toEqual(['bundle.UNSIGNED']);
    }
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

test('what was read is what is reported', async () => {
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
