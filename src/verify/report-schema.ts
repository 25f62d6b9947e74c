import * as z from 'zod';
import type { Digest } from '../bytes/index.ts';
import { isCode } from '../codes/index.ts';
import { digestSchema, reproductionSchema } from '../contract/index.ts';
import { isCheckId } from './checks.ts';
import { CHAIN_RESULTS } from './receipts/receipts.ts';
import { DEPTHS, VERDICTS } from './report.ts';

// The types stand in report.ts; a test holds these schemas to them in both directions. Codes and checks are patterns
// here, because a later release has more of them.

const isDigest = (text: string): text is Digest => digestSchema.safeParse(text).success;

const digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .refine(isDigest);
const count = z.int().min(0);
const atMs = z.int().describe('milliseconds since 1970');
const verdict = z.enum(VERDICTS).describe('formats §4');

export const codeSchema = z
  .string()
  .regex(/^[a-z][a-z0-9-]*\.[A-Z][A-Z0-9_]*$/)
  .refine(isCode)
  .describe('a row of docs/codes.md');

export const codeClassSchema = z.enum([
  'malformed',
  'missing',
  'mismatch',
  'untrusted',
  'expired',
  'unsupported',
  'inaccessible',
  'limit',
  'extra',
  'claimed',
  'usage',
  'refused',
  'internal',
]);

export const severitySchema = z.enum(['error', 'warning', 'info']);

export const checkIdSchema = z
  .string()
  .regex(/^[a-z-]+\.[a-z-]+$/)
  .refine(isCheckId)
  .describe('a check of docs/codes.md');

const checkSchema = z.strictObject({
  id: checkIdSchema,
  state: z.enum(['passed', 'failed', 'not_checked', 'not_applicable']),
  reason: z.string().exactOptional(),
});

const findingSchema = z.strictObject({
  code: codeSchema,
  class: codeClassSchema,
  severity: severitySchema,
  subject: z.string().describe('export, or the id of a bundle or local report'),
  path: z.string().exactOptional().describe('where: an entry, a file, a JSON pointer'),
  message: z.string(),
  expected: z.string().exactOptional(),
  actual: z.string().exactOptional(),
});

const ledger = { checks: z.array(checkSchema).readonly(), findings: z.array(findingSchema).readonly() };
const trust = z.strictObject({ fingerprint: digest, keys: count }).describe('the trust store that was used');
const signedBy = { issuer: z.string(), keyId: z.string(), issuedAtMs: atMs };
const signer = z.strictObject(signedBy);
const signingKey = z.strictObject({
  ...signedBy,
  thumbprint: digest.describe('SHA-256 of the key: two names of one key have one'),
  in: z.enum(['attestation', 'dsse']),
});
const coverage = z
  .strictObject({
    totalBytes: count,
    coveredBytes: count,
    attestedBytes: count,
    uncovered: z.array(z.string()).readonly(),
    mirrorFiles: z.array(z.string()).readonly(),
  })
  .describe('how many bytes something vouches for');

export const runSchema = z
  .strictObject({
    tool: z.strictObject({ name: z.string(), version: z.string() }),
    path: z.string().exactOptional().describe('the evidence, as the caller named it'),
    options: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]))
      .describe('the options that decide the result'),
    exitCode: z.literal([0, 1, 2, 3, 77, 130]),
    unmet: z
      .array(z.strictObject({ requirement: z.string(), message: z.string() }))
      .readonly()
      .describe('what the caller required and the evidence does not meet'),
  })
  .describe('the run of the command that wrote the report');

export const attestationReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('attestation'),
  verdict: z.enum(['valid', 'not_judged', 'invalid']),
  asOfMs: atMs,
  trust: trust.exactOptional(),
  signer: signer.exactOptional(),
  ...ledger,
});

export const bundleReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('bundle'),
  verdict,
  depth: z.enum(DEPTHS),
  asOfMs: atMs,
  trust: trust.exactOptional(),
  evidenceBundleId: z.string().exactOptional(),
  organizationId: z.string().exactOptional(),
  projectId: z.string().exactOptional(),
  runId: z.string().exactOptional(),
  hostedRunId: z.string().exactOptional(),
  rerunOfHostedRunId: z.string().exactOptional(),
  path: z.string().exactOptional(),
  archive: z.strictObject({ digest, bytes: count }).exactOptional(),
  manifestDigest: digest.exactOptional(),
  objectCount: count.exactOptional(),
  createdAtMs: atMs.exactOptional(),
  evidenceBytes: count.exactOptional(),
  signed: z.boolean().exactOptional(),
  provenance: z.enum(['attested', 'claimed', 'user_produced']),
  signer: signer.exactOptional(),
  signers: z.array(signingKey).readonly().exactOptional(),
  reproduction: reproductionSchema
    .exactOptional()
    .describe('what the statement pins; attested when provenance is'),
  outcome: z
    .strictObject({ drillId: z.string(), targetId: z.string(), status: z.string(), verdict: z.string() })
    .exactOptional()
    .describe('what the run result says of the drill; no judgement of this verification'),
  ...ledger,
  coverage,
  run: runSchema.exactOptional(),
});

const localReportReportSchema = z.strictObject({
  kind: z.literal('local-report'),
  verdict: z.enum(['intact', 'incomplete', 'failed']),
  localReportId: z.string(),
  projectId: z.string(),
  path: z.string(),
  provenance: z.literal('user_produced'),
  trust: z.literal('unattested'),
  ...ledger,
});

export const exportReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('export'),
  verdict,
  completeness: z.enum(['pinned', 'attested', 'claimed']),
  depth: z.enum(DEPTHS),
  asOfMs: atMs,
  evidenceExportId: z.string().exactOptional(),
  organizationId: z.string().exactOptional(),
  manifestDigest: digest.exactOptional(),
  trust: trust.exactOptional(),
  signer: signer.exactOptional(),
  ...ledger,
  parts: z.array(bundleReportSchema).readonly(),
  localReports: z.array(localReportReportSchema).readonly(),
  coverage,
  run: runSchema.exactOptional(),
});

export const toolSourceReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('tool-source'),
  verdict,
  packageId: z.string().exactOptional(),
  buildHash: z.string().exactOptional(),
  artifactHash: z.string().exactOptional(),
  ...ledger,
});

export const receiptsReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('receipts'),
  verdict: z.enum(CHAIN_RESULTS),
  evidenceExportId: z.string().exactOptional(),
  organizationId: z.string().exactOptional(),
  manifestDigest: z.string().exactOptional(),
  manifestHere: z.boolean().describe('whether the mirror has a manifest that could be read'),
  head: z.strictObject({ path: z.string(), digest, finishedAtMs: atMs }).exactOptional(),
  unlinked: count.describe('receipts without links, outside the chain'),
  receipts: z
    .array(
      z.strictObject({
        path: z.string(),
        digest: digest.exactOptional(),
        startedAtMs: atMs.exactOptional(),
        finishedAtMs: atMs.exactOptional(),
        outcome: z.enum(['complete', 'incomplete']).exactOptional(),
        files: count.exactOptional(),
        failures: count.exactOptional(),
        tool: z.string().exactOptional(),
        source: z.string().exactOptional(),
      }),
    )
    .readonly(),
  findings: z.array(findingSchema).readonly(),
});
