import { canonicalJson } from '../../../src/bytes/json/canonical.ts';
import type { JsonValue } from '../../../src/bytes/json/parse.ts';
import { bundle } from '../../make/bundle.ts';
import { sha256Of, utf8 } from '../../make/bytes.ts';
import { keyId, signDer, storeText } from '../../make/keys.ts';
import {
  base64,
  changed,
  envelope,
  inToto,
  invalid,
  of,
  pae,
  PAYLOAD,
  payloadOf,
  signature,
  statement,
  T,
  trusting,
  trustingBoth,
  type Case,
} from './case.ts';

const other = payloadOf(inToto(statement('b', 2)));
const bad = 'attestation.SIGNATURE_INVALID';
const malformed = 'dsse.INVALID';
const noStatement = 'dsse.STATEMENT_INVALID';
const withSig = (bytes: Uint8Array) => changed({ '/signatures/0/sig': base64(bytes) });

export const mixed = (): Case[] => [
  invalid(
    'payload-of-other',
    { ...changed({ '/payload': base64(other) }), trust: trustingBoth },
    'ModifiedMessage',
    'the payload of another valid envelope',
    'dsse.KEYID_MISMATCH',
  ),
  invalid(
    'payload-of-other-same-key',
    changed({ '/payload': base64(payloadOf(inToto(statement('a', 2)))) }),
    'ModifiedMessage',
    'the payload of another envelope by the same key',
    bad,
    'attestation.SUBJECT_MISMATCH',
    'bundle.BINDING_MISMATCH',
  ),
  invalid(
    'signature-of-other',
    withSig(signDer('a', pae(payloadOf(inToto(statement('a', 2)))))),
    'ModifiedSignature',
    'the signature of another envelope by the same key',
    bad,
  ),
  invalid(
    'keyid-of-other',
    { ...changed({ '/signatures/0/keyid': keyId('b') }), trust: trustingBoth },
    'KeyName',
    'the key id of another trusted key',
    'dsse.KEYID_MISMATCH',
  ),
  invalid(
    'keyid-proto',
    changed({ '/signatures/0/keyid': '__proto__' }),
    'ReservedName',
    'a name that every JavaScript object has',
    'dsse.KEYID_MISMATCH',
  ),
  invalid(
    'signatures-of-other',
    { ...changed({ '/signatures': [signature('b', other)] }), trust: trustingBoth },
    'ModifiedSignature',
    'all signatures of another envelope',
    'dsse.KEYID_MISMATCH',
  ),
  invalid(
    'type-changed',
    changed({ '/payloadType': 'application/vnd.in-toto+json;v=1' }),
    'WrongType',
    'another payload type after signing',
    'dsse.PAYLOAD_TYPE_UNSUPPORTED',
  ),
  invalid(
    'type-case',
    changed({ '/payloadType': 'application/vnd.In-toto+json' }),
    'LetterCase',
    'types are compared exactly',
    'dsse.PAYLOAD_TYPE_UNSUPPORTED',
  ),
  invalid(
    'subject-of-other',
    of(inToto(statement(), { '/subject/0/digest/sha256': sha256Of(bundle(2).manifestBytes).slice(7) })),
    'Binding',
    'a subject that the predicate does not name, signed as it is',
    'dsse.SUBJECT_MISMATCH',
  ),
  invalid(
    'predicate-type-inside',
    of(inToto(statement('a', 1, { '/predicateType': 'urn:other' }), { '/predicateType': TYPE })),
    'WrongType',
    'a predicate that calls itself otherwise',
    noStatement,
  ),
  invalid(
    'predicate-type-other',
    of(inToto(statement('a', 1, { '/predicateType': 'https://slsa.dev/provenance/v1' }))),
    'WrongType',
    'a type of somebody else',
    'attestation.PREDICATE_UNSUPPORTED',
  ),
  invalid(
    'statement-alone',
    withSig(signDer('a', payloadOf(statement()))),
    'WrongMessage',
    'the signature that the attestation of the part has',
    bad,
  ),
  invalid(
    'payload-alone',
    withSig(signDer('a', PAYLOAD)),
    'WrongMessage',
    'a signature over the payload without its type',
    bad,
  ),
  invalid(
    'pae-of-base64',
    withSig(signDer('a', pae(utf8(base64(PAYLOAD))))),
    'WrongMessage',
    'a signature over the payload as base64',
    bad,
  ),
  invalid(
    'pae-characters',
    withSig(signDer('a', Uint8Array.of(...pae(PAYLOAD), 10))),
    'WrongMessage',
    'a line feed after the signed bytes',
    bad,
  ),
];

