import { createHash, createPublicKey } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { formatEcJwk } from '../../../src/trust/key/jwk.ts';
import { importPublicKey, keyIdOf, publicKeyPem, writeSpki } from '../../../src/trust/key/key.ts';
import { formatPem } from '../../../src/trust/key/key-file.ts';
import { codeOf, json, pointOf, refusal } from '../makers.ts';
import { forAll } from '../../support/property.ts';

const point = pointOf(1);
const pem = publicKeyPem(point);
const jwk = formatEcJwk(point);
const spki = writeSpki(point);
const compressed = Uint8Array.of(2 + (point[64]! & 1), ...point.subarray(1, 33));

const pemOf = (der: Uint8Array): string => formatPem('PUBLIC KEY', der);

it('a key id is sha256: and the SHA-256 of the SubjectPublicKeyInfo that node:crypto writes', () => {
  const der = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  expect(keyIdOf(point)).toBe(`sha256:${createHash('sha256').update(der).digest('hex')}`);
});

it('a key id and a JWK require an uncompressed point', () => {
  expect(() => keyIdOf(compressed)).toThrow(TypeError);
  expect(() => formatEcJwk(compressed)).toThrow(TypeError);
});

describe('a public key in PEM', () => {
  it('is read back as the point it was written from', () => {
    expect(importPublicKey(pem)).toEqual({ keyId: keyIdOf(point), point });
    expect(importPublicKey(toUtf8(pem))).toEqual(importPublicKey(pem));
  });

  it('equals the output of node:crypto, byte for byte', () => {
    expect(createPublicKey(pem).export({ type: 'spki', format: 'pem' })).toBe(pem);
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

  it('gives inherited names no meaning', () => {
    const text = JSON.stringify(jwk).replace('"kty":"EC"', '"__proto__":{"kty":"EC"}');
    expect(codeOf(() => importPublicKey(text))).toBe('trust.KEY_INVALID');
  });
});

describe('a file that is not a key', () => {
  it('never ends in another kind of error, whatever is changed in a good one', () => {
    const change = fc.record({ at: fc.nat(400), text: fc.string({ maxLength: 3 }), cut: fc.nat(3) });
    forAll(500, [fc.constantFrom(pem, JSON.stringify(jwk)), change], (text, { at, text: insert, cut }) => {
      const changed = text.slice(0, at) + insert + text.slice(at + cut);
      const error = refusal(() => importPublicKey(changed));
      if (error !== undefined) expect(error.code).toMatch(/^trust\.KEY_/);
    });
  });

  it('is refused, not read as another key, when one byte of the SubjectPublicKeyInfo changes', () => {
    for (let at = 0; at < spki.length; at++) {
      const changed = Uint8Array.from(spki, (byte, i) => (i === at ? byte ^ 1 : byte));
      expect(codeOf(() => importPublicKey(pemOf(changed)))).toMatch(/^trust\.KEY_(INVALID|UNSUPPORTED)$/);
    }
  });
});
