import * as z from 'zod';
import type { Code } from '../../src/codes/index.ts';
import { toBase64url } from '../../src/bytes/base64url.ts';
import type { Flag } from '../flags.ts';
import {
  accepts,
  base64Schema,
  digestTextSchema,
  hexSchema,
  refused,
  VALID,
  type Kind,
  type VectorCase,
} from '../kind.ts';
import { base64Of, concatBytes, flipped, hexOf, sha256Of, utf8 } from '../make/bytes.ts';
import { integer, sequence } from '../make/der.ts';
import { CERTIFIED, FOREIGN } from '../make/foreign-keys.ts';
import {
  compressed,
  EC_PARAMETERS,
  EC_PUBLIC_KEY,
  P_256,
  pem,
  pkcs8,
  PRIVATE,
  PUBLIC,
  publicPem,
  sec1,
  spki,
} from '../make/key-files.ts';
import { keyId, pointOf, scalarOf, storeKey } from '../make/keys.ts';

const inputSchema = z.strictObject({
  base64: base64Schema.describe('the bytes of the file'),
  use: z.enum(['verify', 'sign']).describe('whether a public or a private key is wanted'),
});
const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    point: hexSchema.describe('the public key, uncompressed'),
    keyId: digestTextSchema,
    notBeforeMs: z.int().optional(),
    notAfterMs: z.int().optional(),
    fromCertificate: z.literal(true).optional(),
  }),
);
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;
type Use = Case['input']['use'];

const NAME = 'a';
const caseOf = (
  use: Use,
  id: string,
  file: Uint8Array | string,
  flag: Flag,
  comment: string,
  expected: Case['expected'],
): Case => ({
  id: `${use}-${id}`,
  comment,
  flags: [flag],
  input: { base64: base64Of(typeof file === 'string' ? utf8(file) : file), use },
  expected,
});
const key = { ...VALID, point: hexOf(pointOf(NAME)), keyId: keyId(NAME) };
const reads = (use: Use, id: string, file: string, comment: string): Case =>
  caseOf(use, id, file, 'Usual', comment, key);
const refuses =
  (use: Use) =>
  (id: string, file: Uint8Array | string, code: Code, flag: Flag, comment: string): Case =>
    caseOf(use, id, file, flag, comment, refused(code));

