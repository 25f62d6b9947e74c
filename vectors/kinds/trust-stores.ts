import * as z from 'zod';
import { toBase64url } from '../../src/bytes/base64url.ts';
import type { Code } from '../../src/codes/index.ts';
import type { Flag } from '../flags.ts';
import { accepts, base64Schema, refused, VALID, type Kind, type VectorCase } from '../kind.ts';
import { base64Of, flipped, utf8 } from '../make/bytes.ts';
import { ISSUER, keyId, pointOf, scalarOf, storeKey, storeText } from '../make/keys.ts';

const inputSchema = z.strictObject({ base64: base64Schema.describe('the bytes of the trust store') });
const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    keys: z.array(
      z.strictObject({
        issuer: z.string(),
        keyId: z.string(),
        purposes: z.array(z.string()),
        compromised: z.boolean(),
      }),
    ),
  }),
);
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;
type Row = { issuer: string; keyId: string; purposes: string[]; compromised: boolean };
type Changes = Readonly<Record<string, unknown>>;

const row = (name: string, changes: Partial<Row> = {}): Row => ({
  issuer: ISSUER,
  keyId: keyId(name),
  purposes: ['evidence'],
  compromised: true,
  ...changes,
});
const good = (id: string, text: string, keys: Row[], comment: string): Case => ({
  id,
  comment,
  flags: ['Usual'],
  input: { base64: base64Of(utf8(text)) },
  expected: { ...VALID, keys },
});
const bad = (id: string, text: string | Uint8Array, code: Code, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { base64: base64Of(typeof text === 'string' ? utf8(text) : text) },
  expected: refused(code),
});
/** A store of one key with other members, which is refused. */
const badKey = (id: string, changes: Changes, code: Code, flag: Flag, comment: string): Case =>
  bad(`key-${id}`, storeText(storeKey('a', changes)), code, flag, comment);

const one = storeText(storeKey('a'));
const x = (bytes: Uint8Array): string => toBase64url(bytes);

const loading = (): Case[] => [
  good('one-key', one, [row('a')], 'one key, for evidence'),
  good('formatted', JSON.stringify({ keys: [storeKey('a')] }, null, 2), [row('a')], 'formatted freely'),
  good(
    'purposes',
    storeText(storeKey('a', { purposes: ['export', 'evidence', 'export'] })),
    [row('a', { purposes: ['evidence', 'export'] })],
    'purposes are a set',
  ),
  good(
    'all-purposes',
    storeText(storeKey('a', { purposes: ['summary', 'receipt', 'export', 'evidence'] })),
    [row('a', { purposes: ['evidence', 'export', 'receipt', 'summary'] })],
    'every purpose',
  ),
  good(
    'window',
    storeText(storeKey('a', { notBeforeMs: 1, notAfterMs: 1 })),
    [row('a')],
    'a window of one millisecond',
  ),
  good('before-1970', storeText(storeKey('a', { notBeforeMs: -1 })), [row('a')], 'a time before 1970'),
  good(
    'revoked',
    storeText(storeKey('a', { revokedAtMs: 1, compromised: false })),
    [row('a', { compromised: false })],
    'revoked, older statements stand',
  ),
  good(
    'revoked-compromised',
    storeText(storeKey('a', { revokedAtMs: 1 })),
    [row('a')],
    'compromised unless told otherwise',
  ),
  good(
    'limits',
    storeText(storeKey('a', { projects: ['prj_000000000001'], organizations: ['org_000000000001'] })),
    [row('a')],
    'limited to a project and an organization',
  ),
  good(
    'any-key-id',
    storeText(storeKey('a', { kid: 'key of 2026' })),
    [row('a', { keyId: 'key of 2026' })],
    'a key id that the issuer chose',
  ),
  good(
    'path-key-id',
    storeText(storeKey('a', { kid: '../../etc/passwd' })),
    [row('a', { keyId: '../../etc/passwd' })],
    'a key id is a name and is never opened',
  ),
  good(
    'proto-key-id',
    storeText(storeKey('a', { kid: '__proto__', issuer: 'constructor' })),
    [row('a', { keyId: '__proto__', issuer: 'constructor' })],
    'names that are special in JavaScript',
  ),
  good(
    'same-key-two-issuers',
    storeText(storeKey('a'), storeKey('a', { issuer: 'https://other.example' })),
    [row('a'), row('a', { issuer: 'https://other.example' })],
    'one key id under two issuers',
  ),
  good(
    'same-point-two-names',
    storeText(storeKey('a', { kid: '1' }), storeKey('a', { kid: '2' })),
    [row('a', { keyId: '1' }), row('a', { keyId: '2' })],
    'one point under two names',
  ),
  good(
    'web-crypto',
    storeText(storeKey('a', { key_ops: ['verify'], ext: true, x5t: 'AA', x5c: ['AA'] })),
    [row('a')],
    'members of RFC 7517 that carry no trust',
  ),
  good(
    'issuer-longest',
    storeText(storeKey('a', { issuer: 'é'.repeat(1024) })),
    [row('a', { issuer: 'é'.repeat(1024) })],
    'an issuer of 1,024 characters',
  ),
];

