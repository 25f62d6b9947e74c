import { createHash, createPublicKey } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { importPublicKey, keyIdOf, publicJwk, publicKeyPem } from '../../../src/trust/index.ts';
import { formatPem } from '../../../src/trust/key/key-file.ts';
import { writeSpki } from '../../../src/trust/key/spki.ts';
import { bytes32, codeOf, foreignKeys, json, P, pointOf, refusal } from '../makers.ts';
import { forAll } from '../../support/property.ts';

const point = pointOf(1);
const pem = publicKeyPem(point);
const jwk = publicJwk(point);
const spki = writeSpki(point);
const compressed = Uint8Array.of(2 + (point[64]! & 1), ...point.subarray(1, 33));

/** A SubjectPublicKeyInfo of P-256 with any bytes in place of the point. */
const spkiOf = (key: Uint8Array, unusedBits = 0): Uint8Array => {
  const algorithm = fromHex('301306072a8648ce3d020106082a8648ce3d030107');
  const bits = Uint8Array.of(3, key.length + 1, unusedBits, ...key);
  return Uint8Array.of(0x30, algorithm.length + bits.length, ...algorithm, ...bits);
};
const pemOf = (der: Uint8Array): string => formatPem('PUBLIC KEY', der);

it('a key id is sha256: and the SHA-256 of the SubjectPublicKeyInfo that node:crypto writes', () => {
  const der = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  expect(keyIdOf(point)).toBe(`sha256:${createHash('sha256').update(der).digest('hex')}`);
});

it('a key id is asked of an uncompressed point only', () => {
  expect(() => keyIdOf(compressed)).toThrow(TypeError);
  expect(() => publicJwk(compressed)).toThrow(TypeError);
});

