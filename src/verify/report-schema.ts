import * as z from 'zod/mini';
import { CODE_CLASSES, SEVERITIES } from '../codes/entry.ts';
import { isCode } from '../codes/facts.ts';
import {
  optionalMember,
  atMsSchema as atMs,
  type CodeSchema,
  countSchema as count,
  describing,
  typedDigestSchema as digest,
  narrowText,
} from '../contract/scalars.ts';
import { reproductionSchema } from '../contract/resources/attestation.ts';
import { type CheckId, isCheckId } from './checks.ts';
import {
  type AttestationReport,
  type BundleReport,
  type Check,
  CHECK_STATES,
  COMPLETENESS,
  DEPTHS,
  type ExportClaim,
  type ExportReport,
  type Finding,
  type LocalReportReport,
  type Outcome,
  type SignedBy,
  type SigningKey,
  type Stamp,
  type Timestamp,
  type ToolSourceReport,
  VERDICTS,
} from './report.ts';

// Codes and checks are patterns in the JSON Schemas, because a later release has more of them.
interface CheckIdSchema extends z.ZodMiniType<CheckId, string> {}

export const codeSchema: CodeSchema = narrowText(
  z.string().check(z.regex(/^[a-z][a-z0-9-]*\.[A-Z][A-Z0-9_]*$/)),
  isCode,
).check(z.describe('a row of docs/codes.md'));
export const codeClassSchema = z.enum(CODE_CLASSES);
export const severitySchema = z.enum(SEVERITIES);

export const checkIdSchema: CheckIdSchema = narrowText(
  z.string().check(z.regex(/^[a-z-]+\.[a-z-]+$/)),
  isCheckId,
).check(z.describe('a check of docs/codes.md'));

const checkSchema = describing<Check>()(
  z.strictObject({
    id: checkIdSchema,
    state: z.enum(CHECK_STATES),
    reason: optionalMember(z.string()),
  }),
);

export const findingSchema = describing<Finding>()(
  z.strictObject({
    code: codeSchema,
    class: codeClassSchema,
    severity: severitySchema,
    subject: z.string().check(z.describe('export, or the id of a bundle or local report')),
    path: optionalMember(z.string(), 'an entry, a file or a JSON pointer'),
    message: z.string(),
    expected: optionalMember(z.string()),
    actual: optionalMember(z.string()),
    more: optionalMember(count, 'further findings with this code and subject, which are not listed'),
  }),
);

const ledger = { checks: z.readonly(z.array(checkSchema)), findings: z.readonly(z.array(findingSchema)) };

const trust = z
  .strictObject({ fingerprint: digest, keys: count })
  .check(z.describe('the trust store that was used'));

const signedBy = { issuer: z.string(), keyId: z.string(), issuedAtMs: atMs };
const signer = describing<SignedBy>()(z.strictObject(signedBy));

const stamp = describing<Stamp>()(z.strictObject({ atMs, authority: z.string() }));

const signingKey = describing<SigningKey>()(
  z.strictObject({
    ...signedBy,
    thumbprint: digest.check(z.describe('SHA-256 of the key: two names of one key have one')),
    validThroughMs: optionalMember(z.union([atMs, z.null()])),
    in: z.enum(['attestation', 'dsse']),
    stamp: optionalMember(stamp, 'the earliest trusted timestamp of the signed statement'),
  }),
);

const timestamps = z.readonly(
  z.array(
    describing<Timestamp>()(
      z.strictObject({
        name: z.string().check(z.describe('the file of the token')),
        digest,
        imprint: optionalMember(digest, 'SHA-256 of the bytes that it is about'),
        atMs: optionalMember(atMs, 'the bytes existed no later'),
        authority: optionalMember(z.string(), 'its name in the trust store; only a token with one counts'),
      }),
    ),
  ),
);

const signing = {
  signer: optionalMember(signer),
  signers: optionalMember(z.readonly(z.array(signingKey))),
  timestamps: optionalMember(timestamps, 'tokens that were given with it'),
};

const coverage = z
  .strictObject({
    totalBytes: count,
    coveredBytes: count,
    attestedBytes: count,
    uncovered: z.readonly(z.array(z.string())),
    mirrorFiles: z.readonly(z.array(z.string())),
  })
  .check(z.describe('how many bytes a digest or a signature covers'));
const claim = describing<ExportClaim>()(z.strictObject({ name: z.string(), value: z.string() }));

