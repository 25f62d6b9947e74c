import * as z from 'zod/mini';
import type { JsonObject } from '../../src/bytes/json/parse.ts';
import { canonicalJson } from '../../src/bytes/json/canonical.ts';
import type { Code } from '../../src/codes/catalogue.ts';
import type { Flag } from '../flags.ts';
import { digestTextSchema, judged, judgementSchema, type Kind, type VectorCase } from '../kind.ts';
import { sha256Of } from '../make/bytes.ts';
import { keyId, storeKey, storeText } from '../make/keys.ts';
import { patched, type Patch } from '../make/patch.ts';
import { T } from '../make/run.ts';
import { envelope, payloadOf } from './dsse/case.ts';

const inputSchema = z.strictObject({
  ledger: z.string().check(z.describe('the ledger as text; its bytes are the UTF-8 of it')),
  trust: z.optional(z.string()).check(z.describe('the trust store as JSON text; absent when none is given')),
  asOfMs: z.int(),
  expectLast: z
    .optional(digestTextSchema)
    .check(z.describe('the digest of the payload with which the ledger must end')),
});
const expectedSchema = judgementSchema(['valid', 'not_checked', 'invalid']);
type Input = z.infer<typeof inputSchema>;
type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

const AUDITOR = 'https://auditor.example';
const HOUR = 3_600_000;
const AS_OF = T + HOUR;

type Challenge = { readonly statement: JsonObject; readonly line: string; readonly digest: string };

const seal = (statement: JsonObject, signer = 'a', patch: Patch = {}): Challenge => ({
  statement,
  line: envelope(payloadOf(statement), [signer], patch),
  digest: sha256Of(canonicalJson(statement)),
});

/** The challenge of this number, a millisecond after the one before it, whose seed is its number. */
function issue(sequence: number, previous?: Challenge, patch: Patch = {}, signer = 'a'): Challenge {
  const seed = typeof patch['/predicate/seed'] === 'string' ? patch['/predicate/seed'] : String(sequence);
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'seed', digest: { sha256: sha256Of(JSON.stringify(seed)).slice('sha256:'.length) } }],
    predicateType: 'urn:drillproof:attestation:challenge:v1',
    predicate: {
      schemaVersion: 1,
      issuer: AUDITOR,
      keyId: keyId(signer),
      issuedAtMs: T + sequence,
      sequence,
      ...(previous && { previous: previous.digest }),
      drillId: 'checkout',
      buildHash: `sha256:${'ab'.repeat(32)}`,
      seed,
      expiresAtMs: T + HOUR,
    },
  };
  return seal(patched(statement, patch), signer);
}

const textOf = (...lines: readonly (Challenge | string)[]): string =>
  lines.map((line) => `${typeof line === 'string' ? line : line.line}\n`).join('');
const trusting = (changes: Readonly<Record<string, unknown>> = {}): string =>
  storeText(storeKey('a', { issuer: AUDITOR, purposes: ['challenge'], ...changes }));

type Words = readonly [flag: Flag, comment: string];

const caseOf =
  (result: 'valid' | 'invalid') =>
  (id: string, input: Partial<Input>, [flag, comment]: Words, ...codes: Code[]): Case => ({
    id,
    comment,
    flags: [flag],
    input: { ledger: '', trust: trusting(), asOfMs: AS_OF, ...input },
    expected: judged(result, codes),
  });
const sound = caseOf('valid');
const broken = caseOf('invalid');

const one = issue(1);
const two = issue(2, one);
const three = issue(3, two);
const ALL = textOf(one, two, three);

function soundLedgers(): readonly Case[] {
  return [
    sound('one', { ledger: textOf(one) }, ['Usual', 'the first challenge']),
    sound('three', { ledger: ALL }, ['Usual', 'three challenges, each with the digest of the one before it']),
    sound('no-last-line-feed', { ledger: ALL.trimEnd() }, ['Usual', 'the last line has no line feed']),
    sound('same-time', { ledger: textOf(one, issue(2, one, { '/predicate/issuedAtMs': T + 1 })) }, [
      'Time',
      'two challenges of the same millisecond',
    ]),
    sound('last-expected', { ledger: ALL, expectLast: three.digest }, [
      'Expectation',
      'the last challenge is the expected one',
    ]),
    sound('last-removed', { ledger: textOf(one, two) }, [
      'Truncated',
      'the newest is missing, which cannot be detected without an expected last one',
    ]),
    sound('now', { ledger: textOf(one), asOfMs: T + 1 }, [
      'Time',
      'it was issued at the time of verification',
    ]),
    {
      id: 'no-trust',
      comment: 'no trust store is given',
      flags: ['NoTrust'],
      input: { ledger: ALL, asOfMs: AS_OF },
      expected: judged('not_checked', ['trust.STORE_ABSENT']),
    },
  ];
}

