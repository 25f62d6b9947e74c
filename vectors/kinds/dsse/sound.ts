import { canonicalJson } from '../../../src/bytes/json/canonical.ts';
import { bundle, PROJECT } from '../../make/bundle.ts';
import { sha256Of, utf8 } from '../../make/bytes.ts';
import { ecdsa } from '../../make/der.ts';
import { EXPORT_ID, EXPORT_TYPE, exportManifest } from '../../make/export.ts';
import { ISSUER, keyId, N, signDer, storeKey, storeText } from '../../make/keys.ts';
import { numbersOf } from '../../make/signatures.ts';
import {
  base64,
  changed,
  envelope,
  EVIDENCE,
  inToto,
  invalid,
  of,
  pae,
  PAYLOAD,
  payloadOf,
  results,
  signature,
  statement,
  T,
  trusting,
  trustingBoth,
  valid,
  type Case,
  type Input,
} from './case.ts';

const verified = results('verified');
const failed = results('failed');
const part = (n = 1, signer?: string): Partial<Input> => ({
  part: base64(bundle(n, signer === undefined ? {} : { signer }).zip),
  manifest: undefined,
});

const der = signDer('a', pae(PAYLOAD));
const [r, s] = numbersOf(der);
const twin = base64(ecdsa(r, N - s));
const urlSafe = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_');

const listed = exportManifest([EVIDENCE], 1);
const list = canonicalJson(listed);
const exportStatement = (changes: Readonly<Record<string, string>> = {}) => ({
  schemaVersion: 1,
  predicateType: EXPORT_TYPE,
  issuer: ISSUER,
  keyId: keyId('a'),
  issuedAtMs: T,
  subject: {
    evidenceExportId: EXPORT_ID,
    organizationId: 'org_000000000001',
    manifestDigest: sha256Of(utf8(list)),
    ...changes,
  },
});
const onExport = (input: Partial<Input> = {}): Partial<Input> => ({
  ...of(inToto(exportStatement())),
  purpose: 'export',
  manifest: list,
  trust: trusting({ purposes: ['export'] }),
  ...input,
});

export const sound = (): Case[] => [
  valid('usual', {}, 'Usual', 'an envelope about the manifest next to it, by a trusted key'),
  valid('alone', { manifest: undefined }, 'Usual', 'without a manifest next to it'),
  results('not_checked')('no-trust', { trust: undefined }, 'NoTrust', 'no trust store', 'trust.STORE_ABSENT'),
  valid(
    'keyid-empty',
    changed({ '/signatures/0/keyid': '' }),
    'KeyName',
    'an empty key id is none: the payload names the key',
  ),
  valid('keyid-absent', changed({ '/signatures/0/keyid': undefined }), 'KeyName', 'without a key id'),
  valid(
    'url-safe',
    changed({ '/payload': urlSafe(base64(PAYLOAD)), '/signatures/0/sig': urlSafe(base64(der)) }),
    'Alphabet',
    'the other alphabet that DSSE allows, with padding',
  ),
  valid(
    's-other-half',
    changed({ '/signatures/0/sig': twin }),
    'SignatureMalleability',
    'n-s in place of s is the same signature',
  ),
  valid(
    'unknown-member',
    changed({ '/extension': { a: 1 }, '/signatures/0/cert': 'x' }),
    'FreeForm',
    'members that DSSE does not name are ignored, as it requires: they are not signed',
  ),
  valid(
    'spaced',
    { envelope: JSON.stringify(JSON.parse(envelope()), null, 2) },
    'FreeForm',
    'formatted in another way: what counts is the payload',
  ),
  valid(
    'payload-not-canonical',
    { envelope: envelope(utf8(JSON.stringify(inToto(statement()), null, 1))) },
    'FreeForm',
    'a payload that is not in the form of RFC 8785: its bytes are signed as they are',
  ),
  valid('on-export', onExport(), 'Usual', 'about the list of an export'),
];

export const bound = (): Case[] => [
  verified('part', part(), 'Usual', 'replaces the attestation of a part that has none'),
  verified('part-attested', part(1, 'a'), 'Usual', 'next to the attestation of the part'),
  failed(
    'part-attested-by-other',
    part(1, 'b'),
    'Forgery',
    'never in place of an attestation that does not verify',
    'trust.KEY_UNKNOWN',
  ),
  failed(
    'part-other',
    part(2),
    'WrongSubject',
    'about another part',
    'attestation.SUBJECT_MISMATCH',
    'bundle.BINDING_MISMATCH',
  ),
  failed(
    'part-forged',
    { ...part(), ...changed({ '/signatures/0/sig': base64(signDer('b', pae(PAYLOAD))) }) },
    'Forgery',
    'by another key under the name of the trusted one',
    'attestation.SIGNATURE_INVALID',
  ),
  failed(
    'part-no-envelope',
    { ...part(), envelope: '{}' },
    'Structure',
    'an envelope that is none fails what it was given for',
    'dsse.INVALID',
  ),
  results('intact')(
    'part-no-trust',
    { ...part(), trust: undefined },
    'NoTrust',
    'no trusted keys',
    'trust.STORE_ABSENT',
  ),
  invalid(
    'run-result-hash',
    of(inToto(statement('a', 1, { '/subject/runResultHash': sha256Of('x') }))),
    'Binding',
    'a hash that is not the one of the manifest',
    'bundle.BINDING_MISMATCH',
  ),
  invalid(
    'other-manifest',
    { manifest: new TextDecoder().decode(bundle(2).manifestBytes) },
    'WrongSubject',
    'the manifest of another bundle',
    'attestation.SUBJECT_MISMATCH',
    'bundle.BINDING_MISMATCH',
  ),
  invalid(
    'export-of-other',
    onExport(of(inToto(exportStatement({ evidenceExportId: 'evexp_000000000002' })))),
    'WrongSubject',
    'another export',
    'export.ATTESTATION_SUBJECT_MISMATCH',
  ),
  invalid(
    'export-for-evidence',
    onExport({ trust: trusting({ purposes: ['evidence'] }) }),
    'Purpose',
    'a key for bundles is not valid for a list',
    'trust.PURPOSE_MISMATCH',
  ),
  invalid(
    'evidence-on-export',
    onExport({ envelope: envelope() }),
    'WrongType',
    'an envelope about a bundle does not cover a list',
    'attestation.PREDICATE_UNSUPPORTED',
  ),
  valid(
    'project',
    { trust: trusting({ projects: [PROJECT] }) },
    'Scope',
    'a key of the project that the manifest names',
  ),
  invalid(
    'project-other',
    { trust: trusting({ projects: ['prj_000000000002'] }) },
    'Scope',
    'a key of another project',
    'trust.PROJECT_MISMATCH',
  ),
  results('not_checked')(
    'project-unknown',
    { trust: trusting({ projects: [PROJECT] }), manifest: undefined },
    'Scope',
    'a key of one project, and the project of the evidence is unknown',
  ),
];

