import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { findPathProblem } from '../../../src/bytes/portable-path.ts';
import { once } from '../../../src/bytes/async.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { packBundle } from '../../../src/evidence/bundle/pack-bundle.ts';
import { parseAttestation } from '../../../src/evidence/bundle/attestation.ts';
import { parseBundleManifest } from '../../../src/evidence/bundle/manifest.ts';
import { readPartFacts } from '../../../src/evidence/bundle/part.ts';
import { verifyPart } from '../../../src/verify/part/part.ts';
import {
  collect,
  editJson,
  hashOf,
  makeBundleInput,
  makeObject,
  makeRunResult,
  makeSigner,
  makeSigning,
  makeTrust,
  NOW,
  pack,
  unpack,
} from '../../support/evidence.ts';
import { forAllAsync } from '../../support/property.ts';

const signer = makeSigner();
const store = { compression: 'store' } as const;
const invalid = { code: 'pack.INPUT_INVALID' };
const { runResult: _runResult, ...withoutResult } = makeBundleInput(1);
const packBytes = async (...args: Parameters<typeof packBundle>): Promise<Uint8Array> =>
  collect((await packBundle(...args)).archive());
/** The input with one more object. */
const withObject = (...object: Parameters<typeof makeObject>) =>
  makeBundleInput(1, { objects: [...makeBundleInput(1).objects, makeObject(...object)] });

const withoutRole = (role: string) => makeBundleInput(1).objects.filter((object) => object.role !== role);

describe('packing a bundle', () => {
  test('gives the same bytes for the same input, in whatever order the objects come', async () => {
    const { objects } = makeBundleInput(1);
    const first = await collect((await packBundle(makeBundleInput(1))).archive(store));
    for (const order of [objects, objects.toReversed(), [...objects.slice(2), ...objects.slice(0, 2)]]) {
      const packed = await packBundle(makeBundleInput(1, { objects: order }));
      expect(await collect(packed.archive(store))).toEqual(first);
      expect(await collect(packed.archive(store))).toEqual(first);
    }
  });

  test('writes manifest, attestation and objects in order, and documents that parse', async () => {
    const packed = await packBundle(makeBundleInput(1), makeSigning(signer));
    const entries = await unpack(await collect(packed.archive()));
    expect([...entries.keys()]).toEqual([
      'manifest.json',
      'attestation.json',
      'objects/evidence.jsonl',
      'objects/files/readme.txt',
      'objects/run-result.json',
      'objects/state.json',
      'objects/trajectory.jsonl',
    ]);
    expect(parseBundleManifest(entries.get('manifest.json')!)).toEqual(packed.manifest);
    expect(parseAttestation(entries.get('attestation.json')!)).toEqual(packed.attestation);
  });

  test('adds the hashes of objects to the run result', async () => {
    const entries = await unpack(await packBytes(makeBundleInput(1), makeSigning(signer)));
    const result = JSON.parse(new TextDecoder().decode(entries.get('objects/run-result.json'))) as object;
    expect(result).toMatchObject({
      stateHash: hashOf('{"run":1}'),
      trajectoryHash: hashOf('{"step":1}\n'),
      evidenceHash: hashOf('{"sequence":1,"run":1}\n{"sequence":2}\n'),
    });
  });

  test.each(['stateHash', 'evidenceHash', 'trajectoryHash'])(
    'refuses to sign a %s that does not match',
    async (field) => {
      const runResult = makeRunResult(1, { [field]: hashOf('wrong') });
      await expect(packBundle(makeBundleInput(1, { runResult }), makeSigning(signer))).rejects.toMatchObject({
        ...invalid,
        details: { issues: [{ path: `result.${field}` }] },
      });
    },
  );

  test.each<[string, Parameters<typeof makeBundleInput>[1]]>([
    ['a result of another run', { runId: 'run_other-run' }],
    ['no object of role evidence', { objects: withoutRole('evidence') }],
    ['no object of role state', { objects: withoutRole('state') }],
    ['no object of role trajectory', { objects: withoutRole('trajectory') }],
  ])('refuses to sign with %s', async (_, rest) => {
    await expect(packBundle(makeBundleInput(1, rest), makeSigning(signer))).rejects.toMatchObject(invalid);
  });

  test('refuses to sign without a run result, and packs an unsigned bundle without one', async () => {
    await expect(packBundle(withoutResult, makeSigning(signer))).rejects.toMatchObject(invalid);
    const bytes = await packBytes(withoutResult);
    expect((await verifyPart(memoryAccess(bytes), { asOfMs: NOW })).verdict).toBe('intact');
  });

  test('accepts a run result among the objects, and refuses two', async () => {
    const entries = await unpack(await packBytes(makeBundleInput(1)));
    const text = new TextDecoder().decode(entries.get('objects/run-result.json'));
    const input = withObject('result.json', text, { role: 'run-result' });
    const bytes = await packBytes({ ...withoutResult, objects: input.objects }, makeSigning(signer));
    const report = await verifyPart(memoryAccess(bytes), { asOfMs: NOW, trust: makeTrust(signer) });
    expect(report.verdict).toBe('verified');
    await expect(packBundle(input)).rejects.toMatchObject(invalid);
  });

  test.each([
    ['no JSON', 'x'],
    ['another document', '{"schemaVersion":1}'],
    ['not canonical', '{ }'],
  ])('refuses a run result that verifiers would refuse, signed or not: %s', async (_, text) => {
    const { objects } = withObject('result.json', text, { role: 'run-result' });
    for (const signing of [undefined, makeSigning(signer)])
      await expect(packBundle({ ...withoutResult, objects }, signing)).rejects.toMatchObject(invalid);
  });

  test.each<[string, object]>([
    ['an object outside objects/', withObject('more', 'more', { path: 'manifest.json' })],
    ['a twin of an object', withObject('more', 'more', { path: 'objects/STATE.json' })],
    ['a second object of a signed role', withObject('more', 'more', { role: 'state' })],
    ['an invalid id', { evidenceBundleId: 'evidence_1' }],
    ['half a millisecond', { createdAtMs: 1.5 }],
    ['an unknown member', { more: 1 }],
  ])('refuses a bundle with %s', async (_, rest) => {
    await expect(packBundle({ ...makeBundleInput(1), ...rest })).rejects.toMatchObject(invalid);
  });

  test.each([
    ['no issuer', { issuer: '' }],
    ['an issuer of 1,025 characters', { issuer: 'i'.repeat(1025) }],
    ['half a millisecond', { issuedAtMs: 0.5 }],
    ['no time', { issuedAtMs: Number.NaN }],
    ['no type', { predicateType: '' }],
    ['a key id of 257 characters', { signer: { ...signer, keyId: 'k'.repeat(257) } }],
  ])('does not sign a statement that verifiers would refuse: %s', async (_, rest) => {
    await expect(packBundle(makeBundleInput(1), makeSigning(signer, rest))).rejects.toMatchObject(invalid);
  });

  test('fails if an object changed after it was digested', async () => {
    let passes = 0;
    const open = () => once(toUtf8(passes++ === 0 ? 'before' : 'after!'));
    const changed = { code: 'io.CHANGED', path: 'objects/log.txt' };
    await expect(packBytes(withObject('log.txt', '', { open }))).rejects.toMatchObject(changed);
  });

  test('rethrows the error of an object', async () => {
    const broken = makeObject('log.txt', '', {
      open: async function* () {
        yield toUtf8('x');
        throw new Error('the disk says no');
      },
    });
    await expect(packBundle(makeBundleInput(1, { objects: [broken] }))).rejects.toThrow('the disk says no');
  });

  test('refuses more objects than verifiers accept', async () => {
    const objects = Array.from({ length: 99_999 }, (_, i) => makeObject(String(i), ''));
    const exceeded = { code: 'bundle.OBJECTS_EXCEEDED' };
    await expect(packBundle({ ...withoutResult, objects })).rejects.toMatchObject(exceeded);
  });

  test('writes parts that verify, for any objects', async () => {
    const name = fc
      .stringMatching(/^[a-z0-9]{1,6}(?:\/[a-z]{1,3}x)?$/)
      .filter((path) => findPathProblem(path) === undefined);
    const content = fc.uint8Array({ maxLength: 2000 });
    const trees = fc.dictionary(name, content, { maxKeys: 6 });
    await forAllAsync(50, [trees, fc.constantFrom('store', 'deflate')], async (files, compression) => {
      const objects = Object.entries(files).map(([path, bytes]) =>
        makeObject(`more/${path}`, '', { open: () => once(bytes) }),
      );
      const input = makeBundleInput(1, { objects: [...makeBundleInput(1).objects, ...objects] });
      const packed = await packBundle(input, makeSigning(signer));
      const bytes = await collect(packed.archive({ compression }));
      const report = await verifyPart(memoryAccess(bytes), { asOfMs: NOW, trust: makeTrust(signer) });
      expect([report.verdict, report.findings]).toEqual(['verified', []]);
    });
  });
});