const refusing = (): Case[] => [
  bad('empty-file', '', 'json.INVALID', 'Structure', 'no bytes'),
  bad('bom', `\ufeff${one}`, 'json.BOM', 'ByteOrderMark', 'a byte order mark'),
  bad(
    'latin-1',
    Buffer.from('{"keys":[],"é":1}', 'latin1'),
    'encoding.UTF8_INVALID',
    'InvalidUtf8',
    'ISO 8859-1',
  ),
  bad('trailing', `${one}x`, 'json.INVALID', 'TrailingBytes', 'text after the end'),
  bad(
    'duplicate-keys',
    `{"keys":[],${one.slice(1)}`,
    'json.MEMBER_DUPLICATE',
    'DuplicateMember',
    'two sets, of which a reader would have to choose',
  ),
  bad(
    'duplicate-kid',
    one.replace('"kid"', '"kid":"x","kid"'),
    'json.MEMBER_DUPLICATE',
    'DuplicateMember',
    'two key ids',
  ),
  bad('array', `[${one}]`, 'trust.STORE_INVALID', 'Structure', 'no object'),
  bad('null', 'null', 'trust.STORE_INVALID', 'Structure', 'null'),
  bad('no-keys', '{}', 'trust.STORE_INVALID', 'MissingMember', 'no set'),
  bad('keys-object', '{"keys":{}}', 'trust.STORE_INVALID', 'WrongType', 'a set that is no array'),
  bad('bare-key', JSON.stringify(storeKey('a')), 'trust.STORE_INVALID', 'Structure', 'one key without a set'),
  bad(
    'unknown-member',
    `{"extra":1,${one.slice(1)}`,
    'trust.STORE_INVALID',
    'UnknownMember',
    'a member beside the set',
  ),
  bad('key-null', '{"keys":[null]}', 'trust.STORE_INVALID', 'WrongType', 'a key that is no object'),
  bad(
    'no-key',
    '{"keys":[]}',
    'trust.STORE_EMPTY',
    'EmptySet',
    'an empty set, under which everything would pass or nothing',
  ),
  bad(
    'same-name-twice',
    storeText(storeKey('a', { kid: 'k' }), storeKey('b', { kid: 'k' })),
    'trust.KEY_DUPLICATE',
    'DuplicateKey',
    'one name for two keys',
  ),
  bad(
    'same-key-twice',
    storeText(storeKey('a'), storeKey('a')),
    'trust.KEY_DUPLICATE',
    'DuplicateKey',
    'one key twice',
  ),
  bad(
    'one-bad-key',
    storeText(storeKey('a'), storeKey('b', { crv: 'P-384' })),
    'trust.KEY_UNSUPPORTED',
    'WrongCurve',
    'one bad key refuses the whole store',
  ),
];

