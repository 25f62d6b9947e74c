import * as z from 'zod';
import { toBase64url } from '../../src/bytes/base64url.ts';
import { canonicalJson } from '../../src/bytes/json-canonical.ts';
import type { JsonObject } from '../../src/bytes/json-parse.ts';
import type { Code } from '../../src/codes/index.ts';
import type { Flag } from '../flags.ts';
import { judged, judgementSchema, type Kind, type VectorCase } from '../kind.ts';
import { bundle, ORGANIZATION, PROJECT, T, type BundleChoices } from '../make/bundle.ts';
import { hexOf, sha256Of } from '../make/bytes.ts';
import { ecdsa } from '../make/der.ts';
import { EXPORT_TYPE, makeExport } from '../make/export.ts';
import { keyId, N, signDer, storeKey, storeText } from '../make/keys.ts';
import { patched, type Patch } from '../make/patch.ts';
import { numbersOf } from '../make/signatures.ts';

const RESULTS = ['valid', 'not_judged', 'invalid'] as const;
const inputSchema = z.strictObject({
  attestation: z.string().describe('attestation.json as text; its bytes are the UTF-8 of it'),
  trust: z.string().optional().describe('the trust store as JSON text; absent when none is given'),
  asOfMs: z.int(),
  projectId: z.string().optional(),
  organizationId: z.string().optional(),
  manifestDigest: z.string().optional().describe('of the bundle manifest beside it, when there is one'),
});
const expectedSchema = judgementSchema(RESULTS);
type Input = z.infer<typeof inputSchema>;
type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;
type Result = (typeof RESULTS)[number];

const trusting = (changes: Readonly<Record<string, unknown>> = {}): string =>
  storeText(storeKey('a', changes));
const made = (choices: BundleChoices = {}): JsonObject =>
  bundle(1, { signer: 'a', ...choices }).attestation ?? {};
const sound = canonicalJson(made());
const DIGEST = sha256Of(bundle(1).manifestBytes);

const judge = (
  result: Result,
  id: string,
  input: Partial<Input>,
  codes: readonly Code[],
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { attestation: sound, trust: trusting(), asOfMs: T, manifestDigest: DIGEST, ...input },
  expected: judged(result, codes),
});
const valid = (id: string, input: Partial<Input>, flag: Flag, comment: string, ...codes: Code[]): Case =>
  judge('valid', id, input, codes, flag, comment);
const invalid = (id: string, input: Partial<Input>, flag: Flag, comment: string, ...codes: Code[]): Case =>
  judge('invalid', id, input, codes, flag, comment);

/** Signed with this change of the statement. */
const signing = (statement: Patch): Partial<Input> => ({ attestation: canonicalJson(made({ statement })) });
/** Changed after it was signed. */
const changing = (attestation: Patch): Partial<Input> => ({
  attestation: canonicalJson(made({ attestation })),
});
const withSignature = (der: Uint8Array | string): Partial<Input> =>
  changing({ '/signature': typeof der === 'string' ? der : toBase64url(der) });

const message = new TextEncoder().encode(canonicalJson(made()['statement']));
const der = signDer('a', message);
const [r, s] = numbersOf(der);