test('the facts of a part are those of its archive and manifest', async () => {
  const packed = await packBundle(makeBundleInput(1), makeSigning(signer));
  const bytes = await collect(packed.archive());
  const entries = await unpack(bytes);
  const total = [...entries]
    .filter(([name]) => name !== 'attestation.json')
    .reduce((sum, [, { length }]) => sum + length, 0);
  expect(await readPartFacts(memoryAccess(bytes))).toMatchObject({
    manifest: packed.manifest,
    manifestDigest: packed.manifestDigest,
    manifestBytes: entries.get('manifest.json')!.length,
    totalBytes: total,
    signed: true,
    bytes: bytes.length,
  });
  const unsigned = await packBytes(makeBundleInput(1));
  expect((await readPartFacts(memoryAccess(unsigned))).signed).toBe(false);
});

test('the facts of a part cannot be read without a valid manifest', async () => {
  const entries = await unpack(await packBytes(makeBundleInput(1)));
  const invalidManifest = editJson(entries.get('manifest.json'), (m) => void (m['kind'] = 'x'));
  const cases: [Uint8Array, string][] = [
    [await pack([['objects/x', toUtf8('x')]]), 'bundle.MANIFEST_MISSING'],
    [await pack([['manifest.json', invalidManifest]]), 'bundle.MANIFEST_INVALID'],
    [toUtf8('no zip'), 'zip.NOT_A_ZIP'],
  ];
  for (const [bytes, code] of cases)
    await expect(readPartFacts(memoryAccess(bytes))).rejects.toMatchObject({ code });
});