const keys = (): Case[] => {
  const store = 'trust.STORE_INVALID';
  const unsupported = 'trust.KEY_UNSUPPORTED';
  const invalid = 'trust.KEY_INVALID';
  return [
    badKey('no-issuer', { issuer: undefined }, store, 'MissingMember', 'no issuer'),
    badKey('empty-issuer', { issuer: '' }, store, 'Length', 'an empty issuer'),
    badKey('long-issuer', { issuer: 'a'.repeat(1025) }, store, 'Length', 'an issuer of 1,025 characters'),
    badKey('no-kid', { kid: undefined }, store, 'MissingMember', 'no key id'),
    badKey('long-kid', { kid: 'a'.repeat(257) }, store, 'Length', 'a key id of 257 characters'),
    badKey('number-kid', { kid: 1 }, store, 'WrongType', 'a key id that is a number'),
    badKey('no-use', { use: undefined }, store, 'MissingMember', 'no use'),
    badKey('no-alg', { alg: undefined }, store, 'MissingMember', 'no algorithm'),
    badKey(
      'window-reversed',
      { notBeforeMs: 2, notAfterMs: 1 },
      store,
      'KeyWindow',
      'a key that ends before it begins',
    ),
    badKey('window-text', { notAfterMs: '2026-01-01' }, store, 'WrongType', 'a time as text'),
    badKey('window-fraction', { notAfterMs: 1.5 }, store, 'WrongType', 'half a millisecond'),
    badKey('window-null', { notAfterMs: null }, store, 'WrongType', 'null, which could be read as none'),
    badKey('compromised-only', { compromised: true }, store, 'Revocation', 'compromised, and not revoked'),
    badKey(
      'compromised-text',
      { revokedAtMs: 1, compromised: 'false' },
      store,
      'WrongType',
      'false as text, which is true in some languages',
    ),
    badKey(
      'no-projects',
      { projects: [] },
      store,
      'EmptySet',
      'an empty list could be read as none and as any',
    ),
    badKey('no-organizations', { organizations: [] }, store, 'EmptySet', 'an empty list of organizations'),
    badKey('no-purposes', { purposes: [] }, store, 'EmptySet', 'an empty list of purposes'),
    badKey(
      'unknown-purpose',
      { purposes: ['evidence', 'everything'] },
      store,
      'UnknownValue',
      'a purpose that there is not',
    ),
    badKey(
      'projects-text',
      { projects: 'prj_000000000001' },
      store,
      'WrongType',
      'a project that is no list',
    ),
    badKey('certificate-false', { fromCertificate: false }, store, 'WrongType', 'only true is a value of it'),
    badKey(
      'unknown-member',
      { notAfter: 1 },
      invalid,
      'UnknownMember',
      'a restriction that is misspelt would go unheeded',
    ),
    badKey('private', { d: x(scalarOf('a')) }, 'trust.KEY_PRIVATE', 'PrivateKey', 'a private key'),
    badKey(
      'private-and-more',
      { d: 'x', crv: 'P-384' },
      'trust.KEY_PRIVATE',
      'PrivateKey',
      'a private member speaks before every other fault',
    ),
    badKey('rsa', { kty: 'RSA' }, unsupported, 'WrongAlgorithm', 'RSA'),
    badKey('oct', { kty: 'oct', k: 'AA' }, unsupported, 'WrongAlgorithm', 'a shared secret'),
    badKey('okp', { kty: 'OKP', crv: 'Ed25519' }, unsupported, 'WrongAlgorithm', 'Ed25519'),
    badKey('p384', { crv: 'P-384' }, unsupported, 'WrongCurve', 'P-384'),
    badKey('secp256k1', { crv: 'secp256k1' }, unsupported, 'WrongCurve', 'secp256k1'),
    badKey('alg', { alg: 'ES512' }, unsupported, 'WrongAlgorithm', 'another algorithm'),
    badKey(
      'alg-hmac',
      { alg: 'HS256' },
      unsupported,
      'WrongAlgorithm',
      'HMAC, with the public key as its secret',
    ),
    badKey('use', { use: 'enc' }, unsupported, 'WrongUse', 'a key for encryption'),
    badKey('operations', { key_ops: ['sign'] }, unsupported, 'WrongUse', 'a key that may not verify'),
    badKey('no-kty', { kty: undefined }, invalid, 'MissingMember', 'no kty'),
    badKey('no-x', { x: undefined }, invalid, 'MissingMember', 'no x'),
    badKey('short-x', { x: x(pointOf('a').subarray(1, 32)) }, invalid, 'Length', 'a coordinate of 31 bytes'),
    badKey(
      'base64-x',
      { x: Buffer.from(pointOf('a').subarray(1, 33)).toString('base64') },
      invalid,
      'Padding',
      'a coordinate in base64 with padding',
    ),
    badKey(
      'off-curve',
      { y: x(flipped(pointOf('a').subarray(33), 31)) },
      invalid,
      'InvalidPoint',
      'a point beside the curve',
    ),
    badKey(
      'zero-point',
      { x: x(new Uint8Array(32)), y: x(new Uint8Array(32)) },
      invalid,
      'InvalidPoint',
      'the point 0, 0',
    ),
  ];
};

export const trustStores: Kind<Case['input'], Case['expected']> = {
  name: 'trust-stores',
  about: 'the bytes of a trust store, and the keys that it holds, sorted by issuer and key id',
  clause: 'RFC 7517 §5; RFC 7518 §6.2; formats §3',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...loading(), ...refusing(), ...keys()],
};