const trusted = (): Case[] => [
  valid('usual', {}, 'Usual', 'signed by a trusted key, over the manifest beside it'),
  valid('alone', { manifestDigest: undefined }, 'Usual', 'without a manifest beside it'),
  valid(
    's-low',
    withSignature(ecdsa(r, s > N / 2n ? N - s : s)),
    'SignatureMalleability',
    's in the lower half',
  ),
  valid(
    's-high',
    withSignature(ecdsa(r, s > N / 2n ? s : N - s)),
    'SignatureMalleability',
    's in the upper half is the same attestation',
  ),
  valid('issued-now', { asOfMs: T }, 'Time', 'issued in the millisecond of the verification'),
  valid(
    'retired-key',
    { trust: trusting({ notAfterMs: T }), asOfMs: T + 1 },
    'ClaimedTime',
    'by a key that has ended since',
    'attestation.TIME_CLAIMED',
  ),
  valid(
    'retracted-key',
    { trust: trusting({ revokedAtMs: T + 1, compromised: false }) },
    'ClaimedTime',
    'by a key that was revoked later and not compromised',
    'attestation.TIME_CLAIMED',
  ),
  valid(
    'certificate',
    { trust: trusting({ fromCertificate: true }) },
    'Certificate',
    'by a key from a certificate',
    'trust.CHAIN_NOT_CHECKED',
  ),
  valid(
    'project',
    { trust: trusting({ projects: [PROJECT] }), projectId: PROJECT },
    'Scope',
    'by a key that is limited to the project',
  ),
  valid(
    'organization',
    { trust: trusting({ organizations: [ORGANIZATION] }), organizationId: ORGANIZATION },
    'Scope',
    'by a key that is limited to the organization',
  ),
  valid(
    'long-key-id',
    { ...signing({ '/keyId': 'k'.repeat(256) }), trust: trusting({ kid: 'k'.repeat(256) }) },
    'KeyName',
    'under a key id of 256 characters that the issuer chose',
  ),
  valid(
    'overlap',
    { trust: storeText(storeKey('b'), storeKey('a')) },
    'KeyName',
    'while two keys of the issuer are trusted',
  ),
  judge(
    'not_judged',
    'no-trust',
    { trust: undefined },
    ['trust.STORE_ABSENT'],
    'NoTrust',
    'no trust store: nobody says who signed',
  ),
  judge(
    'not_judged',
    'project-unknown',
    { trust: trusting({ projects: [PROJECT] }) },
    [],
    'Scope',
    'a limited key, and nothing says to which project the evidence belongs',
  ),
];

const untrusted = (): Case[] => [
  invalid(
    'unknown-key',
    { trust: storeText(storeKey('b')) },
    'KeyName',
    'by a key that nobody trusts',
    'trust.KEY_UNKNOWN',
  ),
  invalid(
    'unknown-issuer',
    { trust: trusting({ issuer: 'https://other.example' }) },
    'KeyName',
    'by a key that is trusted for another issuer',
    'trust.KEY_UNKNOWN',
  ),
  invalid(
    'key-id-of-other',
    { trust: storeText(storeKey('b', { kid: keyId('a') })) },
    'WrongKey',
    'the right key id over the wrong key: the id is a hint',
    'attestation.SIGNATURE_INVALID',
  ),
  invalid(
    'wrong-key-id',
    signing({ '/keyId': keyId('b') }),
    'KeyName',
    'the wrong key id over the right key',
    'trust.KEY_UNKNOWN',
  ),
  invalid(
    'traversal-key-id',
    signing({ '/keyId': '../../x' }),
    'KeyName',
    'a key id that is a path',
    'trust.KEY_UNKNOWN',
  ),
  invalid(
    'proto-key-id',
    signing({ '/keyId': '__proto__' }),
    'ReservedName',
    'a key id that every JavaScript object has',
    'trust.KEY_UNKNOWN',
  ),
  invalid(
    'purpose',
    { trust: trusting({ purposes: ['export'] }) },
    'Purpose',
    'by a key for exports',
    'trust.PURPOSE_MISMATCH',
  ),
  invalid(
    'other-project',
    { trust: trusting({ projects: ['prj_000000000002'] }), projectId: PROJECT },
    'Scope',
    'by a key for another project',
    'trust.PROJECT_MISMATCH',
  ),
  invalid(
    'other-organization',
    { trust: trusting({ organizations: ['org_000000000002'] }), organizationId: ORGANIZATION },
    'Scope',
    'by a key for another organization',
    'trust.ORGANIZATION_MISMATCH',
  ),
  invalid(
    'not-yet-valid',
    { trust: trusting({ notBeforeMs: T + 1 }) },
    'KeyWindow',
    'one millisecond before the key begins',
    'trust.KEY_NOT_YET_VALID',
  ),
  invalid(
    'expired',
    { trust: trusting({ notAfterMs: T - 1 }) },
    'KeyWindow',
    'one millisecond after the key ended',
    'trust.KEY_EXPIRED',
  ),
  invalid(
    'revoked',
    { trust: trusting({ revokedAtMs: T + 1000 }) },
    'Revocation',
    'by a key that was compromised later',
    'trust.KEY_REVOKED',
  ),
  invalid(
    'future',
    { asOfMs: T - 1 },
    'Time',
    'issued one millisecond after the verification',
    'attestation.ISSUED_IN_FUTURE',
  ),
  invalid(
    'future-no-trust',
    { asOfMs: T - 1, trust: undefined },
    'Time',
    'also where no trust store is given',
    'attestation.ISSUED_IN_FUTURE',
    'trust.STORE_ABSENT',
  ),
];