const TYPE = 'urn:drillproof:attestation:evidence:v1';

export const untrusted = (): Case[] => [
  invalid(
    'unknown-key',
    { trust: storeText({ ...JSON.parse(trusting({ kid: 'other' })).keys[0] }) },
    'KeyName',
    'the point of the key under another name',
    'trust.KEY_UNKNOWN',
  ),
  invalid(
    'other-issuer',
    { trust: trusting({ issuer: 'https://other.example' }) },
    'KeyName',
    'the key of another issuer',
    'trust.KEY_UNKNOWN',
  ),
  invalid(
    'revoked',
    { trust: trusting({ revokedAtMs: T + 1 }) },
    'Revocation',
    'by a compromised key',
    'trust.KEY_REVOKED',
  ),
  invalid(
    'expired',
    { trust: trusting({ notAfterMs: T - 1 }) },
    'KeyWindow',
    'issued after the key ended',
    'trust.KEY_EXPIRED',
  ),
  invalid(
    'not-yet',
    { trust: trusting({ notBeforeMs: T + 1 }) },
    'KeyWindow',
    'issued before the key began',
    'trust.KEY_NOT_YET_VALID',
  ),
  invalid(
    'organization-other',
    { trust: trusting({ organizations: ['org_000000000002'] }) },
    'Scope',
    'a key of another organization',
    'trust.ORGANIZATION_MISMATCH',
  ),
  invalid(
    'future',
    { asOfMs: T - 1 },
    'Time',
    'issued after the verification',
    'attestation.ISSUED_IN_FUTURE',
  ),
  invalid(
    'not-der',
    changed({ '/signatures/0/sig': 'AAAA' }),
    'Structure',
    'a signature that is not DER',
    'attestation.SIGNATURE_ENCODING',
  ),
  invalid(
    'raw',
    changed({ '/signatures/0/sig': base64(new Uint8Array(64).fill(1)) }),
    'WrongEncoding',
    'r and s side by side, as JWS has them',
    'attestation.SIGNATURE_ENCODING',
  ),
  invalid(
    'empty-signature',
    changed({ '/signatures/0/sig': '' }),
    'EmptySet',
    'a signature of no bytes',
    'attestation.SIGNATURE_ENCODING',
  ),
];

const text = envelope();
const payload = base64(PAYLOAD);
const sig = base64(signDer('a', pae(PAYLOAD)));

