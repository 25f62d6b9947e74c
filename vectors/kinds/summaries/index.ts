import type { Kind } from '../../kind.ts';
import { storeKey, storeText } from '../../make/keys.ts';
import { T } from '../../make/run.ts';
import { envelope, payloadOf } from '../dsse/case.ts';
import {
  BOTH,
  expectedSchema,
  inputSchema,
  invalid,
  MANIFEST,
  OTHER_MANIFEST,
  POLICY,
  RESOURCE,
  sealed,
  SECOND,
  summary,
  trusting,
  untold,
  valid,
  VERIFIER,
  type Case,
  type Input,
} from './case.ts';

const PINNED = {
  verifierId: VERIFIER,
  resourceUri: RESOURCE,
  policyDigest: POLICY,
  inputs: [MANIFEST],
  maxAgeMs: 0,
};
const bothTrusted = storeText(
  storeKey('a', { issuer: VERIFIER, purposes: ['summary'] }),
  storeKey('b', { issuer: VERIFIER, purposes: ['summary'] }),
);

const SUBJECT = { name: 'evexp_000000000001', digest: { sha256: MANIFEST.slice('sha256:'.length) } };

const FIELD = '/subject/0/annotations/urn:drillproof:vsa:parameters';
const PARAMETERS = { [FIELD]: { n: '2', age: '7d' } };

const sound = (): Case[] => [
  valid('usual', {}, ['Usual', 'a pass, signed by a key of its verifier']),
  valid('pinned', PINNED, ['Usual', 'everything about it is expected']),
  valid('both', { envelope: sealed(BOTH), inputs: [OTHER_MANIFEST, MANIFEST] }, [
    'Expectation',
    'two subjects, expected in another order',
  ]),
  valid('subject-twice', { envelope: sealed({ '/subject/-': SUBJECT }), inputs: [MANIFEST] }, [
    'DuplicateId',
    'a subject that appears twice is one',
  ]),
  valid('unknown-fields', { envelope: sealed({ '/predicate/more': 1, '/predicate/verifier/more': {} }) }, [
    'UnknownMember',
    'unknown fields, which are ignored',
  ]),
  valid('other-levels', { envelope: sealed({ '/predicate/verifiedLevels/-': 'SLSA_BUILD_LEVEL_3' }) }, [
    'Usual',
    'a level of another track in addition to ours',
  ]),
  valid('other-digest', { envelope: sealed({ '/subject/0/digest/sha512': 'x' }) }, [
    'Usual',
    'a digest of another algorithm in addition to ours',
  ]),
  valid(
    'nanoseconds',
    { envelope: sealed({ '/predicate/timeVerified': `${new Date(T).toISOString().slice(0, -1)}999999Z` }) },
    ['Time', 'a time finer than a millisecond'],
  ),
  valid('age', { asOfMs: T + 1000, maxAgeMs: 1000 }, ['Time', 'exactly as old as it may be']),
  valid(
    'second-key',
    { envelope: sealed({}, ['a', 'b']) },
    ['Threshold', 'a second signature by a key that is not trusted'],
    ['dsse.SIGNATURE_UNCOUNTED'],
  ),
  valid('two-keys', { envelope: sealed({}, ['a', 'b']), trust: bothTrusted, threshold: 2 }, [
    'Threshold',
    'two different keys, as were asked for',
  ]),
  valid('parameters', { ...PINNED, envelope: sealed(PARAMETERS), parameters: { n: '2', age: '7d' } }, [
    'Expectation',
    'every parameter of the policy is expected',
  ]),
  valid(
    'parameters-open',
    { ...PINNED, envelope: sealed(PARAMETERS), parameters: { n: '2' } },
    ['Expectation', 'the policy is expected, and one of its two parameters'],
    ['vsa.PARAMETERS_OPEN'],
  ),
  valid(
    'parameters-unknown',
    { ...PINNED, envelope: sealed({ [FIELD]: undefined }) },
    ['Expectation', 'the policy is expected, and the summary does not state its parameters'],
    ['vsa.PARAMETERS_OPEN'],
  ),
  untold(),
];

