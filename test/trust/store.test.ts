import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { importPublicKey, keyIdOf, publicKeyPem } from '../../src/trust/key/key.ts';
import { countDistinctKeys, parseTrustStore, trustStore, trustStoreJwks } from '../../src/trust/store.ts';
import { PURPOSES, type TrustedKey } from '../../src/trust/trusted-key.ts';
import { codeOf, json, pointOf, refusal, storeJwk, trusted } from './makers.ts';
import { forAll } from '../support/property.ts';

const parse = (...keys: unknown[]) => parseTrustStore(json({ keys }));

describe('a trust store', () => {
  it('reads every member', () => {
    const members = {
      notBeforeMs: -1,
      notAfterMs: 5,
      revokedAtMs: 3,
      compromised: false,
      projects: ['prj_b', 'prj_a'],
      organizations: ['org_a'],
      purposes: ['receipt', 'export'],
      fromCertificate: true,
    };
    const { keys } = parse(storeJwk(1, { ...members, kid: 'our key', issuer: 'https://acme.example' }));
    expect(keys[0]).toEqual({
      ...trusted(1),
      ...members,
      issuer: 'https://acme.example',
      keyId: 'our key',
      projects: ['prj_a', 'prj_b'],
      purposes: ['export', 'receipt'],
    });
  });

  it('finds a key only by its exact issuer and key id', () => {
    const store = parse(storeJwk(1, { kid: 'k' }), storeJwk(2, { kid: 'k', issuer: 'other' }), storeJwk(3));
    expect(store.find('acme', 'k')?.point).toEqual(pointOf(1));
    expect(store.find('other', 'k')?.point).toEqual(pointOf(2));
    expect(store.find('ACME', 'k')).toBeUndefined();
    expect(store.find('acme', 'k ')).toBeUndefined();
    expect(store.find('nobody', 'k')).toBeUndefined();
  });

  it('collects all faults with their paths, the private key first', () => {
    const invalid = [{ use: 'enc', notAfterMs: 'x' }, { d: 'AQ' }, { 'a/b~': 1 }];
    const error = refusal(() => parse(...invalid.map((members, i) => storeJwk(i + 1, members))));
    expect([error?.code, error?.path]).toEqual(['trust.KEY_PRIVATE', '/keys/1/d']);
    expect(error?.details?.['issues']).toMatchObject([
      { code: 'trust.KEY_UNSUPPORTED', path: '/keys/0/use' },
      { code: 'trust.STORE_INVALID', path: '/keys/0/notAfterMs' },
      { code: 'trust.KEY_PRIVATE', path: '/keys/1/d' },
      { code: 'trust.KEY_INVALID', path: '/keys/2/a~1b~0' },
    ]);
  });
});

it.each<[string, TrustedKey[]]>([
  ['trust.STORE_EMPTY', []],
  ['trust.KEY_DUPLICATE', [trusted(1), trusted(1)]],
  ['trust.STORE_INVALID', [trusted(1, { notBeforeMs: 1, notAfterMs: 0 })]],
  ['trust.STORE_INVALID', [trusted(1, { notAfterMs: Number.NaN })]],
  ['trust.KEY_INVALID', [trusted(1, { point: Uint8Array.of(4, ...new Uint8Array(64)) })]],
])('a trust store built from keys has the rules of one that is parsed: %s', (code, keys) => {
  expect(codeOf(() => trustStore(keys))).toBe(code);
});

it('a trust store built from a compressed point is refused', () => {
  expect(codeOf(() => trustStore([trusted(1, { point: new Uint8Array(33) })]))).toBe('trust.STORE_INVALID');
});

it('a trust store does not change when the caller changes the keys that it was built from', () => {
  const projects = ['prj_a'];
  const point = pointOf(1);
  const store = trustStore([trusted(1, { projects, point })]);
  projects.push('prj_b');
  point.fill(0);
  expect(store.keys[0]).toEqual(trusted(1, { projects: ['prj_a'] }));
});

const someKey: fc.Arbitrary<TrustedKey> = fc
  .record(
    {
      seed: fc.integer({ min: 1, max: 12 }),
      issuer: fc.constantFrom('acme', 'other', '__proto__', 'é', '\u{1F600}'),
      keyId: fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
      window: fc.tuple(fc.integer(), fc.integer()).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
      revokedAtMs: fc.integer(),
      compromised: fc.boolean(),
      projects: fc.array(fc.constantFrom('prj_a', 'prj_b', 'prj_c'), { minLength: 1 }),
      purposes: fc.array(fc.constantFrom(...PURPOSES), { minLength: 1 }),
    },
    { requiredKeys: ['seed', 'issuer', 'keyId', 'compromised', 'purposes'] },
  )
  .map(({ seed, window, ...rest }) => ({
    ...rest,
    point: pointOf(seed),
    ...(window !== undefined && { notBeforeMs: window[0], notAfterMs: window[1] }),
  }));
