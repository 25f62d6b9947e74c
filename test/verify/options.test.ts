import { expect, test } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { memorySource } from '../../src/evidence/source.ts';
import { verifyAttestation } from '../../src/verify/verify-attestation.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import { verifyPart } from '../../src/verify/part/part.ts';
import { verifyToolSource } from '../../src/verify/tool-source.ts';
import { resolveSettings } from '../../src/verify/options.ts';

const AS_OF_MS = 1_760_000_000_000;
const REFUSED: readonly [string, object, string][] = [
  ['a misspelt option', { dpth: 'full' }, 'options has the unknown member "dpth". Did you mean depth?'],
  ['a misspelt expectation', { expect: { manifestDigst: 'x' } }, 'options.expect has the unknown member'],
  ['a misspelt limit', { limits: { part: 1 } }, 'Did you mean parts?'],
  ['a misspelt ZIP limit', { zipLimits: { entry: 1 } }, 'options.zipLimits has the unknown member'],
  ['NaN as a limit', { limits: { parts: Number.NaN } }, 'options.limits.parts is NaN'],
  ['NaN as the time', { asOfMs: Number.NaN }, 'options.asOfMs is NaN'],
  ['half a millisecond', { asOfMs: 1.5 }, 'options.asOfMs is 1.5'],
  ['an invalid Date', { asOfMs: new Date(Number.NaN) }, 'options.asOfMs is an object of another kind'],
  ['text as the time', { asOfMs: '2026-01-01' }, 'options.asOfMs is "2026-01-01"'],
  ['no time', { asOfMs: undefined }, 'options.asOfMs is undefined'],
  ['an unknown depth', { depth: 'deep' }, 'options.depth is "deep". Pass one of full, digest.'],
  ['a member of trust that is misspelt', { trust: { key: '', isuer: '' } }, 'Did you mean issuer?'],
  ['a path in place of trust', { trust: 'trust.json' }, 'options.trust is "trust.json"'],
  ['a signal that is none', { signal: {} }, 'options.signal is an object of another kind'],
];

const verifyWith = (more: object): Promise<unknown> =>
  verifyExport(memorySource({}), { asOfMs: AS_OF_MS, ...more });

test.each(REFUSED)('verifyExport refuses %s with a TypeError that names it', async (_, more, message) => {
  await expect(verifyWith(more)).rejects.toThrow(TypeError);
  await expect(verifyWith(more)).rejects.toThrow(message);
});

test('the options of a verification take a Date as the time', () => {
  expect(resolveSettings({ asOfMs: new Date(AS_OF_MS) })).toEqual(resolveSettings({ asOfMs: AS_OF_MS }));
});

test('the options of a verification keep the default of each limit that is not given', () => {
  const { limits } = resolveSettings({ asOfMs: AS_OF_MS, limits: { parts: 3 } });
  expect(limits).toEqual({ ...resolveSettings({ asOfMs: AS_OF_MS }).limits, parts: 3 });
});

test('the options of a verification of verifyPart are not those of verifyExport', async () => {
  const options = { asOfMs: AS_OF_MS, concurrency: 2 };
  await expect(verifyPart(memoryAccess(new Uint8Array()), options)).rejects.toThrow('"concurrency"');
});

test.each([[undefined], [null], [1], [{}], [[]], [Symbol('x')], [new ArrayBuffer(2)]])(
  'verifyAttestation and verifyToolSource refuse what is neither bytes nor text: %s',
  (value) => {
    expect(() => verifyAttestation(value as string, { asOfMs: AS_OF_MS })).toThrow(/^attestation is /);
    expect(() => verifyToolSource(value as string)).toThrow(/^resource is /);
  },
);
