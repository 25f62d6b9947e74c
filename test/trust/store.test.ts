import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBytes, digestOf, toUtf8 } from '../../src/bytes/index.ts';
import {
  distinctPoints,
  parseTrustStore,
  PURPOSES,
  trustStore,
  trustStoreJwks,
  type TrustedKey,
} from '../../src/trust/index.ts';
import { codeOf, foreignKeys, json, pointOf, refusal, storeJwk, trusted } from './makers.ts';
import { forAll } from '../support/property.ts';

const MAX_MS = Number.MAX_SAFE_INTEGER;
const parse = (...keys: unknown[]) => parseTrustStore(json({ keys }));
const codeOfKeys = (...keys: unknown[]) => codeOf(() => parse(...keys));

describe('a trust store', () => {
  it('gives its keys their defaults: evidence, any project, any time, not revoked', () => {
    const { keys } = parse(storeJwk(1));
    expect(keys).toEqual([trusted(1)]);
  });

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

  it('takes the members that a JWK may have and looks at none of them', () => {
    const members = {
      x5c: ['AA'],
      x5t: 'AA',
      'x5t#S256': 'AA',
      x5u: 'https://a',
      ext: true,
      key_ops: ['verify'],
    };
    expect(parse(storeJwk(1, members)).keys).toEqual([trusted(1)]);
  });

  it('counts a key as compromised when it is revoked without a word on that', () => {
    expect(parse(storeJwk(1, { revokedAtMs: 3 })).keys[0]?.compromised).toBe(true);
  });

  it('finds a key by issuer and key id together, exactly', () => {
    const store = parse(storeJwk(1, { kid: 'k' }), storeJwk(2, { kid: 'k', issuer: 'other' }), storeJwk(3));
    expect(store.find('acme', 'k')?.point).toEqual(pointOf(1));
    expect(store.find('other', 'k')?.point).toEqual(pointOf(2));
    expect(store.find('ACME', 'k')).toBeUndefined();
    expect(store.find('acme', 'k ')).toBeUndefined();
    expect(store.find('nobody', 'k')).toBeUndefined();
  });

  it('knows no key under names that every object has', () => {
    const store = parse(storeJwk(1));
    for (const name of ['__proto__', 'constructor', 'toString', '../../x', '']) {
      expect(store.find(name, name)).toBeUndefined();
      expect(store.find('acme', name)).toBeUndefined();
    }
  });

  it('may have such names for its own', () => {
    const store = parse(storeJwk(1, { kid: '__proto__', issuer: 'constructor' }));
    expect(store.find('constructor', '__proto__')?.point).toEqual(pointOf(1));
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    expect(parseTrustStore(json(trustStoreJwks(store))).fingerprint).toBe(store.fingerprint);
  });

  it.each([
    ['an empty set', { keys: [] }, 'trust.STORE_EMPTY'],
    ['no keys', {}, 'trust.STORE_INVALID'],
    ['keys that are no array', { keys: {} }, 'trust.STORE_INVALID'],
    ['an array', [], 'trust.STORE_INVALID'],
    ['null', null, 'trust.STORE_INVALID'],
    ['one JWK instead of a set', storeJwk(1), 'trust.STORE_INVALID'],
    ['an unknown member of the set', { keys: [storeJwk(1)], policy: {} }, 'trust.STORE_INVALID'],
    ['a key that is no object', { keys: ['key'] }, 'trust.STORE_INVALID'],
    ['a null key', { keys: [null] }, 'trust.STORE_INVALID'],
  ])('is refused: %s', (_, value, code) => {
    expect(codeOf(() => parseTrustStore(json(value)))).toBe(code);
  });

  it.each([
    ['no issuer', { issuer: undefined }],
    ['an empty issuer', { issuer: '' }],
    ['an issuer that is too long', { issuer: 'i'.repeat(1025) }],
    ['no kid', { kid: undefined }],
    ['an empty kid', { kid: '' }],
    ['a kid that is too long', { kid: 'k'.repeat(257) }],
    ['no use', { use: undefined }],
    ['no alg', { alg: undefined }],
    ['a time with a fraction', { notAfterMs: 1.5 }],
    ['a time as text', { notBeforeMs: '0' }],
    ['a null time', { notAfterMs: null }],
    ['a window that ends before it begins', { notBeforeMs: 2, notAfterMs: 1 }],
    ['a compromise without its time', { compromised: true }],
    ['compromised as text', { revokedAtMs: 1, compromised: 'false' }],
    ['no projects at all', { projects: [] }],
    ['projects as text', { projects: 'prj_a' }],
    ['no organizations at all', { organizations: [] }],
    ['no purposes at all', { purposes: [] }],
    ['an unknown purpose', { purposes: ['evidence', 'everything'] }],
    ['a certificate flag that says no', { fromCertificate: false }],
  ])('refuses a key with %s', (_, changes) => {
    const error = refusal(() => parse(storeJwk(1), storeJwk(2, changes)));
    expect(error?.code).toBe('trust.STORE_INVALID');
    expect(error?.path).toMatch(/^\/keys\/1\/[a-zA-Z]+/);
  });

  it.each([
    ['the longest names', { issuer: 'i'.repeat(1024), kid: 'k'.repeat(256) }],
    ['the greatest window', { notBeforeMs: -MAX_MS, notAfterMs: MAX_MS }],
    ['a window of one millisecond', { notBeforeMs: 1, notAfterMs: 1 }],
    ['all purposes', { purposes: PURPOSES }],
    ['compromised false before any revocation', { compromised: false }],
  ])('takes a key with %s', (_, changes) => {
    expect(codeOfKeys(storeJwk(2, changes))).toBeUndefined();
  });

  it.each(Object.entries(foreignKeys).filter(([name]) => name !== 'RSA-PSS'))(
    'refuses a key of kind %s as unsupported',
    (_, pair) => {
      const { kty, crv, x, y } = {
        ...storeJwk(1),
        x: undefined,
        y: undefined,
        ...pair.publicKey.export({ format: 'jwk' }),
      };
      expect(codeOfKeys(storeJwk(1, { kty, crv, x, y }))).toBe('trust.KEY_UNSUPPORTED');
    },
  );

  it.each([
    ['kty oct', { kty: 'oct' }, 'trust.KEY_UNSUPPORTED'],
    ['alg ES384', { alg: 'ES384' }, 'trust.KEY_UNSUPPORTED'],
    ['use enc', { use: 'enc' }, 'trust.KEY_UNSUPPORTED'],
    ['key_ops without verify', { key_ops: ['encrypt'] }, 'trust.KEY_UNSUPPORTED'],
    ['its private half', { d: 'AQ' }, 'trust.KEY_PRIVATE'],
    ['a point off the curve', { x: 'A'.repeat(43) }, 'trust.KEY_INVALID'],
    ['an unknown member', { notAfter: 5 }, 'trust.KEY_INVALID'],
    ['a misspelt restriction', { project: ['prj_a'] }, 'trust.KEY_INVALID'],
  ])('refuses a key with %s', (_, changes, code) => {
    expect(codeOfKeys(storeJwk(1), storeJwk(2, changes))).toBe(code);
  });

  it('is refused whole when one key of many is: no store with fewer keys comes out', () => {
    expect(codeOfKeys(storeJwk(1), storeJwk(2), storeJwk(3, { use: 'enc' }))).toBe('trust.KEY_UNSUPPORTED');
  });

  it('collects all faults with their paths, the private key first', () => {
    const error = refusal(() =>
      parse(
        storeJwk(1, { use: 'enc', notAfterMs: 'x' }),
        storeJwk(2, { d: 'AQ' }),
        storeJwk(3, { 'a/b~': 1 }),
      ),
    );
    expect(error?.code).toBe('trust.KEY_PRIVATE');
    expect(error?.path).toBe('/keys/1/d');
    expect(error?.details?.['issues']).toMatchObject([
      { code: 'trust.KEY_UNSUPPORTED', path: '/keys/0/use' },
      { code: 'trust.STORE_INVALID', path: '/keys/0/notAfterMs' },
      { code: 'trust.KEY_PRIVATE', path: '/keys/1/d' },
      { code: 'trust.KEY_INVALID', path: '/keys/2/a~1b~0' },
    ]);
  });

  it('refuses two keys of one issuer and key id, even when they are the same', () => {
    expect(codeOfKeys(storeJwk(1), storeJwk(1))).toBe('trust.KEY_DUPLICATE');
    expect(codeOfKeys(storeJwk(1, { kid: 'k' }), storeJwk(2, { kid: 'k' }))).toBe('trust.KEY_DUPLICATE');
    expect(codeOfKeys(storeJwk(1, { kid: '__proto__' }), storeJwk(2, { kid: '__proto__' }))).toBe(
      'trust.KEY_DUPLICATE',
    );
    expect(codeOfKeys(storeJwk(1), storeJwk(1, { issuer: 'other' }))).toBeUndefined();
  });

  it.each([
    ['json.MEMBER_DUPLICATE', '{"keys":[],"keys":[]}'],
    ['json.MEMBER_DUPLICATE', '{"keys":[],"\\u006beys":[]}'],
    ['json.BOM', '\uFEFF{"keys":[]}'],
    ['json.INVALID', '{"keys":[]}x'],
    ['json.INVALID', ''],
    ['json.SURROGATE_LONE', '{"keys":["\\ud800"]}'],
    ['json.NUMBER_INEXACT', '{"keys":[9007199254740993]}'],
    ['json.DEPTH_EXCEEDED', `${'['.repeat(65)}${']'.repeat(65)}`],
  ] as const)('is refused with %s: %s', (code, text) => {
    expect(codeOf(() => parseTrustStore(toUtf8(text)))).toBe(code);
  });

  it('is refused when it is not UTF-8', () => {
    expect(codeOf(() => parseTrustStore(Uint8Array.of(0x7b, 0xff, 0x7d)))).toBe('encoding.UTF8_INVALID');
  });
});

it('a trust store made of keys obeys the rules of one that is read', () => {
  expect(codeOf(() => trustStore([]))).toBe('trust.STORE_EMPTY');
  expect(codeOf(() => trustStore([trusted(1), trusted(1)]))).toBe('trust.KEY_DUPLICATE');
  expect(codeOf(() => trustStore([trusted(1, { notBeforeMs: 1, notAfterMs: 0 })]))).toBe(
    'trust.STORE_INVALID',
  );
  expect(codeOf(() => trustStore([trusted(1, { notAfterMs: Number.NaN })]))).toBe('trust.STORE_INVALID');
  expect(codeOf(() => trustStore([trusted(1, { point: Uint8Array.of(4, ...new Uint8Array(64)) })]))).toBe(
    'trust.KEY_INVALID',
  );
  expect(() => trustStore([trusted(1, { point: new Uint8Array(33) })])).toThrow(TypeError);
});

it('a trust store made of keys does not change when the caller changes what it was made of', () => {
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
  expect(
    distinctPoints([trusted(1), trusted(1, { keyId: 'k' }), trusted(1, { issuer: 'b' }), trusted(2)]),
  ).toBe(2);
  expect(distinctPoints([])).toBe(0);
});
