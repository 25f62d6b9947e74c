import * as z from 'zod';
import type { Digest } from '../../bytes/index.ts';
import { digestSchema } from '../../contract/index.ts';
import { attestationReportSchema } from '../../verify/index.ts';

const isDigest = (text: string): text is Digest => digestSchema.safeParse(text).success;
const digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .refine(isDigest);

const summarySchema = z
  .strictObject({
    verifierId: z.string(),
    timeVerifiedMs: z.int().describe('milliseconds since 1970'),
    resourceUri: z.string(),
    policyDigest: digest,
    inputs: z.array(digest).min(1).readonly().describe('digests of manifests, each once, sorted'),
    result: z.enum(['PASSED', 'FAILED']),
    levels: z.array(z.string()).readonly(),
    trustStore: digest.exactOptional().describe('fingerprint of the trust store of the verifier'),
  })
  .describe("what it says; nobody's word unless keys names somebody");

/** A `SummaryReport` as JSON; a test holds the type to it. */
export const summaryReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('summary'),
  verdict: attestationReportSchema.shape.verdict,
  asOfMs: attestationReportSchema.shape.asOfMs,
  trust: attestationReportSchema.shape.trust,
  summary: summarySchema.exactOptional(),
  keys: z.array(digest).readonly().describe('thumbprints of the trusted keys that signed it'),
  findings: attestationReportSchema.shape.findings,
});
