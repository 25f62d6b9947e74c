import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { compareUtf8 } from '../../bytes/text/encoding.ts';
import type { Digest } from '../../bytes/hash.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import { optionalMember, textSchema } from '../../contract/scalars.ts';
import { DrillproofError } from '../../errors.ts';
import { requireInToto } from '../../evidence/in-toto.ts';
import { typeDocument } from '../../evidence/document.ts';
import type { DsseEnvelope } from '../../trust/dsse.ts';
import { parameterTextsSchema } from '../document/parameters.ts';
import { type RunCount, runCountSchema } from '../facts.ts';
import {
  ABSOLUTE_URI,
  ENVELOPE_URI,
  PARAMETERS_FIELD,
  RUNS_FIELD,
  TRUST_STORE_FIELD,
  VSA_PREDICATE_TYPE,
} from './vsa.ts';
import type { AttestationReport, Finding, TrustUsed } from '../../verify/report.ts';

/** The content of a verification summary, whoever signed it. */
export interface Summary {
  /** The verifier that made it. */
  readonly verifierId: string;
  /** When it was made, in whole ms since 1970; fractions are discarded. */
  readonly timeVerifiedMs: number;
  /** What was verified, as the verifier names it. */
  readonly resourceUri: string;
  /** The digest of the policy. */
  readonly policyDigest: Digest;
  /** The values of the parameters of the policy; absent if they are not stated. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Digests of manifests, each once, sorted. */
  readonly inputs: readonly Digest[];
  /** Digests of the artifacts of which it states that they may be deployed: every other subject. */
  readonly artifacts?: readonly Digest[];
  /** The attested runs by project, drill and target; absent if they are not stated. */
  readonly runs?: readonly RunCount[];
  /** Digests of DSSE envelopes that were given with the evidence. */
  readonly envelopes?: readonly Digest[];
  /** The answer of the verifier. */
  readonly result: 'PASSED' | 'FAILED';
  /** The levels that the evidence has, as SLSA names them. */
  readonly levels: readonly string[];
  /** The fingerprint of the trust store of the verifier. */
  readonly trustStore?: Digest;
}

/** The report of `verifySummary` (docs/gate/vsa.md). */
export interface SummaryReport {
  /** Always 1; a later form of the report has another number. */
  readonly schemaVersion: 1;
  /** Always `summary`. */
  readonly kind: 'summary';
  /** `valid`: a trusted key of purpose `summary` signed it, it passed, and everything expected holds. `not_checked`: no keys were given. */
  readonly verdict: AttestationReport['verdict'];
  /** The time of the verification, as the caller gave it, in ms since 1970. */
  readonly asOfMs: number;
  /** Absent if none was given. */
  readonly trust?: TrustUsed;
  /** Absent if it cannot be read. Without `keys`, no trusted key signed it. */
  readonly summary?: Summary;
  /** Thumbprints of the trusted keys that signed it. */
  readonly keys: readonly Digest[];
  /** Every problem and remark, in order. */
  readonly findings: readonly Finding[];
}

const MAX_SUBJECTS = 10_000;

const uri = textSchema(1, 2048).check(
  z.refine((value) => ABSOLUTE_URI.test(value), 'must be a URI with a scheme'),
);
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/, 'must be 64 characters of 0-9 a-f'));
// Unknown fields are ignored, as the specification requires: digests of other algorithms, for example.
const digestSet = z.pipe(
  z.object({ sha256 }),
  z.transform(({ sha256: hex }): Digest => `sha256:${hex}`),
);
const input = z.object({ uri: optionalMember(z.string()), digest: digestSet });
const isEnvelope = ({ uri: name = '' }: z.infer<typeof input>): boolean => name.startsWith(ENVELOPE_URI);

// in-toto, Timestamp: RFC 3339 in UTC.
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;
const timestamp = z.pipe(
  z.string(),
  z.transform((value, context) => {
    const ms = TIMESTAMP.test(value) ? new Date(value).getTime() : Number.NaN;
    // The Date constructor reads 30 February as 2 March.
    if (!Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === value.slice(0, 19)) return ms;
    context.issues.push({
      code: 'custom',
      input: value,
      message: 'must be a time of RFC 3339 in UTC, such as 2026-11-21T12:00:00Z',
    });
    return z.NEVER;
  }),
);