describe('a public key in PEM', () => {
  it('is read back as the point it was written from', () => {
    expect(importPublicKey(pem)).toEqual({ keyId: keyIdOf(point), point });
    expect(importPublicKey(toUtf8(pem))).toEqual(importPublicKey(pem));
  });

  it('is what node:crypto writes, byte for byte', () => {
    expect(createPublicKey(pem).export({ type: 'spki', format: 'pem' })).toBe(pem);
  });

  it('may hold its point compressed, and has the same key id', () => {
    expect(importPublicKey(pemOf(spkiOf(compressed)))).toEqual({ keyId: keyIdOf(point), point });
  });

  it('may have CRLF line ends, blank lines around it and lines of any length', () => {
    const base64 = pem.split('\n').slice(1, -2).join('');
    expect(importPublicKey(`\n\n${pem.replaceAll('\n', '\r\n')}\n \n`).point).toEqual(point);
    expect(importPublicKey(`-----BEGIN PUBLIC KEY-----\n${base64}\n-----END PUBLIC KEY-----`).point).toEqual(
      point,
    );
  });

  it.each(Object.entries(foreignKeys))(
    'is refused as unsupported when it is %s, by that name',
    (name, pair) => {
      const error = refusal(() =>
        importPublicKey(pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()),
      );
      expect(error?.code).toBe('trust.KEY_UNSUPPORTED');
      expect(error?.message).toContain(name);
    },
  );

  it.each(Object.entries(foreignKeys))('is refused as private when it is the other half of %s', (_, pair) => {
    const secret = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(codeOf(() => importPublicKey(secret))).toBe('trust.KEY_PRIVATE');
  });

  it.each(['PRIVATE KEY', 'EC PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'OPENSSH PRIVATE KEY'])(
    'is refused as private under the label %s, beside a public key too',
    (label) => {
      const secret = formatPem(label, Uint8Array.of(0x30, 0));
      expect(codeOf(() => importPublicKey(secret))).toBe('trust.KEY_PRIVATE');
      expect(codeOf(() => importPublicKey(pem + secret))).toBe('trust.KEY_PRIVATE');
    },
  );

  const off = Uint8Array.from(point, (byte, i) => (i === 64 ? byte ^ 1 : byte));
  it.each([
    ['text after it', `${pem}x`],
    ['text before it', `subject=CN\n${pem}`],
    ['two byte order marks', `\uFEFF\uFEFF${pem}`],
    ['two blocks', pem + pem],
    ['no END line', pem.slice(0, -30)],
    ['a BEGIN line after it', `${pem}-----BEGIN PUBLIC KEY-----\n`],
    ['another END line', pem.replace('END PUBLIC', 'END EC')],
    ['a BEGIN line within', pem.replace('\n', '\n-----BEGIN PUBLIC KEY-----\n')],
    ['a character outside base64', pem.replace('MFkw', 'MF*w')],
    ['a character too few', pem.replace('MFkw', 'MFk')],
    [
      'spare bits set',
      pem.replace(/(.)==/, (_, last: string) => `${String.fromCharCode(last.charCodeAt(0) + 1)}==`),
    ],
    ['a trailing byte', pemOf(Uint8Array.of(...spki, 0))],
    ['a byte too few', pemOf(spki.subarray(0, -1))],
    ['unused bits', pemOf(spkiOf(point, 1))],
    ['a long-form length', pemOf(Uint8Array.of(0x30, 0x81, ...spki.subarray(1)))],
    ['a third element', pemOf(Uint8Array.of(0x30, spki[1]! + 2, ...spki.subarray(2), 5, 0))],
    ['an OCTET STRING for the key', pemOf(Uint8Array.from(spki, (byte, i) => (i === 23 ? 4 : byte)))],
    ['a point off the curve', pemOf(spkiOf(off))],
    ['the point (0, 0)', pemOf(spkiOf(Uint8Array.of(4, ...new Uint8Array(64))))],
    ['a coordinate of p', pemOf(spkiOf(Uint8Array.of(4, ...bytes32(P), ...point.subarray(33))))],
    ['a compressed point off the curve', pemOf(spkiOf(Uint8Array.of(2, ...bytes32(1n))))],
    ['a hybrid point', pemOf(spkiOf(Uint8Array.of(6 + (point[64]! & 1), ...point.subarray(1))))],
    ['infinity', pemOf(spkiOf(Uint8Array.of(0)))],
    ['no point', pemOf(spkiOf(new Uint8Array()))],
    ['no contents', pemOf(new Uint8Array())],
  ])('is refused as invalid with %s', (_, text) => {
    expect(codeOf(() => importPublicKey(text))).toBe('trust.KEY_INVALID');
  });

  it('is refused as unsupported when its curve is spelt out instead of named', () => {
    const explicit = Uint8Array.of(0x30, 0x0f, 0x30, 0x0b, ...fromHex('06072a8648ce3d0201'), 0x30, 0, 3, 0);
    expect(codeOf(() => importPublicKey(pemOf(explicit)))).toBe('trust.KEY_UNSUPPORTED');
  });

  it.each(['CERTIFICATE', 'RSA PUBLIC KEY', 'CERTIFICATE REQUEST'])(
    'is refused under the label %s',
    (label) => {
      expect(codeOf(() => importPublicKey(formatPem(label, spki)))).toBe('trust.KEY_UNSUPPORTED');
    },
  );
});

describe('a public key as a JWK', () => {
  it('is read back as the point it was written from', () => {
    expect(importPublicKey(json(jwk))).toEqual({ keyId: keyIdOf(point), point });
  });

  it('is read as Web Crypto exports it', async () => {
    const { publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ]);
    const exported = await crypto.subtle.exportKey('jwk', publicKey);
    expect(exported.ext).toBe(true);
    expect(importPublicKey(JSON.stringify(exported)).point).toEqual(
      new Uint8Array(await crypto.subtle.exportKey('raw', publicKey)),
    );
  });

  it('has its own key id, whatever its kid', () => {
    expect(importPublicKey(json({ ...jwk, kid: '__proto__' })).keyId).toBe(keyIdOf(point));
  });

  const { kty, crv, x, y } = jwk;
  it('needs neither alg nor use', () => {
    expect(importPublicKey(json({ kty, crv, x, y })).point).toEqual(point);
  });

  it.each(Object.entries(foreignKeys))('is refused as unsupported when it is %s', (_, pair) => {
    const foreign =
      pair.publicKey.asymmetricKeyType === 'rsa-pss' ? { kty: 'RSA', n: 'AQ', e: 'AQAB' } : undefined;
    const exported = foreign ?? pair.publicKey.export({ format: 'jwk' });
    expect(codeOf(() => importPublicKey(json(exported)))).toBe('trust.KEY_UNSUPPORTED');
  });

  it.each([
    ['kty oct', { kty: 'oct', k: 'AAAA' }],
    ['alg ES384', { ...jwk, alg: 'ES384' }],
    ['alg none', { ...jwk, alg: 'none' }],
    ['alg es256', { ...jwk, alg: 'es256' }],
    ['use enc', { ...jwk, use: 'enc' }],
    ['key_ops without verify', { ...jwk, key_ops: ['sign'] }],
    ['empty key_ops', { ...jwk, key_ops: [] }],
    ['key_ops that is no array', { ...jwk, key_ops: 'verify' }],
    ['crv P-384 over these coordinates', { ...jwk, crv: 'P-384' }],
  ])('is refused as unsupported with %s', (_, value) => {
    expect(codeOf(() => importPublicKey(json(value)))).toBe('trust.KEY_UNSUPPORTED');
  });

  it.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'])('is refused as private with the member %s', (name) => {
    const error = refusal(() => importPublicKey(json({ ...jwk, use: 'enc', [name]: 'AQ' })));
    expect(error?.code).toBe('trust.KEY_PRIVATE');
    expect(error?.path).toBe(`/${name}`);
  });

  it.each([
    ['no kty', { crv, x, y }],
    ['no crv', { kty, x, y }],
    ['no x', { kty, crv, y }],
    ['y as a number', { ...jwk, y: 7 }],
    ['x of 31 bytes', { ...jwk, x: x.slice(0, -2) }],
    ['x with padding', { ...jwk, x: `${x}=` }],
    ['x and y exchanged', { ...jwk, x: y, y: x }],
    ['a kty that is no string', { ...jwk, kty: ['EC'] }],
    ['an unknown member', { ...jwk, notAfterMs: 1 }],
    ['a JWK Set', { keys: [jwk] }],
  ])('is refused as invalid with %s', (_, value) => {
    expect(codeOf(() => importPublicKey(json(value)))).toBe('trust.KEY_INVALID');
  });

  it.each([
    ['a second member of one name', `{"kty":"EC",${JSON.stringify(jwk).slice(1)}`],
    ['a second member by an escape', `{"k\\u0074y":"oct",${JSON.stringify(jwk).slice(1)}`],
    ['trailing garbage', `${JSON.stringify(jwk)}x`],
    ['a second key', JSON.stringify(jwk) + JSON.stringify(jwk)],
    ['a truncated end', JSON.stringify(jwk).slice(0, -1)],
    ['a byte order mark', `\uFEFF${JSON.stringify(jwk)}`],
  ])('is refused as invalid with %s', (_, text) => {
    expect(codeOf(() => importPublicKey(text))).toBe('trust.KEY_INVALID');
  });

  it('gives inherited names no meaning', () => {
    const text = JSON.stringify({ crv, x, y }).replace('{', '{"__proto__":{"kty":"EC"},');
    expect(codeOf(() => importPublicKey(text))).toBe('trust.KEY_INVALID');
  });
});

