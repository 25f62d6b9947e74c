import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { checkArguments, listOf, OBJECT, optional, TEXT, TIME, withMembers } from '../../bytes/arguments.ts';
import { compareUtf8 } from '../../bytes/text/encoding.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import { IN_TOTO_PAYLOAD_TYPE } from '../../evidence/in-toto.ts';
import { type DsseEnvelope, signDsse } from '../../trust/dsse.ts';
import { SIGNER, type Signer } from '../../trust/key/signer.ts';
import type { Decision, EvaluatedInput } from '../decision.ts';

/** The predicate type of verification summaries, of every minor version of 1 (SLSA VSA v1.1). */
export const VSA_PREDICATE_TYPE = 'https://slsa.dev/verification_summary/v1';

/** The level of a pass. Levels of other producers do not begin with `SLSA_` (SLSA VSA v1.1, SlsaResult). */
export const VERIFIED_LEVEL = 'DRILLPROOF_EVIDENCE_VERIFIED';

/** The digest of the trust store. What the predicate has no member for is an annotation of the first subject (in-toto v1, ResourceDescriptor). */
export const TRUST_STORE_FIELD = 'urn:drillproof:vsa:trust-store';

/** The values of the parameters of the policy, which its digest does not cover. */
export const PARAMETERS_FIELD = 'urn:drillproof:vsa:parameters';

/** The runs, with which a later gate can compare its own. */
export const RUNS_FIELD = 'urn:drillproof:vsa:runs';

/** The beginning of the URIs that name envelopes among the inputs. */
export const ENVELOPE_URI = 'urn:drillproof:dsse:';

export type SummarizeOptions = {
  /** URI of the verifier, under which its key is trusted as the issuer. */
  readonly verifierId: string;
  /** Version of this program. */
  readonly version: string;
  /** URI of what the summary may be used for. Default: one that is derived from the digests of the inputs. */
  readonly resourceUri?: string;
};

/** A URI with a scheme (RFC 3986 §3), as `verifier.id` and `resourceUri` have to be. */
export const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:[!#$&-;=?-Z[\]_a-z~%]+$/;

const DECISION = withMembers('a Decision', {
  answer: TEXT,
  policy: withMembers('a policy', { name: TEXT, digest: TEXT }),
  inputs: listOf(withMembers('an input', { kind: TEXT, id: optional(TEXT), manifestDigest: optional(TEXT) })),
  asOfMs: TIME,
});
const SUMMARIZE_OPTIONS = withMembers('options', {
  verifierId: TEXT,
  version: TEXT,
  resourceUri: optional(TEXT),
});
const SIGNERS = {
  ...listOf(SIGNER),
  what: 'an array of at least one Signer',
  accepts: (value: unknown) => Array.isArray(value) && value.length > 0,
};

/**
 * The decision as a verification summary (SLSA VSA v1.1; docs/gate/vsa.md): every input by the digest of its manifest, the
 * artifact, the policy and its parameters, the trust store, and the time of the evaluation. The same decision gives the same statement.
 * @returns `undefined` for a decision of `could_not_tell`, for which neither PASSED nor FAILED would be true
 * @throws DrillproofError `vsa.SUBJECT_MISSING` for an input without a manifest
 * @throws TypeError for a verifier or resource that is not a URI, and for a time outside the years 0 to 9999
 * @example
 * const statement = summarize(decision, { verifierId: 'https://ci.example', version: '1.0.0' });
 */
export function summarize(decision: Decision, options: SummarizeOptions): SummaryStatement | undefined {
  checkArguments({ decision: DECISION, options: SUMMARIZE_OPTIONS }, { decision, options });
  const { verifierId, resourceUri } = options;
  for (const uri of [verifierId, resourceUri ?? verifierId])
    if (!ABSOLUTE_URI.test(uri)) throw new TypeError(`${JSON.stringify(uri)} is not a URI with a scheme`);
  return decision.answer === 'could_not_tell' ? undefined : buildStatement(decision, options);
}

/** An in-toto Statement v1 with a verification summary. */
export type SummaryStatement = ReturnType<typeof buildStatement>;

function buildStatement(decision: Decision, { verifierId, version, resourceUri }: SummarizeOptions) {
  const { answer, policy, trust, asOfMs, artifact, runs } = decision;
  const subjects = subjectsOf(decision.inputs);
  const passed = answer === 'yes';
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...(artifact === undefined ? [] : [artifact]), ...subjects].map(({ name, digest }, at) => ({
      name: name.toWellFormed(),
      digest: digestSet(digest),
      ...(at === 0 && {
        annotations: {
          [PARAMETERS_FIELD]: policy.parameters ?? {},
          [RUNS_FIELD]: runs,
          ...(trust !== undefined && { [TRUST_STORE_FIELD]: digestSet(trust.fingerprint) }),
        },
      }),
    })),
    predicateType: VSA_PREDICATE_TYPE,
    predicate: {
      verifier: { id: verifierId, version: { drillproof: version } },
      timeVerified: formatTimestamp(asOfMs),
      resourceUri: resourceUri ?? resourceOf(subjects.map(({ digest }) => digest)),
      policy: {
        uri: `urn:drillproof:policy:${encodeURIComponent(policy.name.toWellFormed())}`,
        digest: digestSet(policy.digest),
      },
      inputAttestations: [
        ...subjects.map(({ kind, name, digest }) => ({
          uri: `urn:drillproof:${kind}:${encodeURIComponent(name)}`,
          digest: digestSet(digest),
        })),
        ...listEnvelopes(decision.inputs).map((digest) => ({
          uri: `${ENVELOPE_URI}${digest}`,
          digest: digestSet(digest),
        })),
      ],
      verificationResult: passed ? ('PASSED' as const) : ('FAILED' as const),
      verifiedLevels: [passed ? VERIFIED_LEVEL : 'FAILED'],
      slsaVersion: '1.1',
    },
  } as const;
}

