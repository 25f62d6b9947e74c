import * as z from 'zod';
import type { Digest } from '../bytes/index.ts';
import { isCode } from '../codes/index.ts';
import { typedDigestSchema as digest } from '../contract/index.ts';
import {
  type BundleReport,
  bundleReportSchema,
  type ExportReport,
  exportReportSchema,
} from '../verify/index.ts';

const failureSchema = z.strictObject({
  code: z.string().refine(isCode, { error: 'must be a code', abort: true }),
  message: z.string(),
  path: z.string().exactOptional(),
});

export const summarySchema = z.strictObject({
  verifierId: z.string(),
  result: z.enum(['PASSED', 'FAILED']),
  timeVerifiedMs: z.int(),
  /** What it may be used for. */
  resourceUri: z.string(),
  policyDigest: digest,
  /** Digests of the manifests of everything it covers. */
  inputs: z.array(digest).readonly(),
  /** Thumbprints of the trusted keys of purpose `summary` that signed it. */
  thumbprints: z.array(digest).readonly(),
  /** The findings about its envelope. */
  findings: bundleReportSchema.shape.findings,
});

/** Why an input could not be verified. */
export interface ReadFailure extends Readonly<z.infer<typeof failureSchema>> {}
/** The content of a verification summary, and the keys that signed it. */
export interface SummaryFacts extends Readonly<z.infer<typeof summarySchema>> {}

/**
 * One input of `evaluate`: the report of its verification, a summary, or why there is neither (formats §8). `name` is
 * chosen by the caller, such as a path.
 */
export type EvidenceInput = {
  readonly name: string;
  /** SHA-256 of each DSSE envelope that was given with it, or of the envelope of the summary. */
  readonly envelopes?: readonly Digest[];
} & (
  | {
      readonly report: ExportReport | BundleReport;
      /** The caller pinned the manifest of this single part. The report on an export has that itself. */
      readonly pinned?: boolean;
    }
  | { readonly summary: SummaryFacts }
  | { readonly failure: ReadFailure }
);

const named = {
  name: z.string().min(1).max(4096),
  envelopes: z.array(digest).readonly().exactOptional(),
};

/** An `EvidenceInput` in a file. */
export const evidenceInputSchema: z.ZodType<EvidenceInput> = z.union([
  z.strictObject({
    ...named,
    report: z.discriminatedUnion('kind', [exportReportSchema, bundleReportSchema]),
    pinned: z.boolean().exactOptional(),
  }),
  z.strictObject({ ...named, summary: summarySchema }),
  z.strictObject({ ...named, failure: failureSchema }),
]);