const headSchema = z.object({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  predicateType: z.string(),
});

const predicateSchema = z
  .object({
    verifier: z.object({ id: uri }),
    timeVerified: timestamp,
    resourceUri: uri,
    policy: z.object({ uri: z.string(), digest: digestSet }),
    inputAttestations: z.array(input).check(z.minLength(1), z.maxLength(2 * MAX_SUBJECTS)),
    verificationResult: z.enum(['PASSED', 'FAILED']),
    verifiedLevels: z.array(textSchema(1, 256)).check(z.minLength(1), z.maxLength(64)),
  })
  .check(
    z.refine(
      ({ verificationResult, verifiedLevels }) =>
        (verificationResult === 'FAILED') === verifiedLevels.includes('FAILED'),
      {
        path: ['verifiedLevels'],
        message: 'the levels contradict the result',
      },
    ),
  );

const subjectSchema = z.object({
  digest: digestSet,
  annotations: optionalMember(
    z.object({
      [PARAMETERS_FIELD]: optionalMember(parameterTextsSchema),
      [RUNS_FIELD]: optionalMember(z.readonly(z.array(runCountSchema).check(z.maxLength(MAX_SUBJECTS)))),
      [TRUST_STORE_FIELD]: optionalMember(digestSet),
    }),
  ),
});

const statementSchema = z
  .object({
    subject: z
      .tuple([subjectSchema], subjectSchema)
      .check(z.refine((list) => list.length <= MAX_SUBJECTS, 'too many subjects')),
    predicate: predicateSchema,
  })
  .check(
    z.refine(
      ({ subject, predicate }) => {
        const subjects = new Set(subject.map(({ digest }) => digest));
        return listManifests(predicate).every((manifest) => subjects.has(manifest));
      },
      { path: ['subject'], message: 'the subjects do not have every input' },
    ),
  );

const listManifests = ({ inputAttestations }: z.infer<typeof predicateSchema>): readonly Digest[] =>
  inputAttestations.filter((entry) => !isEnvelope(entry)).map(({ digest }) => digest);

/**
 * The verification summary in an envelope; no signature is verified. Only its own predicate type is read, so that no other
 * attestation is taken for a summary, and its subjects must have the inputs that it lists.
 * @throws DrillproofError `dsse.PAYLOAD_TYPE_UNSUPPORTED`, `attestation.PREDICATE_UNSUPPORTED`, `vsa.INVALID` with every
 *   broken rule in `details.issues`, and what `parseJson` throws
 */
export function readSummary(envelope: Pick<DsseEnvelope, 'payloadType' | 'payload'>): Summary {
  requireInToto(envelope);
  const value = parseJson(envelope.payload);
  const { predicateType } = typeDocument(value, { schema: headSchema, code: 'vsa.INVALID' });
  if (predicateType !== VSA_PREDICATE_TYPE) {
    const message = `the predicate is of type ${JSON.stringify(predicateType)}, not ${VSA_PREDICATE_TYPE}`;
    throw new DrillproofError('attestation.PREDICATE_UNSUPPORTED', message, { path: '/predicateType' });
  }
  const { subject, predicate } = typeDocument(value, { schema: statementSchema, code: 'vsa.INVALID' });
  const inputs = sortDigests(listManifests(predicate));
  const artifacts = sortDigests(subject.map(({ digest }) => digest)).filter(
    (digest) => !inputs.includes(digest),
  );
  const { annotations = {} } = subject[0];
  const envelopes = predicate.inputAttestations.filter(isEnvelope).map(({ digest }) => digest);
  return {
    verifierId: predicate.verifier.id,
    timeVerifiedMs: predicate.timeVerified,
    resourceUri: predicate.resourceUri,
    policyDigest: predicate.policy.digest,
    ...defined({ parameters: annotations[PARAMETERS_FIELD], runs: annotations[RUNS_FIELD] }),
    inputs,
    ...(artifacts.length > 0 && { artifacts }),
    ...(envelopes.length > 0 && { envelopes: sortDigests(envelopes) }),
    result: predicate.verificationResult,
    levels: predicate.verifiedLevels,
    ...defined({ trustStore: annotations[TRUST_STORE_FIELD] }),
  };
}

const sortDigests = (digests: readonly Digest[]): readonly Digest[] =>
  [...new Set(digests)].toSorted(compareUtf8);
