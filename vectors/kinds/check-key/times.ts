import { type Case, T, refuses, accepts } from './case.ts';

const claimed = 'attestation.TIME_CLAIMED';

export const windows = (): Case[] => [
  accepts('not-before-at', { key: { notBeforeMs: T } }, 'KeyWindow', 'issued in the first millisecond'),
  refuses(
    'not-before-early',
    { key: { notBeforeMs: T + 1 } },
    'KeyWindow',
    'issued one millisecond before',
    'trust.KEY_NOT_YET_VALID',
  ),
  accepts(
    'not-after-at',
    { key: { notAfterMs: T } },
    'KeyWindow',
    'issued in the last millisecond, verified in it',
  ),
  refuses(
    'not-after-late',
    { key: { notAfterMs: T - 1 } },
    'KeyWindow',
    'issued one millisecond after',
    'trust.KEY_EXPIRED',
  ),
  accepts(
    'one-millisecond',
    { key: { notBeforeMs: T, notAfterMs: T } },
    'KeyWindow',
    'a window of one millisecond',
  ),
  accepts(
    'retired',
    { key: { notAfterMs: T }, statement: { asOfMs: T + 1 } },
    'ClaimedTime',
    'the key is past its end during verification: only the signer claims that it was not when it signed',
    claimed,
  ),
  accepts(
    'retired-unknown-time',
    { key: { notAfterMs: T + 1000 }, statement: { asOfMs: undefined } },
    'ClaimedTime',
    'without a time of verification a key with an end counts as retired',
    claimed,
  ),
  refuses(
    'expired-now',
    { key: { notAfterMs: T - 1 }, statement: { asOfMs: T + 5 } },
    'KeyWindow',
    'no note if the key is not valid',
    'trust.KEY_EXPIRED',
  ),
  accepts(
    'zero',
    { key: { notBeforeMs: 0 }, statement: { issuedAtMs: 0, asOfMs: 0 } },
    'KeyWindow',
    'time zero is a time',
  ),
  refuses(
    'before-zero',
    { key: { notBeforeMs: 0 }, statement: { issuedAtMs: -1 } },
    'KeyWindow',
    'a time before 1970',
    'trust.KEY_NOT_YET_VALID',
  ),
  accepts(
    'future',
    { statement: { issuedAtMs: T + 1 } },
    'KeyWindow',
    'a statement from the future is wrong whoever signed it: the key is not to blame',
  ),
];

export const revocations = (): Case[] => [
  refuses(
    'revoked',
    { key: { revokedAtMs: T } },
    'Revocation',
    'revoked, and compromised unless the store says otherwise',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'revoked-later',
    { key: { revokedAtMs: T + 1000 }, statement: { asOfMs: T + 2000 } },
    'Revocation',
    'a compromised key takes older statements with it',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'revoked-in-future',
    { key: { revokedAtMs: T + 1000 }, statement: { asOfMs: T } },
    'Revocation',
    'also before the time of its revocation',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'retracted-at',
    { key: { revokedAtMs: T, compromised: false } },
    'Revocation',
    'issued in the millisecond of the revocation',
    'trust.KEY_REVOKED',
  ),
  accepts(
    'retracted-before',
    { key: { revokedAtMs: T + 1, compromised: false } },
    'Revocation',
    'issued one millisecond before it',
    claimed,
  ),
  refuses(
    'retracted-after',
    { key: { revokedAtMs: T - 1, compromised: false } },
    'Revocation',
    'issued one millisecond after it',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'revoked-and-expired',
    { key: { revokedAtMs: T, notAfterMs: T - 1 } },
    'Revocation',
    'every reason is reported',
    'trust.KEY_EXPIRED',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'compromised-under-another-name',
    { alias: { issuer: 'https://other.example', revokedAtMs: T + 1000 } },
    'Revocation',
    'a key that is compromised under one name is valid under none',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'compromised-under-another-key-id',
    { alias: { kid: 'other', purposes: ['export'], revokedAtMs: T - 1 } },
    'Revocation',
    'also under another key id, and for another purpose',
    'trust.KEY_REVOKED',
  ),
  accepts(
    'retracted-under-another-name',
    { alias: { issuer: 'https://other.example', revokedAtMs: T - 1, compromised: false } },
    'Revocation',
    'a revocation without a compromise concerns one name',
  ),
];

export const certificates = (): Case[] => [
  accepts(
    'certificate',
    { key: { fromCertificate: true } },
    'Certificate',
    'a key from a certificate, whose chain was not checked',
    'trust.CHAIN_NOT_CHECKED',
  ),
  refuses(
    'certificate-expired',
    { key: { fromCertificate: true, notAfterMs: T - 1 } },
    'Certificate',
    'one that has ended',
    'trust.CHAIN_NOT_CHECKED',
    'trust.KEY_EXPIRED',
  ),
];