/** RFC 3339 in UTC (in-toto, Timestamp). */
function formatTimestamp(ms: number): string {
  const year = new Date(ms).getUTCFullYear();
  if (year >= 0 && year <= 9999) return new Date(ms).toISOString();
  throw new TypeError('the time of the decision is outside the years 0 to 9999');
}

type Subject = { readonly kind: EvaluatedInput['kind']; readonly name: string; readonly digest: Digest };

/** Each manifest once, in the order of digests, so that the order in which inputs were named does not matter. */
function subjectsOf(inputs: readonly EvaluatedInput[]): readonly Subject[] {
  const subjects = new Map<Digest, Subject>();
  for (const { kind, name, id, manifestDigest } of inputs) {
    if (manifestDigest === undefined)
      throw new DrillproofError('vsa.SUBJECT_MISSING', `${name} has no manifest that could be read`, {
        path: name,
      });
    subjects.set(manifestDigest, {
      kind,
      name: (id ?? 'manifest.json').toWellFormed(),
      digest: manifestDigest,
    });
  }
  if (subjects.size === 0) throw new DrillproofError('vsa.SUBJECT_MISSING', 'there is no input');
  return [...subjects.values()].toSorted((a, b) => compareUtf8(a.digest, b.digest));
}

const listEnvelopes = (inputs: readonly EvaluatedInput[]): readonly Digest[] =>
  [...new Set(inputs.flatMap(({ envelopes = [] }) => envelopes))].toSorted(compareUtf8);

const digestSet = (digest: Digest): { readonly sha256: string } => ({
  sha256: digest.slice('sha256:'.length),
});

/** The resource of a summary without one: exactly these manifests. */
export const resourceOf = (digests: readonly Digest[]): string =>
  `urn:drillproof:evidence:${digestOf(canonicalBytes([...new Set(digests)].toSorted(compareUtf8)))}`;

/**
 * Signs a verification summary in a DSSE envelope; the payload is canonical JSON (RFC 8785; docs/gate/vsa.md).
 * @throws DrillproofError `trust.SIGNER_FAULT`, and what the signers throw
 * @example
 * const statement = summarize(decision, { verifierId: 'https://ci.example', version: '1.0.0' });
 * if (statement !== undefined) await writeFile('vsa.json', canonicalBytes(await signSummary(statement, [signer])));
 */
export async function signSummary(
  statement: SummaryStatement,
  signers: readonly [Signer, ...Signer[]],
): Promise<DsseEnvelope> {
  checkArguments({ statement: OBJECT, signers: SIGNERS }, { statement, signers });
  return signDsse({ payloadType: IN_TOTO_PAYLOAD_TYPE, payload: canonicalBytes(statement) }, signers);
}
