import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBase64url, toHex, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import {
  generateSigningKey,
  readSigningKey,
  readVerifyingKey,
  writeSigningKeyPem,
} from '../../../src/node/keys/keys.ts';
import { keyIdOf, publicKeyPem } from '../../../src/trust/key/key.ts';
import { formatEcJwk } from '../../../src/trust/key/jwk.ts';
import { verifySignature } from '../../../src/trust/key/signer.ts';
import { formatPem, parsePem, decodePem } from '../../../src/trust/key/key-file.ts';
import { bytes32, codeOf, json, message, N, pointOf, refusal, scalarOf } from '../../trust/makers.ts';
import { makeFolder } from '../../support/folder.ts';
import { forAll } from '../../support/property.ts';

const folder = await makeFolder();
const file = (name: string): string => join(folder, name);
const write = (name: string, content: string | Uint8Array): string => {
  writeFileSync(file(name), content);
  return file(name);
};

/** Runs the openssl command and returns its output. */
const openssl = (...args: string[]): string =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });

const scalar = scalarOf(1);
const pem = writeSigningKeyPem(scalar);
const privateJwk = { ...formatEcJwk(pointOf(1)), d: toBase64url(scalar) };
const der = decodePem(parsePem(pem)[0]!);
const pkcs8 = (bytes: Uint8Array): string => formatPem('PRIVATE KEY', bytes);

describe('a signing key', () => {
  it('is read from the PKCS#8 that was written', () => {
    expect(pem.startsWith('-----BEGIN PRIVATE KEY-----\n')).toBe(true);
    expect(readSigningKey(pem).scalar).toEqual(scalar);
    expect(readSigningKey(toUtf8(pem)).signer.keyId).toBe(keyIdOf(pointOf(1)));
  });

  it('is read from a private JWK', () => {
    expect(readSigningKey(json(privateJwk)).scalar).toEqual(scalar);
    expect(readSigningKey(json({ ...privateJwk, key_ops: ['sign'] })).scalar).toEqual(scalar);
  });

  it('keeps its leading zero bytes in PKCS#8 and JWK', () => {
    for (const value of [1n, 255n, 2n ** 200n, N - 1n]) {
      const small = bytes32(value);
      const { signer } = readSigningKey(writeSigningKeyPem(small));
      const jwk = { ...formatEcJwk(signer.point), d: toBase64url(small) };
      expect(readSigningKey(writeSigningKeyPem(small)).scalar).toEqual(small);
      expect(readSigningKey(json(jwk)).scalar).toEqual(small);
    }
  });

  it('is new each time it is generated', () => {
    const [a, b] = [generateSigningKey(), generateSigningKey()];
    expect(toHex(a.scalar)).not.toBe(toHex(b.scalar));
    expect(readSigningKey(writeSigningKeyPem(a.scalar)).signer.keyId).toBe(a.signer.keyId);
  });

  it('is not written if it is outside the range', () => {
    expect(codeOf(() => writeSigningKeyPem(new Uint8Array(32)))).toBe('trust.KEY_INVALID');
    expect(codeOf(() => writeSigningKeyPem(bytes32(N)))).toBe('trust.KEY_INVALID');
  });

  it.each([
    ['PEM', publicKeyPem(pointOf(1))],
    ['a JWK', JSON.stringify(formatEcJwk(pointOf(1)))],
    ['a certificate', formatPem('CERTIFICATE', Uint8Array.of(0x30, 0))],
  ])('is not a public key in %s', (_, text) => {
    expect(codeOf(() => readSigningKey(text))).toBe('trust.KEY_PUBLIC');
  });

  it.each([
    ['PKCS#8', 'pkcs8'],
    ['SEC 1', 'sec1'],
  ] as const)('is refused as encrypted in %s, without a prompt', (_, type) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const options = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
    const secret = privateKey.export({ type, ...options }).toString();
    expect(codeOf(() => readSigningKey(secret))).toBe('trust.KEY_ENCRYPTED');
    expect(codeOf(() => readVerifyingKey(secret))).toBe('trust.KEY_PRIVATE');
  });

  it('does not appear in an error', () => {
    const secrets = [toHex(scalar), toBase64url(scalar), pem.split('\n')[1]!];
    const broken = [
      pem + pem,
      pkcs8(Uint8Array.of(...der, 0)),
      json({ ...privateJwk, use: 'enc' }),
      json({ ...privateJwk, x: 'A' }),
    ];
    for (const text of broken) {
      const error = refusal(() => readSigningKey(text));
      const output = `${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`;
      for (const secret of secrets) expect(output).not.toContain(secret);
    }
  });

  it('fails with a code after any change of a valid file', () => {
    const change = fc.record({ at: fc.nat(250), text: fc.string({ maxLength: 3 }), cut: fc.nat(3) });
    forAll(
      300,
      [fc.constantFrom(pem, JSON.stringify(privateJwk)), change],
      (text, { at, text: insert, cut }) => {
        const error = refusal(() => readSigningKey(text.slice(0, at) + insert + text.slice(at + cut)));
        if (error !== undefined) expect(error.code).toMatch(/^trust\.KEY_/);
      },
    );
  });
});

