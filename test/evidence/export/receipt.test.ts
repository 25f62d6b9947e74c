import { expect, it } from 'vitest';
import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { NOW } from '../../support/evidence.ts';
import { receiptFacts } from '../../support/receipts.ts';
import { parseReceipt, type MirrorReceipt } from '../../../src/evidence/export/receipt.ts';

const receipt: MirrorReceipt = {
  schemaVersion: 1,
  kind: 'mirror.receipt',
  ...receiptFacts,
  finishedAtMs: NOW,
};
const failure = {
  path: 'parts/evidence_000000000002.zip',
  code: 'part.DIGEST_MISMATCH',
  message: 'wrong bytes',
};

it('a receipt reads back as it was written', () => {
  expect(parseReceipt(canonicalBytes(receipt))).toEqual(receipt);
  const incomplete: MirrorReceipt = { ...receipt, outcome: 'incomplete', failures: [failure] };
  expect(parseReceipt(canonicalBytes(incomplete))).toEqual(incomplete);
});

it.each([
  ['a member too many', { ...receipt, token: 'x' }],
  ['another kind', { ...receipt, kind: 'evidence.export' }],
  ['a secret in the address', { ...receipt, source: 'https://user:pw@control.example' }],
  ['a query in the address', { ...receipt, source: 'https://control.example/?token=x' }],
  ['no address', { ...receipt, source: 'control.example' }],
  ['an unknown state', { ...receipt, files: [{ path: 'a', bytes: '1', state: 'guessed' }] }],
  ['a path out of the mirror', { ...receipt, files: [{ path: '../a', bytes: '1', state: 'kept' }] }],
  ['a number of bytes that is none', { ...receipt, files: [{ path: 'a', bytes: '01', state: 'kept' }] }],
  ['failures in a complete run', { ...receipt, failures: [failure] }],
  ['an incomplete run without a failure', { ...receipt, outcome: 'incomplete' }],
  ['a code of another form', { ...receipt, outcome: 'incomplete', failures: [{ ...failure, code: 'x' }] }],
])('a receipt with %s is refused', (_, value) => {
  const read = (): unknown => parseReceipt(toUtf8(JSON.stringify(value)));
  expect(read).toThrow(expect.objectContaining({ code: 'receipt.INVALID' }));
});