const outcome = describing<Outcome>()(
  z.strictObject({
    drillId: z.string(),
    targetId: z.string(),
    status: z.string(),
    verdict: z.string(),
    worldConsistency: optionalMember(z.string()),
    bindingEvidence: optionalMember(z.string(), 'complete only if that of every interaction is'),
    budget: optionalMember(z.enum(['kept', 'exceeded']), 'of tool calls and scheduled events'),
    assertions: optionalMember(
      z.readonly(z.array(z.strictObject({ id: z.string(), gate: z.boolean(), status: z.string() }))),
      'of the run, then of its checkpoints; absent if there are more than 1,000',
    ),
    checkpoints: optionalMember(
      z.readonly(z.array(z.strictObject({ id: z.string(), kind: z.string(), verdict: z.string() }))),
      'absent if there are more than 1,000',
    ),
    worldInstanceId: optionalMember(z.string(), 'the world in which it ran'),
    environment: optionalMember(
      z.record(z.string(), z.string()),
      'texts, numbers and booleans of the environment of the setup; absent if there are more than 64',
    ),
    virtualUs: optionalMember(z.int(), 'virtual microseconds from the start of the run to its end'),
  }),
);

export const runSchema = z
  .strictObject({
    tool: z.strictObject({
      name: z.string(),
      version: z.string(),
      page: optionalMember(z.string(), 'SHA-256 of the page, with zeros where it states this digest'),
    }),
    path: optionalMember(z.string(), 'the evidence, as the caller named it'),
    options: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.readonly(z.array(z.string()))]))
      .check(z.describe('the options that decide the result')),
    exitCode: z.literal([0, 1, 2, 3, 130]),
    unmet: z
      .readonly(z.array(z.strictObject({ requirement: z.string(), message: z.string() })))
      .check(z.describe('what the caller required and the evidence does not meet')),
  })
  .check(z.describe('the run of the command that wrote the report'));

export const attestationReportSchema = describing<AttestationReport>()(
  z.strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('attestation'),
    verdict: z.enum(['valid', 'not_checked', 'invalid']),
    asOfMs: atMs,
    trust: optionalMember(trust),
    ...signing,
    ...ledger,
  }),
);

const verdict = z.enum(VERDICTS).check(z.describe('formats §4'));

export const bundleReportSchema = describing<BundleReport>()(
  z.strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('bundle'),
    verdict,
    depth: z.enum(DEPTHS),
    asOfMs: atMs,
    trust: optionalMember(trust),
    evidenceBundleId: optionalMember(z.string()),
    organizationId: optionalMember(z.string()),
    projectId: optionalMember(z.string()),
    runId: optionalMember(z.string()),
    hostedRunId: optionalMember(z.string()),
    rerunOfHostedRunId: optionalMember(z.string()),
    path: optionalMember(z.string()),
    archive: optionalMember(z.strictObject({ digest, bytes: count })),
    manifestDigest: optionalMember(digest),
    objectCount: optionalMember(count),
    createdAtMs: optionalMember(atMs),
    evidenceBytes: optionalMember(count),
    signed: optionalMember(z.boolean()),
    provenance: z.enum(['attested', 'claimed', 'user_produced']),
    ...signing,
    reproduction: optionalMember(reproductionSchema, 'what the statement pins; attested when provenance is'),
    outcome: optionalMember(outcome, 'facts that the run result states; verification does not check them'),
    ...ledger,
    coverage,
    run: optionalMember(runSchema),
  }),
);

const localReportReportSchema = describing<LocalReportReport>()(
  z.strictObject({
    kind: z.literal('local-report'),
    verdict: z.enum(['intact', 'incomplete', 'failed']),
    localReportId: z.string(),
    projectId: z.string(),
    path: z.string(),
    provenance: z.literal('user_produced'),
    trust: z.literal('unattested'),
    ...ledger,
  }),
);

export const exportReportSchema = describing<ExportReport>()(
  z.strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('export'),
    verdict,
    completeness: z.enum(COMPLETENESS),
    depth: z.enum(DEPTHS),
    asOfMs: atMs,
    evidenceExportId: optionalMember(z.string()),
    organizationId: optionalMember(z.string()),
    window: optionalMember(z.strictObject({ fromAtMs: atMs, throughAtMs: atMs })),
    manifestDigest: optionalMember(digest),
    trust: optionalMember(trust),
    ...signing,
    ...ledger,
    parts: z.readonly(z.array(bundleReportSchema)),
    localReports: z.readonly(z.array(localReportReportSchema)),
    coverage,
    claims: optionalMember(
      z.readonly(z.array(claim)),
      'members of export.json that nothing signs, outside coverage',
    ),
    run: optionalMember(runSchema),
  }),
);

export const toolSourceReportSchema = describing<ToolSourceReport>()(
  z.strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('tool-source'),
    verdict,
    packageId: optionalMember(z.string()),
    buildHash: optionalMember(z.string()),
    artifactHash: optionalMember(z.string()),
    ...ledger,
  }),
);
