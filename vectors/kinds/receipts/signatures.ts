import { T } from '../../make/bundle.ts';
import { chain, finishedAt, signedBeside, textsOf, type Receipt } from '../../make/receipt.ts';
import { broken, sound, trusting, type Case } from './case.ts';

const [first, second] = chain(2) as [Receipt, Receipt];
const one = { ...textsOf([first]), ...signedBeside(first) };
const envelopePath = (receipt: Receipt): string => `${receipt.path}.dsse`;
const envelopeOf = (receipt: Receipt): string => signedBeside(receipt)[envelopePath(receipt)] ?? '';

export const soundSignatures = (): Case[] => [
  sound(
    'signed',
    { files: one, trust: trusting() },
    [],
    { flag: 'Usual', comment: 'signed by a trusted key' },
    finishedAt(1),
  ),
  sound('signed-untold', { files: one }, ['trust.STORE_ABSENT'], {
    flag: 'NoTrust',
    comment: 'signed, and no trust store is given',
  }),
  sound(
    'signed-second',
    { files: { ...textsOf([first, second]), ...signedBeside(second) }, trust: trusting() },
    ['receipt.UNSIGNED'],
    {
      flag: 'ClaimedTime',
      comment: 'only the second is signed: it says nothing of when the first was there',
    },
    finishedAt(2),
  ),
  sound(
    'signed-later',
    { files: { ...textsOf([first]), ...signedBeside(first, { issuedAtMs: T }) }, trust: trusting() },
    [],
    { flag: 'ClaimedTime', comment: 'signed long after it was written: it was seen when it was signed' },
    T,
  ),
  sound(
    'key-to-the-end',
    { files: one, trust: trusting({ notAfterMs: T }) },
    [],
    {
      flag: 'KeyWindow',
      comment: 'a key that is in force up to the time of the verification',
    },
    finishedAt(1),
  ),
  sound('key-retired', { files: one, trust: trusting({ notAfterMs: T - 1 }) }, ['attestation.TIME_CLAIMED'], {
    flag: 'ClaimedTime',
    comment: 'a key that is retired only claims its time',
  }),
  sound(
    'key-revoked-later',
    { files: one, trust: trusting({ revokedAtMs: T, compromised: false }) },
    ['attestation.TIME_CLAIMED'],
    { flag: 'Revocation', comment: 'a key that was revoked later only claims its time' },
  ),
];

export const brokenSignatures = (): Case[] => [
  broken(
    'key-unknown',
    { files: { ...textsOf([first]), ...signedBeside(first, { signer: 'c' }) }, trust: trusting() },
    ['trust.KEY_UNKNOWN'],
    {
      flag: 'WrongKey',
      comment: 'signed by a key that nobody trusts',
    },
  ),
  broken(
    'key-purpose',
    { files: one, trust: trusting({ purposes: ['evidence', 'export'] }) },
    ['trust.PURPOSE_MISMATCH'],
    {
      flag: 'Purpose',
      comment: 'signed by a key for evidence',
    },
  ),
  broken('key-revoked', { files: one, trust: trusting({ revokedAtMs: T }) }, ['trust.KEY_REVOKED'], {
    flag: 'Revocation',
    comment: 'signed by a key that is compromised',
  }),
  broken(
    'from-the-future',
    { files: one, trust: trusting(), asOfMs: finishedAt(1) - 1 },
    ['attestation.ISSUED_IN_FUTURE'],
    {
      flag: 'Time',
      comment: 'signed after the time of the verification',
    },
  ),
  broken(
    'of-another',
    {
      files: {
        ...textsOf([first, second]),
        [envelopePath(first)]: envelopeOf(first),
        [envelopePath(second)]: envelopeOf(first),
      },
      trust: trusting(),
    },
    ['receipt.SUBJECT_MISMATCH'],
    { flag: 'WrongSubject', comment: 'the envelope of another receipt; the one that it is of stands' },
    finishedAt(1),
  ),
  broken('without-receipt', { files: signedBeside(first), trust: trusting() }, ['receipt.MISSING'], {
    flag: 'MissingFile',
    comment: 'an envelope whose receipt is gone',
  }),
  broken(
    'envelope-cut',
    { files: { ...textsOf([first]), [envelopePath(first)]: '{' }, trust: trusting() },
    ['json.INVALID'],
    {
      flag: 'Structure',
      comment: 'an envelope that is cut',
    },
  ),
];
