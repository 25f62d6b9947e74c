import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { formatEcJwk } from '../../src/trust/key/jwk.ts';
import { importPublicKeys } from '../../src/trust/key-set.ts';
import { keyIdOf, publicKeyPem } from '../../src/trust/key/key.ts';
import { MAX_KEY_SET_BYTES } from '../../src/trust/key/key-file.ts';
import { codeOf, json, pointOf, publicJwk as jwk, refusal } from './makers.ts';
import { forAll } from '../support/property.ts';

const bare = (seed: number) => formatEcJwk(pointOf(seed));
const set = (...keys: unknown[]): Uint8Array => json({ keys });
const codeOfSet = (...keys: unknown[]) => codeOf(() => importPublicKeys(set(...keys)));

describe('a JWK Set', () => {
  it('gives all its keys in order, named by kid or by their own digest', () => {
    const keys = importPublicKeys(set(jwk(1, { kid: 'a' }), bare(2), jwk(3, { kid: '__proto__' })));
    expect(keys).toEqual([
      { keyId: 'a', point: pointOf(1) },
      { keyId: keyIdOf(pointOf(2)), point: pointOf(2) },
      { keyId: '__proto__', point: pointOf(3) },
    ]);
  });

  it('may name one key twice, and hold members that carry no trust', () => {
    const certificate = { x5c: ['not looked at'], x5t: 'x', 'x5t#S256': 'y', x5u: 'https://example.test' };
    const keys = importPublicKeys(set(jwk(1, { kid: 'a', ...certificate }), jwk(1, { kid: '../../x' })));
    expect(keys.map(({ keyId }) => keyId)).toEqual(['a', '../../x']);
  });

  it.each([
    ['no key', [], 'trust.STORE_EMPTY'],
    ['a private key', [jwk(1), jwk(2, { d: 'AAAA' })], 'trust.KEY_PRIVATE'],
    ['an RSA key', [jwk(1), { kty: 'RSA', n: 'AAAA', e: 'AQAB' }], 'trust.KEY_UNSUPPORTED'],
    ['a key of another curve', [jwk(2, { crv: 'secp256k1' }), jwk(1)], 'trust.KEY_UNSUPPORTED'],
    ['a shared secret', [{ kty: 'oct', k: 'AAAA' }], 'trust.KEY_UNSUPPORTED'],
    ['another algorithm', [jwk(1, { alg: 'ES384' })], 'trust.KEY_UNSUPPORTED'],
    ['a key that encrypts', [jwk(1, { use: 'enc' })], 'trust.KEY_UNSUPPORTED'],
    ['a key that may only sign', [jwk(1, { key_ops: ['sign'] })], 'trust.KEY_UNSUPPORTED'],
    ['a name twice', [jwk(1, { kid: 'a' }), jwk(2, { kid: 'a' })], 'trust.KEY_DUPLICATE'],
    ['a nameless key twice', [bare(1), bare(1)], 'trust.KEY_DUPLICATE'],
    ['a point off the curve', [jwk(1, { x: jwk(2)['x'] })], 'trust.KEY_INVALID'],
    ['an unknown member', [jwk(1, { issuer: 'acme' })], 'trust.KEY_INVALID'],
    ['no object', ['key'], 'trust.KEY_INVALID'],
    ['an empty name', [jwk(1, { kid: '' })], 'trust.KEY_INVALID'],
    ['a name that is no text', [jwk(1, { kid: 7 })], 'trust.KEY_INVALID'],
    ['a name of 257 characters', [jwk(1, { kid: 'k'.repeat(257) })], 'trust.KEY_INVALID'],
  ])('with %s is refused whole', (_, keys, code) => {
    expect(codeOfSet(...keys)).toBe(code);
  });

  it('may give a name of 256 characters', () => {
    const kid = 'k'.repeat(256);
    expect(importPublicKeys(set(jwk(1, { kid }))).map(({ keyId }) => keyId)).toEqual([kid]);
  });

  it.each([
    ['text after its end', '{"keys":[]} x', 'trust.KEY_INVALID'],
    ['its keys twice', '{"keys":[],"keys":[]}', 'trust.KEY_INVALID'],
    ['another member', '{"keys":[{}],"next":1}', 'trust.STORE_INVALID'],
    ['keys that are no array', '{"keys":{}}', 'trust.STORE_INVALID'],
    ['no keys at all', '{}', 'trust.KEY_INVALID'],
    ['a byte order mark', '\uFEFF{"keys":[]}', 'trust.KEY_INVALID'],
  ])('with %s is refused', (_, text, code) => {
    expect(codeOf(() => importPublicKeys(text))).toBe(code);
  });

  it('names every fault with its place, the private key first', () => {
    const error = refusal(() => importPublicKeys(set(jwk(1, { use: 'enc' }), jwk(2, { d: 'AAAA' }))));
    expect(error).toMatchObject({ code: 'trust.KEY_PRIVATE', path: '/keys/1/d' });
    expect(error?.details?.['issues']).toMatchObject([{ path: '/keys/0/use' }, { path: '/keys/1/d' }]);
  });

  it('of 100,000 keys is refused by its size before anything is read', () => {
    const text = `{"keys":[${`${JSON.stringify(bare(1))},`.repeat(99_999)}${JSON.stringify(bare(1))}]}`;
    expect(refusal(() => importPublicKeys(text))).toMatchObject({
      name: 'LimitError',
      code: 'json.TOO_LARGE',
    });
  });

  it('is read up to the limit to the byte', () => {
    const text = JSON.stringify({ keys: [bare(1)] });
    expect(importPublicKeys(text.padEnd(MAX_KEY_SET_BYTES, ' '))).toHaveLength(1);
    expect(codeOf(() => importPublicKeys(text.padEnd(MAX_KEY_SET_BYTES + 1, ' ')))).toBe('json.TOO_LARGE');
  });
});

it('one key is read from PEM and from a JWK, which may name it', () => {
  const named = [{ keyId: keyIdOf(pointOf(1)), point: pointOf(1) }];
  expect(importPublicKeys(publicKeyPem(pointOf(1)))).toEqual(named);
  expect(importPublicKeys(json(bare(1)))).toEqual(named);
  expect(importPublicKeys(json(jwk(1, { kid: 'ci-2026' })))).toEqual([
    { keyId: 'ci-2026', point: pointOf(1) },
  ]);
});

it('never gives an empty list, whatever it reads', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.json({ maxDepth: 3 }).map(toUtf8),
    fc
      .array(fc.constantFrom<unknown>(bare(1), jwk(2), 1, null, { kty: 'oct' }), { maxLength: 3 })
      .map((keys) => set(...keys)),
  );
  forAll(300, [bytes], (input) => {
    let keys: readonly unknown[] | undefined;
    const error = refusal(() => (keys = importPublicKeys(input)));
    expect(error === undefined ? (keys?.length ?? 0) > 0 : keys === undefined).toBe(true);
  });
});