const forged = (): Case[] => {
  const bad = 'attestation.SIGNATURE_INVALID';
  return [
    invalid(
      'run-changed',
      changing({ '/statement/subject/runId': 'run_another1' }),
      'ModifiedMessage',
      'another run after signing',
      bad,
    ),
    invalid(
      'time-changed',
      changing({ '/statement/issuedAtMs': T - 1 }),
      'ModifiedMessage',
      'another time after signing',
      bad,
    ),
    invalid(
      'digest-changed',
      changing({ '/statement/subject/stateHash': sha256Of('x') }),
      'ModifiedMessage',
      'another digest after signing',
      bad,
    ),
    invalid(
      'scenario-removed',
      changing({ '/statement/subject/reproduction/scenarioId': undefined }),
      'ModifiedMessage',
      'a member taken away after signing',
      bad,
    ),
    invalid(
      'signature-of-other',
      withSignature(signDer('a', new TextEncoder().encode('{}'))),
      'ModifiedSignature',
      'a signature of the key over another message',
      bad,
    ),
    invalid(
      'signed-with-line-feed',
      withSignature(signDer('a', Uint8Array.of(...message, 10))),
      'WrongMessage',
      'the message with a line feed after it',
      bad,
    ),
    invalid(
      'signed-attestation',
      withSignature(signDer('a', new TextEncoder().encode(sound))),
      'WrongMessage',
      'the whole attestation in place of its statement',
      bad,
    ),
    invalid(
      'signed-digest',
      withSignature(signDer('a', new TextEncoder().encode(sha256Of(message)))),
      'WrongMessage',
      'the digest of the statement, as text',
      bad,
    ),
    invalid(
      'signed-manifest',
      withSignature(signDer('a', bundle(1).manifestBytes)),
      'WrongMessage',
      'the manifest itself',
      bad,
    ),
    invalid(
      'signed-dsse',
      withSignature(signDer('a', dsse())),
      'WrongMessage',
      'the statement as DSSE would sign it',
      bad,
    ),
    invalid(
      'other-manifest',
      { manifestDigest: sha256Of('x') },
      'WrongSubject',
      'a sound statement about another manifest',
      'attestation.SUBJECT_MISMATCH',
    ),
    invalid(
      'other-type',
      signing({ '/predicateType': EXPORT_TYPE }),
      'WrongType',
      'a statement that calls itself one about an export',
      'attestation.PREDICATE_UNSUPPORTED',
    ),
    invalid(
      'foreign-type',
      signing({ '/predicateType': 'https://slsa.dev/provenance/v1' }),
      'WrongType',
      'a type of somebody else',
      'attestation.PREDICATE_UNSUPPORTED',
    ),
    invalid(
      'type-version',
      signing({ '/predicateType': 'urn:drillproof:attestation:evidence:v2' }),
      'WrongType',
      'a later version',
      'attestation.PREDICATE_UNSUPPORTED',
    ),
    invalid(
      'type-suffix',
      signing({ '/predicateType': 'urn:drillproof:attestation:evidence:v1 ' }),
      'WrongType',
      'a space behind the type',
      'attestation.PREDICATE_UNSUPPORTED',
    ),
  ];
};

