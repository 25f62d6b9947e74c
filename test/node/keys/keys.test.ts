import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { toBase64url, toHex, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import {
  generateSigningKey,
  readSigningKey,
  readVerifyingKey,
  writeSigningKeyPem,
} from '../../../src/node/keys/keys.ts';
import { keyIdOf, publicJwk, publicKeyPem, verifySignature } from '../../../src/trust/index.ts';
import { formatPem, parsePem, pemBytes } from '../../../src/trust/key/key-file.ts';
import {
  bytes32,
  codeOf,
  foreignKeys,
  json,
  message,
  N,
  pointOf,
  refusal,
  scalarOf,
} from '../../trust/makers.ts';
import { forAll } from '../../support/property.ts';

const folder = mkdtempSync(join(tmpdir(), 'keys-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => join(folder, name);
const write = (name: string, content: string | Uint8Array): string => {
  writeFileSync(file(name), content);
  return file(name);
};

const OPENSSL = 'openssl';
/** Runs the openssl command and gives what it prints. */
const openssl = (...args: string[]): string =>
  execFileSync(OPENSSL, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });

const scalar = scalarOf(1);
const pem = writeSigningKeyPem(scalar);
const privateJwk = { ...publicJwk(pointOf(1)), d: toBase64url(scalar) };
const der = pemBytes(parsePem(pem)[0]!);
const pkcs8 = (bytes: Uint8Array): string => formatPem('PRIVATE KEY', bytes);

describe('a signing key', () => {
  it('is read back from the PKCS#8 it was written to', () => {
    expect(pem.startsWith('-----BEGIN PRIVATE KEY-----\n')).toBe(true);
    expect(readSigningKey(pem).scalar).toEqual(scalar);
    expect(readSigningKey(toUtf8(pem)).signer.keyId).toBe(keyIdOf(pointOf(1)));
  });

  it('is read from a private JWK', () => {
    expect(readSigningKey(json(privateJwk)).scalar).toEqual(scalar);
    expect(readSigningKey(json({ ...privateJwk, key_ops: ['sign'] })).scalar).toEqual(scalar);
  });

  it('keeps its leading zero bytes on every way', () => {
    for (const value of [1n, 255n, 2n ** 200n, N - 1n]) {
      const small = bytes32(value);
      const { signer } = readSigningKey(writeSigningKeyPem(small));
      const jwk = { ...publicJwk(signer.point), d: toBase64url(small) };
      expect(readSigningKey(writeSigningKeyPem(small)).scalar).toEqual(small);
      expect(readSigningKey(json(jwk)).scalar).toEqual(small);
    }
  });

  it('is new each time it is generated', () => {
    const [a, b] = [generateSigningKey(), generateSigningKey()];
    expect(toHex(a.scalar)).not.toBe(toHex(b.scalar));
    expect(readSigningKey(writeSigningKeyPem(a.scalar)).signer.keyId).toBe(a.signer.keyId);
  });

  it('is not written when it is none', () => {
    expect(codeOf(() => writeSigningKeyPem(new Uint8Array(32)))).toBe('trust.KEY_INVALID');
    expect(codeOf(() => writeSigningKeyPem(bytes32(N)))).toBe('trust.KEY_INVALID');
  });

  it.each([
    ['PEM', publicKeyPem(pointOf(1))],
    ['a JWK', JSON.stringify(publicJwk(pointOf(1)))],
    ['a certificate', formatPem('CERTIFICATE', Uint8Array.of(0x30, 0))],
  ])('is not a public key in %s', (_, text) => {
    expect(codeOf(() => readSigningKey(text))).toBe('trust.KEY_PUBLIC');
  });

  it.each(Object.entries(foreignKeys))('is not of kind %s', (name, pair) => {
    const secret = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(codeOf(() => readSigningKey(secret))).toBe('trust.KEY_UNSUPPORTED');
    if (name === 'RSA-PSS') return;
    const jwk = pair.privateKey.export({ format: 'jwk' });
    expect(codeOf(() => readSigningKey(json(jwk)))).toBe('trust.KEY_UNSUPPORTED');
  });

  it.each([
    ['PKCS#8', 'pkcs8'],
    ['SEC 1', 'sec1'],
  ] as const)('is refused as encrypted in %s, without asking for anything', (_, type) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const options = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
    const secret = privateKey.export({ type, ...options }).toString();
    expect(codeOf(() => readSigningKey(secret))).toBe('trust.KEY_ENCRYPTED');
    expect(codeOf(() => readVerifyingKey(secret))).toBe('trust.KEY_PRIVATE');
  });

  it.each(['RSA PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'DSA PRIVATE KEY'])('is not read from "%s"', (label) => {
    expect(codeOf(() => readSigningKey(formatPem(label, der)))).toBe('trust.KEY_UNSUPPORTED');
  });

  const otherPoint = pointOf(2);
  it.each([
    ['the public half of another key', pkcs8(Uint8Array.of(...der.subarray(0, -65), ...otherPoint))],
    ['a public half off the curve', pkcs8(der.with(der.length - 1, der.at(-1)! ^ 1))],
    ['a trailing byte', pkcs8(Uint8Array.of(...der, 0))],
    ['a byte too few', pkcs8(der.subarray(0, -1))],
    ['no contents', pkcs8(new Uint8Array())],
    ['two keys', pem + pem],
    ['a public key after it', pem + publicKeyPem(pointOf(1))],
    ['text around it', `key:\n${pem}`],
    ['the JWK of two keys', JSON.stringify({ ...privateJwk, ...publicJwk(otherPoint) })],
    ['d of 31 bytes', JSON.stringify({ ...privateJwk, d: toBase64url(scalar.subarray(1)) })],
    ['d = 0', JSON.stringify({ ...privateJwk, d: toBase64url(new Uint8Array(32)) })],
    ['d = n', JSON.stringify({ ...privateJwk, d: toBase64url(bytes32(N)) })],
    ['an unknown member', JSON.stringify({ ...privateJwk, p: 'AQ' })],
    ['nothing', ''],
  ])('is refused as invalid with %s', (_, text) => {
    expect(codeOf(() => readSigningKey(text))).toBe('trust.KEY_INVALID');
  });

  it.each([
    ['use enc', { use: 'enc' }],
    ['alg ES384', { alg: 'ES384' }],
    ['key_ops without sign', { key_ops: ['verify'] }],
  ])('is refused as unsupported with %s', (_, changes) => {
    expect(codeOf(() => readSigningKey(json({ ...privateJwk, ...changes })))).toBe('trust.KEY_UNSUPPORTED');
  });

  it('shows nothing of itself in an error', () => {
    const secrets = [toHex(scalar), toBase64url(scalar), pem.split('\n')[1]!];
    const broken = [
      pem + pem,
      pkcs8(Uint8Array.of(...der, 0)),
      json({ ...privateJwk, use: 'enc' }),
      json({ ...privateJwk, x: 'A' }),
    ];
    for (const text of broken) {
      const error = refusal(() => readSigningKey(text));
      const shown = `${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`;
      for (const secret of secrets) expect(shown).not.toContain(secret);
    }
  });

  it('never ends in another kind of error, whatever is changed in a good file', () => {
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

it('a verifying key is read from PEM and JWK as everywhere, without a validity', () => {
  const key = { keyId: keyIdOf(pointOf(1)), point: pointOf(1) };
  expect(readVerifyingKey(publicKeyPem(pointOf(1)))).toEqual(key);
  expect(readVerifyingKey(json(publicJwk(pointOf(1))))).toEqual(key);
});

it('a verifying key is never a private key', () => {
  expect(codeOf(() => readVerifyingKey(pem))).toBe('trust.KEY_PRIVATE');
  expect(codeOf(() => readVerifyingKey(json(privateJwk)))).toBe('trust.KEY_PRIVATE');
  expect(codeOf(() => readVerifyingKey(formatPem('CERTIFICATE', der) + pem))).toBe('trust.KEY_PRIVATE');
});

it.each([
  ['no certificate in it', formatPem('CERTIFICATE', der)],
  ['nothing in it', formatPem('CERTIFICATE', new Uint8Array())],
])('a verifying key is refused from a certificate block with %s', (_, text) => {
  expect(codeOf(() => readVerifyingKey(text))).toBe('trust.KEY_INVALID');
});

/** A self-signed certificate in NAME.crt, its key in NAME.key. */
const selfSigned = (name: string, ...newkey: string[]): string => {
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
  ])('a key of "%s" signs, and openssl and we agree on its public half', async (name, args) => {
    const key = write(`${name}.pem`, openssl(...args));
    const publicPem = openssl('pkey', '-in', key, '-pubout');
    const { signer } = readSigningKey(readFileSync(key));
    expect(readVerifyingKey(publicPem)).toEqual({ keyId: signer.keyId, point: signer.point });
    expect(publicPem).toBe(publicKeyPem(signer.point));
    const signature = await signer.sign(message);
    expect(verifySignature({ key: readVerifyingKey(publicPem), message, signature })).toBe(true);
  });

  it('a public key with a compressed point has the key id of the same key', () => {
    const key = write('compressed.pem', pem);
    const publicPem = openssl('ec', '-in', key, '-pubout', '-conv_form', 'compressed');
    expect(publicPem).not.toBe(publicKeyPem(pointOf(1)));
    expect(readVerifyingKey(publicPem).keyId).toBe(keyIdOf(pointOf(1)));
  });

  it('what openssl signs, we verify, and not over another message', () => {
    const key = write('signs.pem', pem);
    const text = write('statement', message);
    for (let i = 0; i < 5; i++) {
      openssl('dgst', '-sha256', '-sign', key, '-out', 'signature', text);
      const signature = readFileSync(file('signature'));
      expect(verifySignature({ key: { point: pointOf(1) }, message, signature })).toBe(true);
      expect(verifySignature({ key: { point: pointOf(1) }, message: toUtf8('x'), signature })).toBe(false);
    }
  });

  it('what we sign, openssl verifies with our PEM, and not over another message', async () => {
    const { signer } = readSigningKey(pem);
    write('public.pem', publicKeyPem(signer.point));
    write('message', message);
    write('other', toUtf8('x'));
    const verify = ['dgst', '-sha256', '-verify', 'public.pem', '-signature', 'ours'];
    for (let i = 0; i < 20; i++) {
      write('ours', await signer.sign(message));
      expect(openssl(...verify, 'message')).toBe('Verified OK\n');
    }
    expect(() => openssl(...verify, 'other')).toThrow();
  });

  it('our PKCS#8 is a key that openssl finds sound', () => {
    expect(openssl('pkey', '-in', write('ours.pem', pem), '-check', '-noout')).toContain('valid');
  });

  it('a certificate gives its key and its validity, and says where they are from', () => {
    const key = readVerifyingKey(selfSigned('good', ...P256));
    const { signer } = readSigningKey(readFileSync(file('good.key')));
    expect(key).toMatchObject({ keyId: signer.keyId, point: signer.point, fromCertificate: true });
    expect(key.notAfterMs! - key.notBeforeMs!).toBe(30 * 86_400_000);
    const printed = openssl('x509', '-in', 'good.crt', '-noout', '-enddate').trim().replace('notAfter=', '');
    expect(key.notAfterMs).toBe(Date.parse(printed));
  });

  it('a certificate is refused with text, a second one or a byte after it, and as a signing key', () => {
    const certificate = selfSigned('refused', ...P256);
    const bytes = pemBytes(parsePem(certificate)[0]!);
    expect(codeOf(() => readVerifyingKey(openssl('x509', '-in', 'refused.crt', '-text')))).toBe(
      'trust.KEY_INVALID',
    );
    expect(codeOf(() => readVerifyingKey(certificate + certificate))).toBe('trust.KEY_INVALID');
    const longer = formatPem('CERTIFICATE', Uint8Array.of(...bytes, 0));
    expect(codeOf(() => readVerifyingKey(longer))).toBe('trust.KEY_INVALID');
    expect(codeOf(() => readSigningKey(certificate))).toBe('trust.KEY_PUBLIC');
  });

  it.each([
    ['RSA', ['-newkey', 'rsa:2048']],
    ['P-384', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384']],
    ['Ed25519', ['-newkey', 'ed25519']],
  ])('a certificate of a key of kind %s is refused', (name, newkey) => {
    const error = refusal(() => readVerifyingKey(selfSigned(name, ...newkey)));
    expect(error?.code).toBe('trust.KEY_UNSUPPORTED');
    expect(error?.message).toContain(name);
  });

  it('a key of another curve is refused, also when its parameters stand before it or are spelt out', () => {
    const refused = [
      ['-name', 'secp384r1', '-genkey'],
      ['-name', 'secp256k1', '-genkey', '-noout'],
      ['-name', 'prime256v1', '-genkey', '-param_enc', 'explicit'],
    ].map((args) => codeOf(() => readSigningKey(openssl('ecparam', ...args))));
    expect(new Set(refused)).toEqual(new Set(['trust.KEY_UNSUPPORTED']));
    const parameters = openssl('ecparam', '-name', 'secp384r1');
    const key = openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout');
    expect(codeOf(() => readSigningKey(parameters + key))).toBe('trust.KEY_UNSUPPORTED');
    expect(codeOf(() => readSigningKey(key + parameters))).toBe('trust.KEY_INVALID');
  });
});
