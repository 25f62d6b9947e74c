import * as z from 'zod/mini';
import type { JsonObject } from '../../../src/bytes/json/parse.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import { digestTextSchema, judged, judgementSchema, type VectorCase } from '../../kind.ts';
import { sha256Of } from '../../make/bytes.ts';
import { storeKey, storeText } from '../../make/keys.ts';
import { patched, type Patch } from '../../make/patch.ts';
import { T } from '../../make/run.ts';
import { envelope, payloadOf } from '../dsse/case.ts';

export const inputSchema = z.strictObject({
  envelope: z.string().check(z.describe('the envelope as text; its bytes are the UTF-8 of it')),
  trust: z.optional(z.string()).check(z.describe('the trust store as JSON text; absent when none is given')),
  asOfMs: z.int(),
  threshold: z.optional(z.int()).check(z.describe('how many different keys must have signed; default 1')),
  verifierId: z.optional(z.string()).check(z.describe('the verifier that is expected')),
  resourceUri: z.optional(z.string()).check(z.describe('the resource that is expected')),
  policyDigest: z.optional(digestTextSchema).check(z.describe('the digest of the policy that is expected')),
  parameters: z
    .optional(z.record(z.string(), z.string()))
    .check(z.describe('values of parameters of the policy that are expected')),
  inputs: z
    .optional(z.array(digestTextSchema))
    .check(z.describe('the digests of the manifests that it must be about, all of them')),
  maxAgeMs: z.optional(z.int()).check(z.describe('how old it may be')),
});
const RESULTS = ['valid', 'not_checked', 'invalid'] as const;
export const expectedSchema = judgementSchema(RESULTS);

export type Input = z.infer<typeof inputSchema>;
export type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

export const VERIFIER = 'https://ci.example/gate';
export const RESOURCE = 'pkg:oci/mailer';
const hex = (text: string): string => sha256Of(text).slice('sha256:'.length);
export const MANIFEST = sha256Of('manifest one');
export const OTHER_MANIFEST = sha256Of('manifest two');
export const POLICY = sha256Of('policy');
export const SECOND = { name: 'evexp_000000000002', digest: { sha256: hex('manifest two') } };

/** A summary of one export, made at T. */
export const summary = (patch: Patch = {}): JsonObject =>
  patched(
    {
      _type: 'https://in-toto.io/Statement/v1',
      subject: [
        {
          name: 'evexp_000000000001',
          digest: { sha256: hex('manifest one') },
          annotations: {
            'urn:drillproof:vsa:parameters': {},
            'urn:drillproof:vsa:trust-store': { sha256: hex('trust store') },
          },
        },
      ],
      predicateType: 'https://slsa.dev/verification_summary/v1',
      predicate: {
        verifier: { id: VERIFIER, version: { drillproof: '1.0.0' } },
        timeVerified: new Date(T).toISOString(),
        resourceUri: RESOURCE,
        policy: { uri: 'urn:drillproof:policy:release', digest: { sha256: hex('policy') } },
        inputAttestations: [
          { uri: 'urn:drillproof:export:evexp_000000000001', digest: { sha256: hex('manifest one') } },
        ],
        verificationResult: 'PASSED',
        verifiedLevels: ['DRILLPROOF_EVIDENCE_VERIFIED'],
        slsaVersion: '1.1',
      },
    },
    patch,
  );

/** Both exports as subjects and inputs. */
export const BOTH: Patch = {
  '/subject/-': SECOND,
  '/predicate/inputAttestations/-': { uri: 'urn:b', ...SECOND },
};

/** An envelope of the summary with these changes, rightly signed. */
export const sealed = (patch: Patch = {}, signers: readonly string[] = ['a']): string =>
  envelope(payloadOf(summary(patch)), signers);

/** The store that trusts key a for summaries of the verifier. */
export const trusting = (changes: Readonly<Record<string, unknown>> = {}): string =>
  storeText(storeKey('a', { issuer: VERIFIER, purposes: ['summary'], ...changes }));

type Words = readonly [flag: Flag, comment: string];

const judge = (
  result: (typeof RESULTS)[number],
  id: string,
  input: Partial<Input>,
  codes: readonly Code[],
  [flag, comment]: Words,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { envelope: sealed(), trust: trusting(), asOfMs: T, ...input },
  expected: judged(result, codes),
});

export const valid = (id: string, input: Partial<Input>, words: Words, codes: readonly Code[] = []): Case =>
  judge('valid', id, input, codes, words);
export const invalid = (id: string, input: Partial<Input>, codes: readonly Code[], words: Words): Case =>
  judge('invalid', id, input, codes, words);

/** What no key is trusted for. */
export function untold(): Case {
  const { trust: _, ...input } = judge('not_checked', 'no-trust', {}, [], ['NoTrust', 'x']).input;
  return {
    id: 'no-trust',
    comment: 'no trust store is given',
    flags: ['NoTrust'],
    input,
    expected: judged('not_checked', ['trust.STORE_ABSENT']),
  };
}
