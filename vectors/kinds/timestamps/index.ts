import * as z from 'zod/mini';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import { base64Schema, judged, judgementSchema, type Kind, type VectorCase } from '../../kind.ts';
import { T } from '../../make/bundle.ts';
import { storeKey } from '../../make/keys.ts';
import { sound } from '../attestations/case.ts';
import fixed from './tokens.json' with { type: 'json' };

const inputSchema = z.strictObject({
  attestation: z.string().check(z.describe('attestation.json as text; its bytes are the UTF-8 of it')),
  tokens: z
    .record(z.string(), base64Schema)
    .check(z.describe('timestamp tokens by the names of their files')),
  trust: z.string().check(z.describe('the trust store as JSON text, with certificates')),
  asOfMs: z.int(),
});
const expectedSchema = z.extend(judgementSchema(['valid', 'not_checked', 'invalid']), {
  stampedAtMs: z
    .optional(z.int())
    .check(z.describe('the earliest time of the signature that a token proves; absent if none does')),
});
type Input = z.infer<typeof inputSchema>;
type Expected = z.infer<typeof expectedSchema>;
type Case = VectorCase<Input, Expected>;

// openssl made them, with random keys, so they are kept: vectors are the same on every machine.
const { tokens, certificates } = fixed;
type Name = keyof typeof tokens;
type Limits = Readonly<Record<string, number | boolean>>;

const certificate = (name: keyof typeof certificates, limits: Limits = {}) => ({
  issuer: `${name}.example`,
  x5c: [certificates[name]],
  purposes: ['timestamp'],
  ...limits,
});
const ROOT = [certificate('root')];
/** The key of the signer was stolen a minute after the latest token of the usual time. */
const STOLEN = { revokedAtMs: T + 120_000, compromised: true };
const LATER = T + 10_000_000;

type Parts = { readonly key?: Limits; readonly certificates?: readonly object[]; readonly asOfMs?: number };

/** The attestation with these tokens, judged after its key was stolen: only a token saves it. */
const make = (
  id: string,
  names: readonly Name[],
  { key = STOLEN, certificates: listed = ROOT, asOfMs = LATER }: Parts = {},
): Pick<Case, 'id' | 'input'> => ({
  id,
  input: {
    attestation: sound,
    tokens: Object.fromEntries(names.map((name) => [`${name}.tst`, tokens[name]])),
    trust: JSON.stringify({ keys: [storeKey('a', key)], certificates: listed }),
    asOfMs,
  },
});

const saved = (
  base: Pick<Case, 'id' | 'input'>,
  stampedAtMs: number,
  flag: Flag,
  comment: string,
  ...codes: Code[]
): Case => ({ ...base, comment, flags: [flag], expected: { ...judged('valid', codes), stampedAtMs } });

const lost = (base: Pick<Case, 'id' | 'input'>, flag: Flag, comment: string, ...codes: Code[]): Case => ({
  ...base,
  comment,
  flags: [flag],
  expected: judged('invalid', ['trust.KEY_REVOKED', ...codes]),
});

/** A token that counts, but not for a time at which the key was good. */
const late = (base: Pick<Case, 'id' | 'input'>, stampedAtMs: number, comment: string): Case => {
  const { expected, ...rest } = lost(base, 'Time', comment);
  return { ...rest, expected: { ...expected, stampedAtMs } };
};

/** The minute after the signature, and the second of a token without an accuracy. */
const USUAL = T + 61_000;