describe('a file that is not a key', () => {
  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['other text', 'ssh-ed25519 AAAA'],
    ['a JSON array', '[]'],
    ['too much', ' '.repeat(300_000)],
  ])('is refused: %s', (_, text) => {
    expect(codeOf(() => importPublicKey(text))).toBe('trust.KEY_INVALID');
  });

  it('is refused when it is DER', () => {
    expect(codeOf(() => importPublicKey(spki))).toBe('trust.KEY_INVALID');
  });

  it('never ends in another kind of error, whatever is changed in a good one', () => {
    const change = fc.record({ at: fc.nat(400), text: fc.string({ maxLength: 3 }), cut: fc.nat(3) });
    forAll(500, [fc.constantFrom(pem, JSON.stringify(jwk)), change], (text, { at, text: insert, cut }) => {
      const changed = text.slice(0, at) + insert + text.slice(at + cut);
      const error = refusal(() => importPublicKey(changed));
      if (error !== undefined) expect(error.code).toMatch(/^trust\.KEY_/);
    });
  });

  it('is never taken for another key when one byte of the SubjectPublicKeyInfo changes', () => {
    for (let at = 0; at < spki.length; at++) {
      const changed = Uint8Array.from(spki, (byte, i) => (i === at ? byte ^ 1 : byte));
      expect(codeOf(() => importPublicKey(pemOf(changed)))).toMatch(/^trust\.KEY_(INVALID|UNSUPPORTED)$/);
    }
  });
});