const unexpected = (): Case[] => [
  invalid(
    'failed',
    {
      envelope: sealed({
        '/predicate/verificationResult': 'FAILED',
        '/predicate/verifiedLevels': ['FAILED'],
      }),
    },
    ['vsa.NOT_PASSED'],
    ['SignedNo', 'correctly signed, and its answer is that the evidence did not pass'],
  ),
  invalid(
    'no-level',
    { envelope: sealed({ '/predicate/verifiedLevels': ['SLSA_BUILD_LEVEL_3'] }) },
    ['vsa.LEVEL_MISSING'],
    ['WrongType', 'a pass of another track, which is not about evidence'],
  ),
  invalid(
    'verifier',
    { verifierId: 'https://other.example' },
    ['vsa.VERIFIER_MISMATCH'],
    ['Expectation', 'another verifier'],
  ),
  invalid(
    'resource',
    { resourceUri: 'pkg:oci/other' },
    ['vsa.RESOURCE_MISMATCH'],
    ['Expectation', 'made for another use'],
  ),
  invalid('policy', { policyDigest: MANIFEST }, ['vsa.POLICY_MISMATCH'], ['Expectation', 'another policy']),
  invalid(
    'parameter',
    { envelope: sealed(PARAMETERS), parameters: { n: '1' } },
    ['vsa.PARAMETER_MISMATCH'],
    ['Expectation', 'another value of a parameter'],
  ),
  invalid(
    'parameter-absent',
    { envelope: sealed({ [FIELD]: undefined }), parameters: { n: '2' } },
    ['vsa.PARAMETER_MISMATCH'],
    ['Expectation', 'a parameter is expected, and the summary states none'],
  ),
  invalid(
    'subject',
    { inputs: [OTHER_MANIFEST] },
    ['vsa.INPUT_EXTRA', 'vsa.INPUT_MISSING'],
    ['Expectation', 'another subject'],
  ),
  invalid(
    'missing',
    { inputs: [MANIFEST, OTHER_MANIFEST] },
    ['vsa.INPUT_MISSING'],
    ['Expectation', 'one of two expected subjects is not there'],
  ),
  invalid(
    'extra',
    { envelope: sealed(BOTH), inputs: [MANIFEST] },
    ['vsa.INPUT_EXTRA'],
    ['Expectation', 'a subject too many, which may be why it passed'],
  ),
  invalid(
    'expected-twice',
    { envelope: sealed(BOTH), inputs: [MANIFEST, MANIFEST] },
    ['vsa.INPUT_EXTRA'],
    ['DuplicateId', 'one subject expected twice is not two'],
  ),
  invalid(
    'too-old',
    { asOfMs: T + 1001, maxAgeMs: 1000 },
    ['vsa.TOO_OLD'],
    ['Time', 'a millisecond older than it may be'],
  ),
  invalid(
    'future',
    { asOfMs: T - 1 },
    ['vsa.FROM_FUTURE'],
    ['Time', 'made a millisecond after the time of the counted'],
  ),
];

const untrusted = (): Case[] => [
  invalid(
    'unknown-key',
    { envelope: sealed({}, ['b']) },
    ['trust.KEY_UNKNOWN'],
    ['WrongKey', 'an untrusted key'],
  ),
  invalid(
    'purpose',
    { trust: trusting({ purposes: ['evidence', 'export', 'receipt'] }) },
    ['trust.PURPOSE_MISMATCH'],
    ['Purpose', 'a key that is valid for everything but summaries'],
  ),
  invalid(
    'issuer',
    { trust: trusting({ issuer: 'https://other.example' }) },
    ['trust.KEY_UNKNOWN'],
    ['KeyName', 'a key that is trusted for another verifier'],
  ),
  invalid(
    'revoked',
    { trust: trusting({ revokedAtMs: T + 1 }) },
    ['trust.KEY_REVOKED'],
    ['Revocation', 'a key that was compromised'],
  ),
  invalid(
    'project',
    { trust: trusting({ projects: ['prj_000000000001'] }) },
    ['trust.PROJECT_MISMATCH'],
    ['Scope', 'a key for one project, which a summary does not name'],
  ),
  invalid(
    'signature',
    {
      envelope: envelope(payloadOf(summary()), ['a'], {
        '/signatures/0/sig': (
          JSON.parse(sealed({ '/predicate/resourceUri': 'pkg:oci/other' })) as {
            signatures: [{ sig: string }];
          }
        ).signatures[0].sig,
      }),
    },
    ['attestation.SIGNATURE_INVALID'],
    ['ModifiedMessage', 'the signature of another summary'],
  ),
  invalid(
    'one-key-twice',
    { envelope: sealed({}, ['a', 'a']), threshold: 2 },
    ['dsse.THRESHOLD_MISSED'],
    ['Threshold', 'two signatures of one key are one'],
  ),
];