function brokenChains(): readonly Case[] {
  return [
    broken('empty', {}, ['EmptySet', 'a ledger without challenges']),
    broken(
      'last-differs',
      { ledger: textOf(one, two), expectLast: three.digest },
      ['Expectation', 'the ledger ends before the expected challenge'],
      'challenge.LAST_MISMATCH',
    ),
    broken(
      'first-removed',
      { ledger: textOf(two, three) },
      ['MissingFile', 'the first challenge was removed'],
      'challenge.PREVIOUS_MISSING',
    ),
    broken(
      'middle-removed',
      { ledger: textOf(one, three) },
      ['MissingFile', 'a challenge in the middle was removed'],
      'challenge.PREVIOUS_MISSING',
    ),
    broken(
      'exchanged',
      { ledger: textOf(one, three, two) },
      ['UnusualOrder', 'two lines were exchanged'],
      'challenge.ORDER_MISMATCH',
    ),
    broken(
      'link-differs',
      { ledger: textOf(one, issue(2, { ...one, digest: sha256Of('another') })) },
      ['Binding', 'the second has the digest of another challenge'],
      'challenge.ORDER_MISMATCH',
    ),
    broken(
      'forked',
      { ledger: textOf(one, two, issue(2, one, { '/predicate/seed': '4' })) },
      ['CherryPicked', 'two challenges follow the same one'],
      'challenge.FORKED',
    ),
    broken(
      'line-twice',
      { ledger: textOf(one, two, two) },
      ['CherryPicked', 'one line is in the ledger twice'],
      'challenge.INVALID',
      'challenge.ORDER_MISMATCH',
    ),
    broken(
      'seed-twice',
      { ledger: textOf(one, two, issue(3, two, { '/predicate/seed': '1' })) },
      ['CherryPicked', 'two challenges have one seed, so one run would answer both'],
      'challenge.INVALID',
    ),
    broken(
      'number-skipped',
      { ledger: textOf(one, issue(3, one)) },
      ['Ordinal', 'the number after 1 is 3'],
      'challenge.ORDER_MISMATCH',
    ),
    broken(
      'time-back',
      { ledger: textOf(one, issue(2, one, { '/predicate/issuedAtMs': T })) },
      ['Time', 'the second was issued before the first'],
      'challenge.ORDER_MISMATCH',
    ),
  ];
}

function brokenLines(): readonly Case[] {
  return [
    broken(
      'purpose',
      { ledger: ALL, trust: trusting({ purposes: ['evidence'] }) },
      ['Purpose', 'the key is trusted for evidence only'],
      'trust.PURPOSE_MISMATCH',
    ),
    broken(
      'unknown-key',
      { ledger: textOf(one, issue(2, one, {}, 'b')) },
      ['WrongKey', 'the second was signed with a key that is not trusted'],
      'trust.KEY_UNKNOWN',
    ),
    broken(
      'statement-changed',
      {
        ledger: textOf(
          seal(one.statement, 'a', {
            '/payload': Buffer.from(
              canonicalJson(patched(one.statement, { '/predicate/drillId': 'checkin' })),
            ).toString('base64'),
          }),
        ),
      },
      ['ModifiedMessage', 'the drill was changed after the signature'],
      'attestation.SIGNATURE_INVALID',
    ),
    broken(
      'future',
      { ledger: textOf(one), asOfMs: T },
      ['Time', 'it was issued after the time of verification'],
      'attestation.ISSUED_IN_FUTURE',
    ),
    broken(
      'not-json',
      { ledger: textOf('challenge', one) },
      ['Grammar', 'a line is not JSON'],
      'json.INVALID',
    ),
    broken('empty-line', { ledger: textOf(one, '', two) }, ['Grammar', 'a line is empty'], 'json.INVALID'),
    broken(
      'not-envelope',
      { ledger: textOf('{}') },
      ['WrongDocument', 'a line is not an envelope'],
      'dsse.INVALID',
    ),
    broken(
      'other-seed',
      { ledger: textOf(issue(1, undefined, { '/subject/0/digest/sha256': '0'.repeat(64) })) },
      ['WrongSubject', 'its subject is not its seed'],
      'challenge.INVALID',
    ),
    broken(
      'ends-first',
      { ledger: textOf(issue(1, undefined, { '/predicate/expiresAtMs': T + 1 })) },
      ['Time', 'it ends when it begins'],
      'challenge.INVALID',
    ),
    broken(
      'unknown-member',
      { ledger: textOf(issue(1, undefined, { '/predicate/note': 'x' })) },
      ['UnknownMember', 'a member that no version has'],
      'challenge.INVALID',
    ),
  ];
}

export const challenges: Kind<Input, Case['expected']> = {
  name: 'challenges',
  about: 'a ledger of challenges, a trust store and a time, and the result',
  clause: 'docs/verify/time.md, Challenges',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...soundLedgers(), ...brokenChains(), ...brokenLines()],
};
