import * as z from 'zod';
import { atMsSchema, typedDigestSchema as digest } from '../../contract/index.ts';
import { attestationReportSchema } from '../../verify/index.ts';

const summarySchema = z
  .strictObject({
    verifierId: z.string(),
    /** Whole milliseconds; fractions of one are cut off. */
    timeVerifiedMs: atMsSchema,
    resourceUri: z.string(),
    policyDigest: digest,
    inputs: z.array(digest).min(1).readonly().describe('digests of manifests, each once, sorted'),
    result: z.enum(['PASSED', 'FAILED']),
    levels: z.array(z.string()).readonly(),
    trustStore: digest.exactOptional().describe('fingerprint of the trust store of the verifier'),
  })
  .describe('its content; no trusted key signed it unless keys has one');

/** The content of a verification summary, whoever signed it. */
export interface Summary extends Readonly<z.infer<typeof summarySchema>> {}

export const summaryReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('summary'),
  /** `valid`: a trusted key of purpose `summary` signed it, it passed, and everything expected holds. */
  verdict: attestationReportSchema.shape.verdict,
  asOfMs: attestationReportSchema.shape.asOfMs,
  /** Absent if none was given. */
  trust: attestationReportSchema.shape.trust,
  /** Absent if it cannot be read. Without `keys`, no trusted key signed it. */
  summary: summarySchema.exactOptional(),
  keys: z.array(digest).readonly().describe('thumbprints of the trusted keys that signed it'),
  findings: attestationReportSchema.shape.findings,
});

/**
 * The report of `verifySummary` (docs/vsa.md). Its verdict is `valid`, `not_judged` (no keys were given) or `invalid`.
 */
export interface SummaryReport extends Readonly<z.infer<typeof summaryReportSchema>> {}
