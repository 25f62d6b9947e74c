import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import type { Digest } from '../../src/bytes/hash.ts';
import type { Decision, EvaluatedInput } from '../../src/policy/decision.ts';
import { summarize, type SummaryStatement } from '../../src/policy/vsa/vsa.ts';
import { encodeDsse, signDsse } from '../../src/trust/dsse.ts';
import type { Signer } from '../../src/trust/key/signer.ts';
import type { TrustStore } from '../../src/trust/store.ts';
import { makeTrust } from '../support/evidence.ts';

export const AS_OF_MS = Date.UTC(2026, 10, 21, 12);
export const VERIFIER = 'https://ci.example/gate';
export const hexOf = (pair: string): string => pair.repeat(32);
export const digestOfPair = (pair: string): Digest => `sha256:${hexOf(pair)}`;
export const MANIFEST_A = digestOfPair('aa');
export const MANIFEST_B = digestOfPair('bb');
export const POLICY = digestOfPair('cc');
export const STORE = digestOfPair('dd');

export const exportInput = (over: Partial<EvaluatedInput> = {}): EvaluatedInput => ({
  name: './mirror',
  kind: 'export',
  id: 'evexp_000000000001',
  manifestDigest: MANIFEST_A,
  verdict: 'verified',
  completeness: 'pinned',
  bundles: 2,
  localReports: 0,
  ...over,
});

/** The decision of a gate about one export. */
export const decided = (over: Partial<Decision> = {}): Decision => ({
  schemaVersion: 1,
  kind: 'decision',
  answer: 'yes',
  asOfMs: AS_OF_MS,
  policy: { name: 'release', digest: POLICY, sources: [] },
  trust: { fingerprint: STORE, keys: 1 },
  inputs: [exportInput()],
  rules: [],
  waivers: [],
  runs: [],
  ...over,
});

export const summaryOf = (over: Partial<Decision> = {}): SummaryStatement =>
  summarize(decided(over), { verifierId: VERIFIER, version: '1.2.3' })!;

/** A store that trusts a key for summaries of the verifier. */
export const trusting = (signer: Signer): TrustStore =>
  makeTrust(signer, { issuer: VERIFIER, purposes: ['summary'] });

export const IN_TOTO = 'application/vnd.in-toto+json';

/** A statement in an envelope with valid signatures. */
export async function enveloped(
  statement: object,
  signers: readonly [Signer, ...Signer[]],
  payloadType = IN_TOTO,
): Promise<Uint8Array> {
  return encodeDsse(await signDsse({ payloadType, payload: canonicalBytes(statement) }, signers));
}
