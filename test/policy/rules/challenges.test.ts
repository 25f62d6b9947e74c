import { expect, test } from 'vitest';
import { evaluate } from '../../../src/policy/evaluate.ts';
import { parsePolicy } from '../../../src/policy/resolve.ts';
import { policyOf } from '../../../src/policy/policy.ts';
import type { ChallengeLedger, Challenge } from '../../../src/verify/challenge/ledger.ts';
import type { BundleReport } from '../../../src/verify/report.ts';
import {
  AS_OF,
  bundle,
  decide,
  digest,
  documentOf,
  exportOf,
  inputOf,
  stateOf,
  violationsOf,
} from '../make.ts';

const MINUTE = 60_000;
const stampedAt = (atMs: number | undefined, n = 1, over: Partial<BundleReport> = {}): BundleReport => {
  const report = bundle(n);
  const stamp = atMs === undefined ? {} : { stamp: { atMs, authority: 'tsa.example' } };
  return { ...report, signers: (report.signers ?? []).map((signer) => ({ ...signer, ...stamp })), ...over };
};
const createdAtMs = bundle(1).createdAtMs!;
const challenge = (over: Partial<Challenge> = {}): Challenge => ({
  issuer: 'auditor',
  keyId: 'key',
  issuedAtMs: createdAtMs - MINUTE,
  expiresAtMs: createdAtMs + MINUTE,
  sequence: 1,
  digest: digest('challenge'),
  drillId: 'checkout',
  buildHash: digest('build'),
  seed: '42',
  ...over,
});
const ledgerOf = (
  challenges: readonly Challenge[],
  verdict: ChallengeLedger['verdict'] = 'valid',
): ChallengeLedger => ({
  schemaVersion: 1,
  kind: 'challenges',
  verdict,
  asOfMs: AS_OF,
  challenges,
  findings: [],
});
const WINDOW = { fromAtMs: createdAtMs - 10 * MINUTE, throughAtMs: createdAtMs + 10 * MINUTE };
const statesOf = (
  reports: readonly BundleReport[],
  ledger: ChallengeLedger | undefined,
  rules: object = { answered: 'once' },
) => {
  const policy = policyOf(documentOf({ challenge: rules as { answered: 'once' }, clockSkew: '1s' }));
  const inputs = [inputOf({ ...exportOf(reports), window: WINDOW })];
  const decision = evaluate(inputs, policy, { asOfMs: AS_OF, ...(ledger && { ledger }) });
  const subjects = violationsOf(decision, 'challenge.answered').map(
    ({ subject, message }) => `${subject}: ${message}`,
  );
  return [stateOf(decision, 'challenge.answered'), ...subjects];
};
const good = () => stampedAt(createdAtMs + MINUTE);

test('signers.timestamp holds for a bundle whose every statement has a timestamp, and for no other', () => {
  const rules = { signers: { timestamp: 'required' } } as const;
  const state = (report: BundleReport) =>
    stateOf(decide(rules, [inputOf(exportOf([report]))]), 'signers.timestamp');
  expect(state(good())).toBe('passed');
  expect(state(bundle(1))).toBe('failed');
  const [signer] = good().signers!;
  const { stamp: _stamp, ...unstamped } = signer!;
  expect(state({ ...good(), signers: [signer!, { ...unstamped, in: 'dsse' }] })).toBe('failed');
  expect(state({ ...good(), signers: [] })).toBe('failed');
  expect(state({ ...good(), verdict: 'failed', provenance: 'claimed' })).toBe('not_checked');
});