it('a verifying key is read from PEM and JWK, without a validity', () => {
  const key = { keyId: keyIdOf(pointOf(1)), point: pointOf(1) };
  expect(readVerifyingKey(publicKeyPem(pointOf(1)))).toEqual(key);
  expect(readVerifyingKey(json(formatEcJwk(pointOf(1))))).toEqual(key);
});

it('a verifying key is never a private key', () => {
  expect(codeOf(() => readVerifyingKey(pem))).toBe('trust.KEY_PRIVATE');
  expect(codeOf(() => readVerifyingKey(json(privateJwk)))).toBe('trust.KEY_PRIVATE');
  expect(codeOf(() => readVerifyingKey(formatPem('CERTIFICATE', der) + pem))).toBe('trust.KEY_PRIVATE');
});

/** Makes a self-signed certificate NAME.crt and its key NAME.key. */
const makeCertificate = (name: string, ...newkey: string[]): string => {
  const args = ['req', '-x509', '-nodes', '-subj', '/CN=acme', '-days', '30', '-keyout', `${name}.key`];
  openssl(...args, ...newkey, '-out', `${name}.crt`);
  return readFileSync(file(`${name}.crt`), 'utf8');
};
const P256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

describe('with the openssl command', () => {
  it.each([
    ['ecparam -genkey', ['ecparam', '-name', 'prime256v1', '-genkey']],
    ['ecparam -genkey -noout', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout']],
    ['genpkey', ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']],
  ])('a key of "%s" signs, and openssl computes the same public half', async (name, args) => {
    const key = write(`${name}.pem`, openssl(...args));
    const publicPem = openssl('pkey', '-in', key, '-pubout');
    const { signer } = readSigningKey(readFileSync(key));
    expect(readVerifyingKey(publicPem)).toEqual({ keyId: signer.keyId, point: signer.point });
    expect(publicPem).toBe(publicKeyPem(signer.point));
    const signature = await signer.sign(message);
    expect(verifySignature({ key: readVerifyingKey(publicPem), message, signature })).toBe(true);
  });

  it('PKCS#8 that was written is valid for openssl', () => {
    expect(openssl('pkey', '-in', write('ours.pem', pem), '-check', '-noout')).toContain('valid');
  });

  it('a certificate is read as a key with its validity and its origin', () => {
    const key = readVerifyingKey(makeCertificate('good', ...P256));
    const { signer } = readSigningKey(readFileSync(file('good.key')));
    expect(key).toMatchObject({ keyId: signer.keyId, point: signer.point, fromCertificate: true });
    expect(key.notAfterMs! - key.notBeforeMs!).toBe(30 * 86_400_000);
    const printed = openssl('x509', '-in', 'good.crt', '-noout', '-enddate').trim().replace('notAfter=', '');
    expect(key.notAfterMs).toBe(Date.parse(printed));
  });
});
