import type { Code } from '../../../src/codes/index.ts';
import { T } from '../../make/bundle.ts';
import { base64Of, sha256Of, utf8 } from '../../make/bytes.ts';
import { makeExport, partPath } from '../../make/export.ts';
import { storeKey, storeText } from '../../make/keys.ts';
import type { Patch } from '../../make/patch.ts';
import { receipt, signedBeside, type Receipt } from '../../make/receipt.ts';
import { filesOf, judge, UNATTESTED, type Case } from './case.ts';

const made = makeExport();
const CLAIMED_TIME = 'attestation.TIME_CLAIMED';
const SEEN = T + 1000;
const NOW = T + 100_000;

/** The receipt of a mirror that brought the part and the export attestation. */
function seen(patch: Patch = {}): Receipt {
  const list = made.files['export-attestation.json']!;
  const files = [
    { path: partPath(1), bytes: String(made.files[partPath(1)]!.length), state: 'fetched' },
    {
      path: 'export-attestation.json',
      bytes: String(list.length),
      state: 'fetched',
      digest: sha256Of(list),
    },
  ];
  return receipt(1, undefined, {
    '/manifestDigest': sha256Of(made.manifestBytes),
    '/finishedAtMs': SEEN,
    '/files': files,
    ...patch,
  });
}

const trusting = (
  evidence: Readonly<Record<string, unknown>>,
  receipts: Readonly<Record<string, unknown>> = {},
): string =>
  storeText(
    storeKey('a', { purposes: ['evidence', 'export'], ...evidence }),
    storeKey('b', { purposes: ['receipt'], ...receipts }),
  );

const withReceipt = (one: Receipt, envelope = signedBeside(one)): Record<string, string> => ({
  ...filesOf(made.files),
  ...Object.fromEntries(
    Object.entries({ [one.path]: one.text, ...envelope }).map(([path, text]) => [path, base64Of(utf8(text))]),
  ),
});

const stands = (
  id: string,
  files: Record<string, string>,
  trust: string,
  comment: string,
  ...codes: Code[]
): Case =>
  judge(
    id,
    { files, trust, asOfMs: NOW },
    { result: 'verified', codes: [UNATTESTED, ...codes] },
    'ClaimedTime',
    comment,
  );

const UNCOUNTED = 'receipt.UNCOUNTED';
const retired = { notAfterMs: SEEN };

/** What receipts say of the time of evidence whose key has ended. */
export const seenByReceipts = (): Case[] => [
  stands(
    'seen-in-time',
    withReceipt(seen()),
    trusting(retired),
    'a trusted receipt from the last moment of the key',
  ),
  stands(
    'seen-too-late',
    withReceipt(seen()),
    trusting({ notAfterMs: SEEN - 1 }),
    'a trusted receipt from after the key was retired',
    CLAIMED_TIME,
  ),
  stands(
    'seen-before-revocation',
    withReceipt(seen()),
    trusting({ revokedAtMs: SEEN + 1, compromised: false }),
    'a trusted receipt from before the key was revoked',
  ),
  stands(
    'seen-at-revocation',
    withReceipt(seen()),
    trusting({ revokedAtMs: SEEN, compromised: false }),
    'a trusted receipt from the moment at which the key was revoked',
    CLAIMED_TIME,
  ),
  stands(
    'seen-unsigned',
    withReceipt(seen(), {}),
    trusting(retired),
    'a receipt that nobody signed',
    CLAIMED_TIME,
  ),
  stands(
    'seen-by-evidence-key',
    withReceipt(seen(), signedBeside(seen(), { signer: 'a' })),
    trusting(retired),
    'a receipt by the key of the evidence, which is not trusted for receipts',
    CLAIMED_TIME,
    UNCOUNTED,
  ),
  stands(
    'seen-by-itself',
    withReceipt(seen(), signedBeside(seen(), { signer: 'a', statement: { '/issuer': 'archive' } })),
    storeText(
      storeKey('a', { purposes: ['evidence', 'export'], ...retired }),
      storeKey('a', { purposes: ['receipt'], issuer: 'archive' }),
    ),
    'a receipt by the very key whose time it would bound, under another name',
    CLAIMED_TIME,
  ),
  stands(
    'seen-by-retired',
    withReceipt(seen()),
    trusting(retired, { notAfterMs: SEEN }),
    'a receipt whose own key is retired, so that its time is only claimed',
    CLAIMED_TIME,
    UNCOUNTED,
  ),
  stands(
    'seen-by-revoked',
    withReceipt(seen()),
    trusting(retired, { revokedAtMs: SEEN + 1 }),
    'a receipt whose own key is revoked',
    CLAIMED_TIME,
    UNCOUNTED,
  ),
  stands(
    'seen-other-manifest',
    withReceipt(seen({ '/manifestDigest': sha256Of('another') })),
    trusting(retired),
    'a trusted receipt of another manifest',
    CLAIMED_TIME,
    UNCOUNTED,
  ),
  stands(
    'seen-without-part',
    withReceipt(seen({ '/files': [] })),
    trusting(retired),
    'a trusted receipt that names neither the part nor the export attestation',
    CLAIMED_TIME,
  ),
];