const dsse = (): Uint8Array => {
  const text = new TextDecoder().decode(message);
  return new TextEncoder().encode(`DSSEv1 28 application/vnd.in-toto+json ${text.length} ${text}`);
};

const encodings = (): Case[] => {
  const bad = 'attestation.SIGNATURE_ENCODING';
  const base64 = Buffer.from(der).toString('base64');
  const raw = Buffer.from(`${hexNumber(r)}${hexNumber(s)}`, 'hex');
  return [
    invalid('padded', withSignature(`${toBase64url(der)}=`), 'Padding', 'base64url with padding', bad),
    invalid('base64', withSignature(`+${base64.slice(1)}`), 'Alphabet', 'base64', bad),
    invalid(
      'hexadecimal',
      withSignature(hexOf(der)),
      'WrongEncoding',
      'hexadecimal, which is base64url of something else',
      bad,
    ),
    invalid('line-feed', withSignature(`${toBase64url(der)}\n`), 'Whitespace', 'a line feed after it', bad),
    invalid(
      'raw',
      withSignature(Uint8Array.from(raw)),
      'Structure',
      'r and s side by side, as JWS has them',
      bad,
    ),
    invalid(
      'trailing',
      withSignature(Uint8Array.of(...der, 0)),
      'TrailingBytes',
      'a byte after the DER',
      bad,
    ),
    invalid('zeros', withSignature(ecdsa(0n, 0n)), 'Range', 'r and s are 0', bad),
    invalid('s-plus-order', withSignature(ecdsa(r, s + N)), 'Range', 's + n', bad),
    invalid(
      'long-length',
      withSignature(Uint8Array.of(0x30, 0x81, ...der.subarray(1))),
      'LengthEncoding',
      'a length in the long form',
      bad,
    ),
    invalid('one-character', withSignature('A'), 'Length', 'six bits', bad),
  ];
};

const hexNumber = (value: bigint): string => value.toString(16).padStart(64, '0');