/** The key as a JWK that stands alone, with other members beside or instead. */
const jwk = (changes: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify(storeKey(NAME, { issuer: undefined, ...changes }));
const d = toBase64url(scalarOf(NAME));
const point = pointOf(NAME);
const publicFile = publicPem(NAME);

const verifies = (): Case[] => {
  const no = refuses('verify');
  const invalid = 'trust.KEY_INVALID';
  const unsupported = 'trust.KEY_UNSUPPORTED';
  const priv = 'trust.KEY_PRIVATE';
  return [
    reads('verify', 'pem', publicFile, 'a public key in PEM'),
    reads(
      'verify',
      'pem-compressed',
      pem(PUBLIC, spki(compressed(point))),
      'its point compressed: the key id is that of the uncompressed form',
    ),
    reads('verify', 'pem-crlf', pem(PUBLIC, spki(point), '\r\n'), 'lines that end as on Windows'),
    reads('verify', 'pem-blank-lines', `\n\n${publicFile}\n`, 'blank lines around the block'),
    reads('verify', 'jwk', jwk(), 'a JWK'),
    reads(
      'verify',
      'jwk-plain',
      jwk({ use: undefined, alg: undefined, kid: undefined }),
      'a JWK of the four members that it needs',
    ),
    reads('verify', 'jwk-verify', jwk({ key_ops: ['verify'], ext: true }), 'a JWK as Web Crypto writes it'),
    caseOf(
      'verify',
      'certificate',
      FOREIGN.certificate,
      'Certificate',
      'the key and the validity of a certificate, whose chain nobody checks',
      {
        ...VALID,
        ...CERTIFIED,
        keyId: sha256Of(spki(Uint8Array.from(Buffer.from(CERTIFIED.point, 'hex')))),
        fromCertificate: true,
      },
    ),
    no('empty', '', invalid, 'Structure', 'an empty file'),
    no('text', 'a key\n', invalid, 'Structure', 'another text'),
    no('der', spki(point), invalid, 'Structure', 'DER without PEM around it'),
    no('array', '[]', invalid, 'Structure', 'JSON that is no object'),
    no(
      'jwk-duplicate',
      jwk().replace('{', '{"x":"AA",'),
      invalid,
      'DuplicateMember',
      'a JWK with two members of one name',
    ),
    no(
      'jwk-set',
      JSON.stringify({ keys: [storeKey(NAME)] }),
      invalid,
      'Structure',
      'a trust store where one key belongs',
    ),
    no(
      'two-keys',
      publicFile + publicPem('b'),
      invalid,
      'Structure',
      'two keys, of which a reader would have to choose',
    ),
    no('text-before', `Key of Alice\n${publicFile}`, invalid, 'Structure', 'text before the block'),
    no('no-end', publicFile.replace(/-----END.*\n$/, ''), invalid, 'Truncated', 'no END line'),
    no(
      'other-end',
      publicFile.replace('END PUBLIC KEY', 'END EC KEY'),
      invalid,
      'Structure',
      'the END line of another label',
    ),
    no('not-base64', publicFile.replace('M', '*'), invalid, 'Alphabet', 'a character that is not base64'),
    no(
      'trailing',
      pem(PUBLIC, concatBytes(spki(point), Uint8Array.of(0))),
      invalid,
      'TrailingBytes',
      'a byte after the DER',
    ),
    no('cut', pem(PUBLIC, spki(point).subarray(0, -1)), invalid, 'Truncated', 'the last byte missing'),
    no(
      'off-curve',
      pem(PUBLIC, spki(flipped(point, -1))),
      invalid,
      'InvalidPoint',
      'a point beside the curve',
    ),
    no('infinity', pem(PUBLIC, spki(Uint8Array.of(0))), invalid, 'InvalidPoint', 'the point at infinity'),
    no(
      'hybrid',
      pem(PUBLIC, spki(concatBytes(Uint8Array.of(6 + (point[64]! & 1)), point.subarray(1)))),
      invalid,
      'InvalidPoint',
      'the hybrid form of a point',
    ),
    no(
      'spare-bits',
      pem(PUBLIC, spki(point, [EC_PUBLIC_KEY, P_256], 1)),
      invalid,
      'Structure',
      'a key that is no whole number of bytes',
    ),
    no(
      'jwk-off-curve',
      jwk({ y: toBase64url(flipped(point.subarray(33), 31)) }),
      invalid,
      'InvalidPoint',
      'a point beside the curve in a JWK',
    ),
    no(
      'jwk-short',
      jwk({ x: toBase64url(point.subarray(1, 32)) }),
      invalid,
      'Length',
      'a coordinate of 31 bytes',
    ),
    no(
      'jwk-padded',
      jwk({ x: `${toBase64url(point.subarray(1, 33))}=` }),
      invalid,
      'Padding',
      'a coordinate with padding',
    ),
    no('jwk-no-y', jwk({ y: undefined }), invalid, 'MissingMember', 'no y'),
    no('jwk-no-kty', jwk({ kty: undefined }), invalid, 'MissingMember', 'no kty'),
    no(
      'jwk-unknown',
      jwk({ scope: 'all' }),
      invalid,
      'UnknownMember',
      'a member that nobody knows could be a restriction',
    ),
    no(
      'explicit-curve',
      pem(PUBLIC, spki(point, [EC_PUBLIC_KEY, sequence(integer(1n))])),
      unsupported,
      'WrongCurve',
      'parameters of a curve written out, which a forger chooses',
    ),
    no('rsa', FOREIGN.rsaPublic, unsupported, 'WrongAlgorithm', 'RSA'),
    no('p384', FOREIGN.p384Public, unsupported, 'WrongCurve', 'P-384'),
    no('p521', FOREIGN.p521Public, unsupported, 'WrongCurve', 'P-521'),
    no(
      'secp256k1',
      FOREIGN.secp256k1Public,
      unsupported,
      'WrongCurve',
      'secp256k1, whose points have the same length',
    ),
    no('ed25519', FOREIGN.ed25519Public, unsupported, 'WrongAlgorithm', 'Ed25519'),
    no('x25519', FOREIGN.x25519Public, unsupported, 'WrongAlgorithm', 'X25519'),
    no('rsa-certificate', FOREIGN.rsaCertificate, unsupported, 'WrongAlgorithm', 'a certificate of RSA'),
    no('parameters', EC_PARAMETERS, unsupported, 'Structure', 'a curve and no key'),
    no(
      'jwk-oct',
      JSON.stringify({ kty: 'oct', kid: 'a', alg: 'HS256' }),
      unsupported,
      'WrongAlgorithm',
      'a shared secret',
    ),
    no('jwk-p384', jwk({ crv: 'P-384' }), unsupported, 'WrongCurve', 'another curve in a JWK'),
    no('jwk-alg', jwk({ alg: 'ES384' }), unsupported, 'WrongAlgorithm', 'another algorithm'),
    no('jwk-alg-none', jwk({ alg: 'none' }), unsupported, 'WrongAlgorithm', 'no algorithm'),
    no('jwk-use', jwk({ use: 'enc' }), unsupported, 'WrongUse', 'a key for encryption'),
    no(
      'jwk-operations',
      jwk({ key_ops: ['deriveKey'] }),
      unsupported,
      'WrongUse',
      'a key that may not verify',
    ),
    no('private-pem', pem(PRIVATE, pkcs8(NAME)), priv, 'PrivateKey', 'a private key'),
    no(
      'private-sec1',
      pem('EC PRIVATE KEY', sec1(NAME)),
      priv,
      'PrivateKey',
      'a private key in the older form',
    ),
    no('private-encrypted', FOREIGN.encryptedPkcs8, priv, 'PrivateKey', 'a private key, encrypted'),
    no(
      'private-behind',
      publicFile + pem(PRIVATE, pkcs8(NAME)),
      priv,
      'PrivateKey',
      'a private key behind the public one',
    ),
    no('private-jwk', jwk({ d }), priv, 'PrivateKey', 'a JWK with its private member'),
  ];
};

const signs = (): Case[] => {
  const no = refuses('sign');
  const invalid = 'trust.KEY_INVALID';
  const unsupported = 'trust.KEY_UNSUPPORTED';
  return [
    reads('sign', 'pkcs8', pem(PRIVATE, pkcs8(NAME)), 'PKCS#8'),
    reads('sign', 'sec1', pem('EC PRIVATE KEY', sec1(NAME)), 'the form of SEC 1'),
    reads(
      'sign',
      'sec1-parameters',
      EC_PARAMETERS + pem('EC PRIVATE KEY', sec1(NAME)),
      'with the curve before it, as openssl writes it',
    ),
    reads('sign', 'jwk', jwk({ d }), 'a private JWK'),
    no('public-pem', publicFile, 'trust.KEY_PUBLIC', 'PublicKey', 'a public key'),
    no('public-jwk', jwk(), 'trust.KEY_PUBLIC', 'PublicKey', 'a JWK without its private member'),
    no('certificate', FOREIGN.certificate, 'trust.KEY_PUBLIC', 'PublicKey', 'a certificate'),
    no('encrypted-pkcs8', FOREIGN.encryptedPkcs8, 'trust.KEY_ENCRYPTED', 'EncryptedKey', 'encrypted PKCS#8'),
    no(
      'encrypted-sec1',
      FOREIGN.encryptedSec1,
      'trust.KEY_ENCRYPTED',
      'EncryptedKey',
      'the older form, encrypted',
    ),
    no('rsa', FOREIGN.rsaPrivate, unsupported, 'WrongAlgorithm', 'RSA'),
    no('p384', FOREIGN.p384Private, unsupported, 'WrongCurve', 'P-384'),
    no('secp256k1', FOREIGN.secp256k1Private, unsupported, 'WrongCurve', 'secp256k1'),
    no('ed25519', FOREIGN.ed25519Private, unsupported, 'WrongAlgorithm', 'Ed25519'),
    no(
      'other-half',
      pem(PRIVATE, pkcs8(NAME, 'b')),
      invalid,
      'WrongKey',
      'the public half of another key: it would sign in a wrong name',
    ),
    no(
      'jwk-other-half',
      JSON.stringify({ ...storeKey('b', { issuer: undefined }), d }),
      invalid,
      'WrongKey',
      'the same in a JWK',
    ),
    no('jwk-zero', jwk({ d: toBase64url(new Uint8Array(32)) }), invalid, 'Range', 'the private number 0'),
    no(
      'jwk-short',
      jwk({ d: toBase64url(scalarOf(NAME).subarray(1)) }),
      invalid,
      'Length',
      'a private number of 31 bytes',
    ),
    no('two-keys', pem(PRIVATE, pkcs8(NAME)) + pem(PRIVATE, pkcs8('b')), invalid, 'Structure', 'two keys'),
    no(
      'trailing',
      pem(PRIVATE, concatBytes(pkcs8(NAME), Uint8Array.of(0))),
      invalid,
      'TrailingBytes',
      'a byte after the DER',
    ),
  ];
};

export const keyFiles: Kind<Case['input'], Case['expected']> = {
  name: 'key-files',
  about: 'a key file, and the key that is read from it',
  clause: 'RFC 7468; RFC 7517 §4; RFC 5480 §2; RFC 5958 §2; RFC 5915 §3; docs/keys.md',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...verifies(), ...signs()],
};
