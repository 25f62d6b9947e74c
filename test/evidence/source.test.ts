import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { once } from '../../src/bytes/async.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import {
  memorySource,
  openZipEvidence,
  readFile,
  readWhole,
  recognizeKind,
  zipSource,
} from '../../src/evidence/source.ts';
import { openZip } from '../../src/zip/read/open.ts';
import { writeZip } from '../../src/zip/write/write.ts';
import { collect, makeExport, makeSigner, pack } from '../support/evidence.ts';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { encodeDsse, signDsse } from '../../src/trust/dsse.ts';
import { attestDsse } from '../../src/evidence/in-toto.ts';
import { enveloped, summaryOf } from '../policy/vsa-makers.ts';
import { countOpens, failReads } from '../verify/sources.ts';

const files = {
  'b/two': toUtf8('two'),
  a: toUtf8('one'),
  'b.txt': toUtf8(''),
  '\u{ff61}': toUtf8('x'),
  '\u{1f600}': toUtf8('y'),
};

describe.each(['memory', 'zip'] as const)('a source of kind %s', (kind) => {
  const open = async (): Promise<ReturnType<typeof memorySource>> =>
    kind === 'memory'
      ? memorySource(files)
      : zipSource(await openZip(memoryAccess(await pack(Object.entries(files)))));

  test('lists its files sorted by bytes, with their sizes', async () => {
    const source = await open();
    expect(source.kind).toBe(kind);
    expect((await source.files()).map(({ path, bytes, regular }) => [path, bytes, regular])).toEqual([
      ['a', 3, true],
      ['b.txt', 0, true],
      ['b/two', 3, true],
      ['\u{ff61}', 1, true],
      ['\u{1f600}', 1, true],
    ]);
  });

  test('opens each file at any offset, any number of times', async () => {
    const source = await open();
    const file = await source.open('b/two');
    expect(file.size).toBe(3);
    expect(new TextDecoder().decode(await file.read(1, 2))).toBe('wo');
    await file.close();
    expect(new TextDecoder().decode(await readFile(source, 'b/two', 3))).toBe('two');
  });

  test.each(['c', 'b', '__proto__', 'constructor', '../a', ''])('has no file %j', async (path) => {
    await expect((await open()).open(path)).rejects.toMatchObject({ code: 'io.NOT_FOUND', path });
  });

  test('reads no file that is larger than the limit', async () => {
    await expect(readFile(await open(), 'a', 2)).rejects.toMatchObject({ code: 'json.TOO_LARGE', path: 'a' });
  });
});

test('a file that is read whole fails when bytes are missing', async () => {
  const short = { size: 5, read: () => toUtf8('abc') };
  await expect(readWhole(short, 5, 'x')).rejects.toMatchObject({ code: 'io.CHANGED', path: 'x' });
});

test('a file that is read whole is closed even if reading it fails', async () => {
  const { counts, source } = countOpens(failReads(memorySource({ x: toUtf8('x') }), 'x', 'read'));
  await expect(readFile(source, 'x', 10)).rejects.toThrow('the disk fails');
  expect([counts.opened, counts.closed]).toEqual([['x'], 1]);
});

test('a compressed entry cannot be opened for random access', async () => {
  const input = { name: 'a', open: () => once(toUtf8('a'.repeat(100))) };
  const source = zipSource(await openZip(memoryAccess(await collect(writeZip([input])))));
  await expect(source.open('a')).rejects.toMatchObject({ code: 'zip.METHOD_UNSUPPORTED', path: 'a' });
});

describe('the kind of a file that is not evidence', async () => {
  const signer = makeSigner();
  const { files: exported, packedParts } = await makeExport({ signer });
  const { attestation, manifest } = packedParts[0]!;
  const signEnvelope = async (predicateType: string): Promise<Uint8Array> => {
    const payload = toUtf8(JSON.stringify({ predicateType }));
    return encodeDsse(await signDsse({ payloadType: 'application/vnd.in-toto+json', payload }, [signer]));
  };
  const dsse = encodeDsse(await attestDsse(attestation!.statement, [signer]));

  test.each<[string | undefined, Uint8Array]>([
    ['an attestation in an envelope', dsse],
    ['a verification summary', await enveloped(summaryOf(), [signer])],
    ['a signed report', await signEnvelope('urn:drillproof:attestation:report:v1')],
    ['a signed envelope', await signEnvelope('https://example.com/other')],
    ['a signed envelope', dsse.subarray(0, -10)],
    ['a manifest.json alone', exported['manifest.json']!],
    ['a manifest.json alone', canonicalBytes(manifest)],
    ['an export.json alone', exported['export.json']!],
    ['an attestation alone', exported['export-attestation.json']!],
    ['a policy', toUtf8('# of the release\n\nschemaVersion: 1\nname: p\nkind: policy\n')],
    ['a policy', toUtf8('kind: policy\n')],
    ['a policy', toUtf8('{"schemaVersion":1,"kind":"policy"}')],
    ['a page in HTML', toUtf8('\n<!DOCTYPE html>\n<html>')],
    [undefined, toUtf8('PK\u0003\u0004kind: policy')],
  ])('is %s', async (kind, bytes) => {
    expect(recognizeKind(bytes)).toBe(kind);
    const opened = openZipEvidence(memoryAccess(bytes), 'f');
    if (kind === undefined) expect((await opened).kind).toBe('part');
    else await expect(opened).rejects.toMatchObject({ code: 'export.NOT_AN_EXPORT' });
  });

  const cut = Object.entries(exported)
    .find(([path]) => path.endsWith('.zip'))![1]
    .subarray(0, 1000);
  test.each<[string, Uint8Array, string?]>([
    ['of text', toUtf8('kind: other\nabout: "kind: policy"\n'), 'a text file'],
    ['with a character cut off at its end', toUtf8('text \u20ac').subarray(0, -1), 'a text file'],
    ['in JSON', toUtf8('{"schemaVersion":"dr.build-lock.v1"}'), 'a JSON document'],
    ['without bytes', new Uint8Array(), 'an empty file'],
    ['of text with a control character', toUtf8('text\u0000')],
    ['of other bytes', Uint8Array.of(0x74, 0xff)],
    ['that is the beginning of a part', cut],
    ['that is a part with other first bytes', Uint8Array.of(0x7b, 0x22, 0x6b, 0x22, ...cut.subarray(4))],
  ])('of a file %s, given as evidence, is named only for readable text', async (_, bytes, kind) => {
    expect(recognizeKind(bytes)).toBeUndefined();
    const opened = openZipEvidence(memoryAccess(bytes), 'f');
    if (kind === undefined) return expect((await opened).kind).toBe('part');
    const message = `f is ${kind}, not evidence`;
    await expect(opened).rejects.toMatchObject({ code: 'export.NOT_AN_EXPORT', message });
  });

  test('is a build archive for a ZIP with build.json, but not if it has a manifest.json', async () => {
    const build = ['build.json', toUtf8('{}')] as const;
    await expect(openZipEvidence(memoryAccess(await pack([build])), 'f')).rejects.toMatchObject({
      code: 'export.NOT_AN_EXPORT',
    });
    const part = await pack([build, ['manifest.json', toUtf8('{}')]]);
    expect((await openZipEvidence(memoryAccess(part), 'f')).kind).toBe('part');
  });

  test('is found in linear time in a megabyte that almost matches', () => {
    for (const piece of ['\n', '#\n', 'a:\n', '{"kind"', ' {'])
      expect(recognizeKind(toUtf8(piece.repeat(2 ** 20 / piece.length)))).toBeUndefined();
  });
});
