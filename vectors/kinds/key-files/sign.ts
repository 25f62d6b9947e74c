import { toBase64url } from '../../../src/bytes/text/encoding.ts';
import { concatBytes } from '../../make/bytes.ts';
import { FOREIGN } from '../../make/foreign-keys.ts';
import { EC_PARAMETERS, PRIVATE, pem, pkcs8, sec1 } from '../../make/key-files.ts';
import { scalarOf, storeKey } from '../../make/keys.ts';
import { type Case, NAME, d, jwk, publicFile, reads, refuses } from './case.ts';

export const signs = (): Case[] => {
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