const documents = (): Case[] => {
  const no = 'attestation.INVALID';
  const shape = (id: string, patch: Patch, flag: Flag, comment: string): Case =>
    invalid(`format-${id}`, changing(patch), flag, comment, no);
  const raw = (id: string, attestation: string, code: Code, flag: Flag, comment: string): Case =>
    invalid(`document-${id}`, { attestation }, flag, comment, code);
  const exported = new TextDecoder().decode(makeExport().files['export-attestation.json']);
  return [
    shape('version', { '/schemaVersion': 2 }, 'UnknownValue', 'another version'),
    shape('algorithm', { '/algorithm': 'ecdsa-p384-sha384' }, 'WrongAlgorithm', 'another algorithm'),
    shape('algorithm-none', { '/algorithm': 'none' }, 'WrongAlgorithm', 'no algorithm'),
    shape('encoding', { '/encoding': 'p1363-base64url' }, 'WrongEncoding', 'another encoding'),
    shape('no-signature', { '/signature': undefined }, 'MissingMember', 'no signature'),
    shape('empty-signature', { '/signature': '' }, 'Length', 'an empty signature'),
    shape('no-statement', { '/statement': undefined }, 'MissingMember', 'no statement'),
    shape('extra', { '/x': 1 }, 'UnknownMember', 'a member beside the statement, which is not signed'),
    shape('certificate', { '/certificate': 'MIIB' }, 'UnknownMember', 'a key that the evidence brings along'),
    shape(
      'statement-extra',
      { '/statement/x': 1 },
      'UnknownMember',
      'a member that nobody knows in the statement',
    ),
    shape('no-key-id', { '/statement/keyId': undefined }, 'MissingMember', 'no key id'),
    shape('long-key-id', { '/statement/keyId': 'k'.repeat(257) }, 'Length', 'a key id of 257 characters'),
    shape('empty-issuer', { '/statement/issuer': '' }, 'Length', 'an empty issuer'),
    shape('time-text', { '/statement/issuedAtMs': String(T) }, 'WrongType', 'a time as text'),
    shape('time-fraction', { '/statement/issuedAtMs': T + 0.5 }, 'WrongType', 'half a millisecond'),
    shape(
      'digest-case',
      { '/statement/subject/manifestDigest': DIGEST.toUpperCase() },
      'LetterCase',
      'a digest in uppercase',
    ),
    shape(
      'subject-extra',
      { '/statement/subject/x': 1 },
      'UnknownMember',
      'a member that nobody knows in the subject',
    ),
    shape('subject-list', { '/statement/subject': [] }, 'WrongType', 'a list of subjects'),
    shape(
      'no-reproduction',
      { '/statement/subject/reproduction': undefined },
      'MissingMember',
      'no reproduction',
    ),
    shape(
      'scope',
      { '/statement/subject/reproduction/scope': 'everything' },
      'UnknownValue',
      'another scope',
    ),
    raw('export', exported, no, 'WrongType', 'an attestation of an export where one of a bundle belongs'),
    raw('line-feed', `${sound}\n`, 'json.NOT_CANONICAL', 'NotCanonical', 'a line feed at the end'),
    raw(
      'formatted',
      JSON.stringify(made(), null, 2),
      'json.NOT_CANONICAL',
      'NotCanonical',
      'formatted for people',
    ),
    raw(
      'order',
      JSON.stringify(patched({}, { '/statement': made()['statement'], '/signature': made()['signature'] })),
      'json.NOT_CANONICAL',
      'NotCanonical',
      'members in another order',
    ),
    raw(
      'escape',
      sound.replace('"issuer"', '"\\u0069ssuer"'),
      'json.NOT_CANONICAL',
      'NotCanonical',
      'a name with an escape',
    ),
    raw(
      'number',
      sound.replace(`${T}`, `${T}.0`),
      'json.NOT_CANONICAL',
      'NotCanonical',
      'a number in another form',
    ),
    raw(
      'duplicate',
      sound.replace('{"algorithm"', '{"algorithm":"none","algorithm"'),
      'json.MEMBER_DUPLICATE',
      'DuplicateMember',
      'two algorithms',
    ),
    raw(
      'duplicate-statement',
      `${sound.slice(0, -1)},"statement":{}}`,
      'json.MEMBER_DUPLICATE',
      'DuplicateMember',
      'two statements: one is verified, the other is read',
    ),
    raw('bom', `\ufeff${sound}`, 'json.BOM', 'ByteOrderMark', 'a byte order mark'),
    raw('cut', sound.slice(0, -1), 'json.INVALID', 'Truncated', 'the last byte missing'),
    raw(
      'inexact',
      sound.replace(`${T}`, '9007199254740993'),
      'json.NUMBER_INEXACT',
      'InexactNumber',
      'a number that a double does not hold',
    ),
    raw('empty', '', 'json.INVALID', 'Structure', 'no bytes'),
    raw(
      'dsse',
      JSON.stringify({ payload: '', payloadType: 'application/vnd.in-toto+json', signatures: [] }),
      no,
      'WrongType',
      'a DSSE envelope',
    ),
  ];
};

export const attestations: Kind<Input, Case['expected']> = {
  name: 'attestations',
  about:
    'an attestation of a bundle by itself, the trust store and what is known of the evidence, and the result',
  clause: 'formats §2, §3, §4 Attestation alone',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...trusted(), ...untrusted(), ...forged(), ...encodings(), ...documents()],
};