const two = (patch = {}): Partial<Input> => ({
  envelope: envelope(PAYLOAD, ['a', 'b'], patch),
  trust: trustingBoth,
});
const uncounted = 'dsse.SIGNATURE_UNCOUNTED';
const missed = 'dsse.THRESHOLD_MISSED';

export const counted = (): Case[] => [
  invalid(
    'other-name-of-revoked-key',
    {
      ...two(),
      trust: storeText(
        storeKey('a'),
        storeKey('b', { revokedAtMs: T - 1 }),
        storeKey('b', { issuer: 'https://aaa.example' }),
      ),
      threshold: 2,
    },
    'KeyName',
    'a key counts under the issuer that the statement names, where it is revoked, and under no other name',
    'dsse.SIGNATURE_UNCOUNTED',
    'dsse.THRESHOLD_MISSED',
  ),
  invalid(
    'countersigner-of-two-issuers',
    {
      ...two(),
      trust: storeText(
        storeKey('a'),
        storeKey('b', { issuer: 'https://aaa.example' }),
        storeKey('b', { issuer: 'https://bbb.example' }),
      ),
      threshold: 2,
    },
    'KeyName',
    'nothing signed names which of two issuers a key signed for',
    'dsse.SIGNATURE_UNCOUNTED',
    'dsse.THRESHOLD_MISSED',
  ),
  valid('two-of-two', { ...two(), threshold: 2 }, 'Threshold', 'two different keys'),
  valid('two-of-one', two(), 'Threshold', 'more than are needed'),
  valid(
    'second-unknown',
    { ...two(), trust: trusting() },
    'Threshold',
    'a further signature by an untrusted key neither counts nor fails',
    uncounted,
  ),
  valid(
    'second-broken',
    two({ '/signatures/1/sig': base64(der) }),
    'Threshold',
    'a further signature that does not verify',
    uncounted,
  ),
  valid(
    'second-no-der',
    two({ '/signatures/1/sig': 'AAAA' }),
    'Threshold',
    'a further signature that is not DER',
    uncounted,
  ),
  invalid(
    'second-unknown-needed',
    { ...two(), trust: trusting(), threshold: 2 },
    'Threshold',
    'the same where two are asked for',
    missed,
    uncounted,
  ),
  invalid(
    'twice',
    { envelope: envelope(PAYLOAD, ['a', 'a']), threshold: 2 },
    'Threshold',
    'one signature twice is one signer',
    missed,
  ),
  invalid(
    'twice-malleable',
    {
      ...changed({ '/signatures/-': { keyid: keyId('a'), sig: twin } }),
      threshold: 2,
    },
    'Threshold',
    'a signature and its other half are one signer',
    missed,
  ),
  invalid(
    'twice-renamed',
    {
      ...changed({ '/signatures/-': signature('a', PAYLOAD, 'other') }),
      trust: storeText(storeKey('a'), storeKey('a', { kid: 'other' })),
      threshold: 2,
    },
    'Threshold',
    'one key under two names is one signer',
    missed,
  ),
  invalid(
    'twice-nameless',
    { ...changed({ '/signatures/-': { sig: base64(der) } }), threshold: 2 },
    'Threshold',
    'once with and once without a name',
    missed,
  ),
  invalid(
    'second-purpose',
    {
      ...two(),
      trust: storeText(storeKey('a'), storeKey('b', { purposes: ['export'] })),
      threshold: 2,
    },
    'Purpose',
    'a second key that is valid for something else',
    missed,
    uncounted,
  ),
  valid(
    'wrong-then-right',
    changed({
      '/signatures': [
        { keyid: keyId('a'), sig: base64(signDer('b', pae(PAYLOAD))) },
        { keyid: keyId('a'), sig: base64(der) },
      ],
    }),
    'Threshold',
    'of several signatures under the name, one that verifies is enough',
  ),
  invalid(
    'others-only',
    { envelope: envelope(PAYLOAD, ['b']), trust: trustingBoth },
    'KeyName',
    'by a trusted key that the statement does not name',
    'dsse.KEYID_MISMATCH',
  ),
  invalid(
    'named-fails-other-verifies',
    two({ '/signatures/0/sig': base64(signDer('a', payloadOf({}))) }),
    'Forgery',
    'a second signer does not replace the one that the statement names',
    'attestation.SIGNATURE_INVALID',
  ),
];