export const envelopes = (): Case[] => [
  invalid('empty', { envelope: '' }, 'Grammar', 'nothing at all', 'json.INVALID'),
  invalid('no-object', { envelope: '[]' }, 'Structure', 'an array', malformed),
  invalid('no-payload', changed({ '/payload': undefined }), 'MissingMember', 'without a payload', malformed),
  invalid('no-type', changed({ '/payloadType': undefined }), 'MissingMember', 'without a type', malformed),
  invalid('no-signatures', changed({ '/signatures': [] }), 'EmptySet', 'no signature', malformed),
  invalid('signatures-absent', changed({ '/signatures': undefined }), 'MissingMember', 'no list', malformed),
  invalid(
    'signature-null',
    changed({ '/signatures/0': null }),
    'Structure',
    'null as a signature',
    malformed,
  ),
  invalid('no-sig', changed({ '/signatures/0/sig': undefined }), 'MissingMember', 'a name alone', malformed),
  invalid(
    'keyid-number',
    changed({ '/signatures/0/keyid': 1 }),
    'Structure',
    'a number as a name',
    malformed,
  ),
  invalid(
    'keyid-long',
    changed({ '/signatures/0/keyid': 'k'.repeat(257) }),
    'Length',
    'a name of 257 characters',
    malformed,
  ),
  invalid(
    'twice-payload',
    { envelope: text.replace('{', `{"payload":"e30=",`) },
    'DuplicateMember',
    'two payloads',
    'json.MEMBER_DUPLICATE',
  ),
  invalid('trailing', { envelope: `${text}{}` }, 'TrailingBytes', 'text after it', 'json.INVALID'),
  invalid(
    'truncated',
    { envelope: text.slice(0, -1) },
    'Truncated',
    'its last character is missing',
    'json.INVALID',
  ),
  invalid(
    'many-signatures',
    changed({ '/signatures': Array.from({ length: 65 }, () => ({ sig: '' })) }),
    'Size',
    'more signatures than the limit of 64',
    'dsse.SIGNATURES_EXCEEDED',
  ),
  invalid(
    'sig-unpadded',
    changed({ '/signatures/0/sig': `${sig.replace(/=+$/, '')}A` }),
    'Padding',
    'a length that is not that of whole groups',
    malformed,
  ),
  invalid(
    'payload-unpadded',
    changed({ '/payload': base64(utf8('{}')).replace(/=+$/, '') }),
    'Padding',
    'base64 without its padding',
    malformed,
  ),
  invalid(
    'payload-spare-bits',
    changed({ '/payload': 'e31=' }),
    'SpareBits',
    'a spare bit that is set',
    malformed,
  ),
  invalid(
    'payload-space',
    changed({ '/payload': `${payload}\n` }),
    'Whitespace',
    'a line feed after base64',
    malformed,
  ),
  invalid(
    'payload-mixed',
    changed({ '/payload': '+_8=' }),
    'Alphabet',
    'both alphabets in one value',
    malformed,
  ),
  invalid(
    'payload-padding-inside',
    changed({ '/payload': `e30=${payload}` }),
    'Padding',
    'padding in the middle',
    malformed,
  ),
];

const signedAs = (value: JsonValue) => of(value);
const sound = inToto(statement());

export const payloads = (): Case[] => [
  invalid(
    'payload-empty',
    { envelope: envelope(new Uint8Array()) },
    'EmptySet',
    'a payload of no bytes',
    'json.INVALID',
  ),
  invalid(
    'payload-no-text',
    { envelope: envelope(Uint8Array.of(255)) },
    'InvalidUtf8',
    'a payload that is not UTF-8',
    'encoding.UTF8_INVALID',
  ),
  invalid(
    'payload-twice',
    { envelope: envelope(utf8(canonicalJson(sound).replace('{', '{"_type":"x",'))) },
    'DuplicateMember',
    'two members of one name, signed as they are',
    'json.MEMBER_DUPLICATE',
  ),
  invalid(
    'statement-v0',
    signedAs(inToto(statement(), { '/_type': 'https://in-toto.io/Statement/v0.1' })),
    'WrongType',
    'an earlier version of in-toto',
    noStatement,
  ),
  invalid(
    'no-subject',
    signedAs(inToto(statement(), { '/subject': [] })),
    'EmptySet',
    'about nothing',
    noStatement,
  ),
  invalid(
    'two-subjects',
    signedAs(
      inToto(statement(), { '/subject/-': { name: 'manifest.json', digest: { sha256: '0'.repeat(64) } } }),
    ),
    'WrongSubject',
    'about two manifests',
    noStatement,
  ),
  invalid(
    'subject-name',
    signedAs(inToto(statement(), { '/subject/0/name': 'part.zip' })),
    'WrongSubject',
    'about a file of another name',
    noStatement,
  ),
  invalid(
    'subject-upper-case',
    signedAs(inToto(statement(), { '/subject/0/digest/sha256': 'A'.repeat(64) })),
    'LetterCase',
    'a digest in upper case',
    noStatement,
  ),
  invalid(
    'subject-sha512',
    signedAs(inToto(statement(), { '/subject/0/digest/sha512': '0'.repeat(128) })),
    'UnknownMember',
    'a second digest',
    noStatement,
  ),
  invalid(
    'statement-member',
    signedAs(inToto(statement(), { '/extra': 1 })),
    'UnknownMember',
    'an unknown signed member',
    noStatement,
  ),
  invalid(
    'predicate-member',
    signedAs(inToto(statement('a', 1, { '/extra': 1 }))),
    'UnknownMember',
    'one in the predicate',
    noStatement,
  ),
  invalid(
    'predicate-none',
    signedAs(inToto(statement(), { '/predicate': undefined })),
    'MissingMember',
    'without a predicate',
    noStatement,
  ),
];