const someKeys = fc.uniqueArray(someKey, {
  minLength: 1,
  maxLength: 5,
  selector: (key) => JSON.stringify([key.issuer, key.keyId]),
});

it('the fingerprint of a trust store is the digest of the canonical JSON of its JWK Set', () => {
  const store = trustStore([trusted(2), trusted(1)]);
  expect(store.fingerprint).toBe(digestOf(canonicalBytes(trustStoreJwks(store))));
});

it('the fingerprint of a trust store depends on no order and survives writing and reading', () => {
  forAll(50, [someKeys, fc.infiniteStream(fc.nat())], (keys, order) => {
    const shuffled = keys
      .map((key) => ({ key, at: order.next().value }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ key }) => ({ ...key, purposes: key.purposes.toReversed() }));
    const store = trustStore(keys);
    expect(trustStore(shuffled).fingerprint).toBe(store.fingerprint);
    const again = parseTrustStore(json(trustStoreJwks(store)));
    expect(again.fingerprint).toBe(store.fingerprint);
    expect(trustStoreJwks(again)).toEqual(trustStoreJwks(store));
  });
});

it('the fingerprint of a trust store changes with everything that is trusted', () => {
  const variants = [
    {},
    { issuer: 'other' },
    { keyId: 'k' },
    { point: pointOf(2) },
    { notBeforeMs: 0 },
    { notAfterMs: 0 },
    { revokedAtMs: 0 },
    { revokedAtMs: 0, compromised: false },
    { projects: ['prj_a'] },
    { organizations: ['prj_a'] },
    { purposes: ['export' as const] },
  ].map((changes) => trustStore([trusted(1, changes)]).fingerprint);
  expect(new Set(variants).size).toBe(variants.length);
});

it('counting keys counts one point under several names once', () => {
  const names = [trusted(1), trusted(1, { keyId: 'k' }), trusted(1, { issuer: 'b' })];
  expect(countDistinctKeys([...names, trusted(2)])).toBe(2);
  expect(countDistinctKeys([])).toBe(0);
});

const pem = (seed: number): string => publicKeyPem(pointOf(seed));

describe('a trust store from keys in code', () => {
  it('takes two keys as PEM, which are trusted for evidence and lists of bundles', () => {
    const store = trustStore([
      { issuer: 'acme', key: pem(1), notAfterMs: 5 },
      { issuer: 'acme', key: toUtf8(pem(2)), keyId: 'new', purposes: ['report'] },
    ]);
    expect(store.keys.map(({ keyId, purposes, notAfterMs }) => [keyId, purposes, notAfterMs])).toEqual([
      ['new', ['report'], undefined],
      [keyIdOf(pointOf(1)), ['evidence', 'export'], 5],
    ]);
    expect(store.find('acme', 'new')?.point).toEqual(pointOf(2));
  });

  it('takes what importPublicKey returns, with the issuer', () => {
    const store = trustStore([{ issuer: 'acme', ...importPublicKey(pem(1)) }]);
    expect(store.keys[0]).toMatchObject({
      issuer: 'acme',
      compromised: true,
      purposes: ['evidence', 'export'],
    });
  });

  it.each<[string, unknown]>([
    ['no key', { issuer: 'acme' }],
    ['no issuer', { key: pem(1) }],
    ['an issuer of another kind', { issuer: 1, key: pem(1) }],
    ['a point that is too short', { issuer: 'acme', point: new Uint8Array(33) }],
    ['a point and a key', { issuer: 'acme', point: pointOf(1), key: pem(1) }],
    ['a purpose that does not exist', { issuer: 'acme', key: pem(1), purposes: ['evidences'] }],
    ['a scope that is not a list', { issuer: 'acme', key: pem(1), projects: 'prj_a' }],
    ['a time that is a text', { issuer: 'acme', key: pem(1), notAfterMs: '2026' }],
    ['a time that is a Date', { issuer: 'acme', key: pem(1), notAfterMs: new Date(0) }],
    ['a misspelled member', { issuer: 'acme', key: pem(1), notAfterMS: 5 }],
    ['nothing', undefined],
    ['null', null],
    ['a text', pem(1)],
  ])('refuses a key with %s as trust.STORE_INVALID at its place', (_what, key) => {
    const error = refusal(() =>
      trustStore([{ issuer: 'acme', key: pem(2) }, key as { issuer: string; key: string }]),
    );
    expect([error?.code, error?.path]).toEqual(['trust.STORE_INVALID', expect.stringMatching(/^\/keys\/1/)]);
    expect(codeOf(() => trustStoreJwks({ keys: [key as TrustedKey] }))).toBe('trust.STORE_INVALID');
  });

  it('refuses a text that is not a key as the key file would be refused', () => {
    expect(codeOf(() => trustStore([{ issuer: 'acme', key: 'no key' }]))).toBe('trust.KEY_INVALID');
  });
});
