import { expect, test } from 'vitest';
import { createSigner } from '../../../src/trust/key/signer.ts';
import { trustStore } from '../../../src/trust/store.ts';
import {
  type Challenge,
  type ChallengeTask,
  readLastChallenge,
  signChallenge,
  verifyLedger,
} from '../../../src/verify/challenge/ledger.ts';

const START = Date.UTC(2026, 0, 1);
const AS_OF = START + 1_000_000;
const signer = createSigner(new Uint8Array(32).fill(7));
const thief = createSigner(new Uint8Array(32).fill(8));
const trust = trustStore([{ issuer: 'auditor', point: signer.point, purposes: ['challenge'] }]);
const task = (seed: string, over: Partial<ChallengeTask> = {}): ChallengeTask => ({
  drillId: 'checkout',
  buildHash: `sha256:${'ab'.repeat(32)}`,
  seed,
  expiresAtMs: START + 3_600_000,
  ...over,
});

async function append(
  before: Uint8Array,
  next: ChallengeTask,
  issuedAtMs: number,
  by = signer,
): Promise<Uint8Array> {
  const previous = readLastChallenge(before);
  const signing = { signer: by, issuer: 'auditor', issuedAtMs, ...(previous && { previous }) };
  return Buffer.concat([before, await signChallenge(next, signing), Buffer.from('\n')]);
}
async function build(...seeds: readonly string[]): Promise<Uint8Array> {
  let ledger: Uint8Array = new Uint8Array();
  for (const [at, seed] of seeds.entries()) ledger = await append(ledger, task(seed), START + at);
  return ledger;
}
const codesOf = (ledger: Uint8Array, over: Partial<Parameters<typeof verifyLedger>[1]> = {}) => {
  const { verdict, findings } = verifyLedger(ledger, { asOfMs: AS_OF, trust, ...over });
  return [verdict, [...new Set(findings.map(({ code }) => code))]];
};
const linesOf = (ledger: Uint8Array): string[] => Buffer.from(ledger).toString().trimEnd().split('\n');
const join = (...lines: readonly string[]): Uint8Array =>
  Buffer.from(lines.map((line) => `${line}\n`).join(''));

test('a ledger of signed challenges in order is valid, and its last one can be pinned', async () => {
  const ledger = await build('1', '2', '3');
  expect(codesOf(ledger)).toEqual(['valid', []]);
  const last = readLastChallenge(ledger);
  expect(last).toMatchObject({ sequence: 3, seed: '3', drillId: 'checkout', issuer: 'auditor' });
  expect(codesOf(ledger, { expectLast: last!.digest })).toEqual(['valid', []]);
  const short = join(...linesOf(ledger).slice(0, 2));
  expect(codesOf(short)).toEqual(['valid', []]);
  expect(codesOf(short, { expectLast: last!.digest })).toEqual(['invalid', ['challenge.LAST_MISMATCH']]);
});

test('an empty ledger is invalid, and one without a trust store is not checked', async () => {
  expect(codesOf(new Uint8Array())).toEqual(['invalid', []]);
  const { verdict } = verifyLedger(await build('1'), { asOfMs: AS_OF });
  expect(verdict).toBe('not_checked');
});

test('a removed, exchanged, repeated or forked challenge is found', async () => {
  const [one = '', two = '', three = ''] = linesOf(await build('1', '2', '3'));
  expect(codesOf(join(one, three))).toEqual(['invalid', ['challenge.PREVIOUS_MISSING']]);
  expect(codesOf(join(two, three))).toEqual(['invalid', ['challenge.PREVIOUS_MISSING']]);
  expect(codesOf(join(two, one))[0]).toBe('invalid');
  expect(codesOf(join(one, two, two))[1]).toContain('challenge.ORDER_MISMATCH');
  const [, other = ''] = linesOf(await build('1', '4'));
  expect(codesOf(join(one, two, other))).toEqual(['invalid', ['challenge.FORKED']]);
  expect(codesOf(join(one, other, three))[1]).toContain('challenge.ORDER_MISMATCH');
});

test('a seed that was used before is refused, because one run would answer both', async () => {
  expect(codesOf(await build('1', '2', '1'))).toEqual(['invalid', ['challenge.INVALID']]);
});

test('a challenge by an unknown key, of another purpose, or from the future is refused', async () => {
  const ledger = await build('1');
  expect(codesOf(await append(ledger, task('2'), START + 1, thief))[0]).toBe('invalid');
  const evidence = trustStore([{ issuer: 'auditor', point: signer.point }]);
  expect(codesOf(ledger, { trust: evidence })).toEqual(['invalid', ['trust.PURPOSE_MISMATCH']]);
  expect(codesOf(ledger, { asOfMs: START - 1 })).toEqual(['invalid', ['attestation.ISSUED_IN_FUTURE']]);
  expect(codesOf(ledger, { asOfMs: START })).toEqual(['valid', []]);
});

test('a changed line, a line of anything else, and a lifetime that ends first are refused', async () => {
  const [line = ''] = linesOf(await build('1'));
  const envelope = JSON.parse(line);
  const payload = Buffer.from(envelope.payload, 'base64').toString().replace('"checkout"', '"checkin"');
  const changed = JSON.stringify({ ...envelope, payload: Buffer.from(payload).toString('base64') });
  expect(codesOf(join(changed))).toEqual(['invalid', ['attestation.SIGNATURE_INVALID']]);
  const seed = payload.replace('"seed":"1"', '"seed":"2"');
  const subject = JSON.stringify({ ...envelope, payload: Buffer.from(seed).toString('base64') });
  expect(codesOf(join(subject))).toEqual(['invalid', ['challenge.INVALID']]);
  expect(codesOf(join('{}'))).toEqual(['invalid', ['dsse.INVALID']]);
  expect(codesOf(join('not JSON'))).toEqual(['invalid', ['json.INVALID']]);
  await expect(build('1', 'x'.repeat(21))).rejects.toMatchObject({ code: 'challenge.INVALID' });
  const ended = signChallenge(task('1', { expiresAtMs: START }), {
    signer,
    issuer: 'auditor',
    issuedAtMs: START,
  });
  await expect(ended).rejects.toMatchObject({ code: 'challenge.INVALID' });
});

test('a challenge names its place in the ledger', async () => {
  const { challenges } = verifyLedger(await build('1', '2'), { asOfMs: AS_OF, trust });
  expect(challenges.map(({ sequence, previous }: Challenge) => [sequence, previous])).toEqual([
    [1, undefined],
    [2, challenges[0]?.digest],
  ]);
});