function cases(): readonly Case[] {
  const two = [certificate('root', { revokedAtMs: T + 602_000 }), certificate('rsa')];
  return [
    saved(make('usual', ['good']), USUAL, 'Usual', 'a token by a signer below the trusted certificate'),
    saved(
      make('rsa', ['rsa'], { certificates: [certificate('rsa')] }),
      USUAL,
      'Usual',
      'a token that is signed with RSA',
    ),
    saved(
      make('signer-trusted', ['good'], { certificates: [certificate('signer')] }),
      USUAL,
      'Usual',
      'the certificate of the signer itself is trusted',
    ),
    saved(
      make('issuer-usage', ['issuerUsage']),
      USUAL,
      'Certificate',
      'timeStamping on an intermediate is allowed',
    ),
    saved(
      make('retired', ['good'], { key: { notAfterMs: USUAL } }),
      USUAL,
      'ClaimedTime',
      'the key ended at the time of the token, so no one has to claim the time',
    ),
    saved(
      make('retired-before', ['good'], { key: { notAfterMs: USUAL - 1 } }),
      USUAL,
      'ClaimedTime',
      'the key ended before the token',
      'attestation.TIME_CLAIMED',
    ),
    saved(
      make('early', ['early']),
      T - 59_000,
      'Time',
      'the token is older than the statement claims to be',
      'attestation.STAMPED_EARLIER',
    ),
    saved(
      make('last-moment', ['good'], { key: { ...STOLEN, revokedAtMs: USUAL + 1 } }),
      USUAL,
      'Time',
      'the key was revoked one millisecond after the token',
    ),
    late(
      make('revoked-then', ['good'], { key: { ...STOLEN, revokedAtMs: USUAL } }),
      USUAL,
      'the key was revoked at the time of the token',
    ),
    late(make('late', ['late']), T + 3_601_000, 'the token is from after the theft'),
    late(
      make('coarse', ['coarse']),
      T + 3_660_000,
      'with its accuracy, the token may be from after the theft',
    ),
    lost(make('no-token', []), 'Usual', 'without a token, a stolen key verifies nothing'),
    lost(make('other', ['other']), 'Binding', 'the token is about other bytes', 'timestamp.SUBJECT_UNKNOWN'),
    lost(
      make('unlisted', ['good'], { certificates: [certificate('rsa')] }),
      'UntrustedAuthority',
      'no trusted certificate issued that of the signer',
      'timestamp.AUTHORITY_UNKNOWN',
    ),
    lost(
      make('no-authority', ['good'], { certificates: [] }),
      'UntrustedAuthority',
      'no authority is trusted',
      'timestamp.NOT_CHECKED',
    ),
    lost(
      make('rogue', ['rogueFirst']),
      'Certificate',
      'trusted certificates are next to a signature by another',
      'timestamp.AUTHORITY_UNKNOWN',
    ),
    lost(
      make('flipped', ['flipped']),
      'ModifiedSignature',
      'one bit of the signature differs',
      'timestamp.SIGNATURE_INVALID',
    ),
    lost(
      make('no-id', ['noId']),
      'Certificate',
      'the signed attributes name no certificate',
      'timestamp.CERTIFICATE_INVALID',
    ),
    lost(
      make('other-certificate', ['otherCertificate']),
      'Certificate',
      'the signed attributes name a certificate that is not there',
      'timestamp.CERTIFICATE_INVALID',
    ),
    lost(
      make('no-usage', ['noUsage']),
      'Certificate',
      'the signer has no extended key usage',
      'timestamp.CERTIFICATE_INVALID',
    ),
    lost(
      make('not-critical', ['notCritical']),
      'Certificate',
      'timeStamping is not critical',
      'timestamp.CERTIFICATE_INVALID',
    ),
    lost(
      make('two-usages', ['twoUsages']),
      'Certificate',
      'the signer has a second purpose',
      'timestamp.CERTIFICATE_INVALID',
    ),
    lost(
      make('issuer-other-usage', ['issuerOtherUsage']),
      'Certificate',
      'an intermediate is limited to other purposes',
      'timestamp.CHAIN_INVALID',
    ),
    lost(
      make('not-authority', ['notAuthority']),
      'Certificate',
      'an intermediate is not an authority',
      'timestamp.CHAIN_INVALID',
    ),
    lost(
      make('ended', ['ended']),
      'Time',
      'the certificate of the signer ended before the token',
      'timestamp.CHAIN_INVALID',
    ),
    lost(make('sha1', ['sha1']), 'WeakDigest', 'the imprint is SHA-1', 'timestamp.ALGORITHM_REFUSED'),
    lost(
      make('weak-key', ['weakKey']),
      'WeakDigest',
      'the key of the signer is RSA of 1024 bits',
      'timestamp.ALGORITHM_REFUSED',
    ),
    lost(
      make('response', ['response']),
      'WrongDocument',
      'a response in place of its token',
      'timestamp.INVALID',
    ),
    lost(
      make('future', ['good'], { asOfMs: T }),
      'Time',
      'the token is from after the verification',
      'timestamp.IN_FUTURE',
    ),
    lost(
      make('authority-stolen', ['good'], { certificates: [certificate('root', { revokedAtMs: LATER })] }),
      'UntrustedAuthority',
      'the authority was compromised',
      'timestamp.AUTHORITY_REVOKED',
    ),
    saved(
      make('renewed', ['good', 'renewal'], { certificates: two }),
      USUAL,
      'Usual',
      'another authority stamped the token before the first was compromised',
    ),
    lost(
      make('renewed-late', ['good', 'renewal'], {
        certificates: [certificate('root', { revokedAtMs: T + 601_000 }), certificate('rsa')],
      }),
      'Time',
      'another authority stamped the token when the first was compromised',
      'timestamp.AUTHORITY_REVOKED',
    ),
  ];
}

export const timestamps: Kind<Input, Expected> = {
  name: 'timestamps',
  about: 'an attestation, timestamp tokens, a trust store with certificates, and the result',
  clause: 'formats §9',
  input: inputSchema,
  expected: expectedSchema,
  cases,
};