test('a bundle that answers its challenge in time passes, at both ends', () => {
  expect(statesOf([good()], ledgerOf([challenge()]))).toEqual(['passed']);
  const late = challenge({ expiresAtMs: createdAtMs + MINUTE - 1 });
  expect(statesOf([good()], ledgerOf([late]))[0]).toBe('failed');
  expect(statesOf([good()], ledgerOf([challenge({ issuedAtMs: createdAtMs + 1000 })]))).toEqual(['passed']);
  expect(statesOf([good()], ledgerOf([challenge({ issuedAtMs: createdAtMs + 1001 })]))[0]).toBe('failed');
  expect(statesOf([stampedAt(createdAtMs - 1000)], ledgerOf([challenge()]))).toEqual(['passed']);
  expect(statesOf([stampedAt(createdAtMs - 1001)], ledgerOf([challenge()]))[0]).toBe('failed');
  expect(statesOf([stampedAt(undefined)], ledgerOf([challenge()]))[0]).toBe('failed');
});

test('a bundle with another seed, drill, build or issuer of the challenge answers nothing', () => {
  for (const over of [{ seed: '43' }, { drillId: 'other' }, { buildHash: digest('other') }])
    expect(statesOf([good()], ledgerOf([challenge(over)]))).toHaveLength(3);
  const rules = { answered: 'once', issuers: ['somebody'] };
  expect(statesOf([good()], ledgerOf([challenge()]), rules)).toHaveLength(2);
  expect(statesOf([good()], ledgerOf([challenge()]), { ...rules, issuers: ['auditor'] })).toEqual(['passed']);
});

test('a discarded run leaves its challenge unanswered, whatever its outcome was', () => {
  const discarded = challenge({ seed: '43', sequence: 2, expiresAtMs: AS_OF - 1 });
  expect(statesOf([good()], ledgerOf([challenge(), discarded]))).toEqual([
    'failed',
    'challenge 2: it was not answered',
  ]);
  const open = challenge({ seed: '43', sequence: 2, expiresAtMs: AS_OF });
  expect(statesOf([good()], ledgerOf([challenge(), open]))).toEqual([
    'not_checked',
    'challenge 2: it can still be answered',
  ]);
  const outside = challenge({ seed: '43', sequence: 2, issuedAtMs: WINDOW.fromAtMs - 1 });
  expect(statesOf([good()], ledgerOf([challenge(), outside]))).toEqual(['passed']);
  const failed = stampedAt(createdAtMs + MINUTE, 1, { outcome: { ...good().outcome!, verdict: 'failed' } });
  expect(statesOf([failed], ledgerOf([challenge()]))).toEqual(['passed']);
});

test('a challenge that was answered twice fails, and an unverified bundle leaves it open', () => {
  const twice = [good(), stampedAt(createdAtMs + MINUTE, 2)];
  expect(statesOf(twice, ledgerOf([challenge()]))).toEqual([
    'failed',
    'challenge 1: it was answered more than once',
  ]);
  const unread = stampedAt(createdAtMs + MINUTE, 1, { verdict: 'incomplete', provenance: 'claimed' });
  const [state, ...subjects] = statesOf([unread], ledgerOf([challenge({ expiresAtMs: AS_OF - 1 })]));
  expect([state, subjects.length]).toEqual(['not_checked', 2]);
});

test('without a valid ledger, and for a single part, nothing is decided for good', () => {
  expect(statesOf([good()], undefined)[0]).toBe('not_checked');
  expect(statesOf([good()], ledgerOf([challenge()], 'not_checked'))[0]).toBe('not_checked');
  expect(statesOf([good()], ledgerOf([challenge()], 'invalid'))[0]).toBe('failed');
  const policy = policyOf(documentOf({ challenge: { answered: 'once' } }));
  const alone = evaluate([inputOf(good())], policy, { asOfMs: AS_OF, ledger: ledgerOf([challenge()]) });
  expect(stateOf(alone, 'challenge.answered')).toBe('not_checked');
});

test('a set of rules cannot have the rule challenge, because it is about all runs', () => {
  const set = { challenge: { answered: 'once' } };
  const document = { schemaVersion: 1, kind: 'policy', anyOf: [set, { age: { run: '1h' } }] };
  const parse = () => parsePolicy(Buffer.from(JSON.stringify(document)), 'policy.json');
  expect(parse).toThrow(expect.objectContaining({ code: 'policy.INVALID' }));
});