const malformed = (): Case[] => [
  invalid(
    'payload-type',
    { envelope: envelope(payloadOf(summary()), ['a'], { '/payloadType': 'application/json' }) },
    ['dsse.PAYLOAD_TYPE_UNSUPPORTED'],
    ['WrongType', 'another type of payload'],
  ),
  invalid(
    'predicate-type',
    { envelope: sealed({ '/predicateType': 'https://slsa.dev/provenance/v1' }) },
    ['attestation.PREDICATE_UNSUPPORTED'],
    ['WrongType', 'another type of predicate'],
  ),
  invalid(
    'statement-type',
    { envelope: sealed({ '/_type': 'https://in-toto.io/Statement/v0.1' }) },
    ['vsa.INVALID'],
    ['WrongType', 'another version of the statement'],
  ),
  invalid(
    'no-subject',
    { envelope: sealed({ '/subject': [] }) },
    ['vsa.INVALID'],
    ['EmptySet', 'it is about nothing'],
  ),
  invalid(
    'other-input',
    { envelope: sealed({ '/predicate/inputAttestations/-': { uri: 'urn:b', ...SECOND } }) },
    ['vsa.INVALID'],
    ['Binding', 'an input that is no subject'],
  ),
  valid('artifact', { envelope: sealed({ '/subject/-': SECOND }) }, [
    'Binding',
    'a subject that is no input is an artifact that may be deployed',
  ]),
  invalid(
    'no-inputs',
    { envelope: sealed({ '/predicate/inputAttestations': undefined }) },
    ['vsa.INVALID'],
    ['MissingMember', 'it does not name what was verified'],
  ),
  invalid(
    'no-policy-digest',
    { envelope: sealed({ '/predicate/policy/digest': undefined }) },
    ['vsa.INVALID'],
    ['MissingMember', 'it does not name the policy'],
  ),
  invalid(
    'parameter-number',
    { envelope: sealed({ [FIELD]: { n: 2 } }) },
    ['vsa.INVALID'],
    ['WrongType', 'the value of a parameter is a number and not text'],
  ),
  invalid(
    'no-verifier',
    { envelope: sealed({ '/predicate/verifier': undefined }) },
    ['vsa.INVALID'],
    ['MissingMember', 'it does not name the verifier'],
  ),
  invalid(
    'passed-failed',
    { envelope: sealed({ '/predicate/verifiedLevels/-': 'FAILED' }) },
    ['vsa.INVALID'],
    ['Binding', 'a pass of level FAILED'],
  ),
  invalid(
    'no-day',
    { envelope: sealed({ '/predicate/timeVerified': '2026-02-30T00:00:00Z' }) },
    ['vsa.INVALID'],
    ['Time', 'a day that there is not'],
  ),
  invalid(
    'local-time',
    { envelope: sealed({ '/predicate/timeVerified': '2026-01-01T00:00:00' }) },
    ['vsa.INVALID'],
    ['Time', 'a time without its zone'],
  ),
];

export const summaries: Kind<Input, Case['expected']> = {
  name: 'summaries',
  about: 'a verification summary in a DSSE envelope, a trust store and what is expected, and the result',
  clause: 'SLSA VSA v1.1; formats §2 DSSE, §3; docs/gate/vsa.md',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...sound(), ...unexpected(), ...untrusted(), ...malformed()],
};
