import * as z from 'zod/mini';
import type { Digest } from '../bytes/index.ts';
import { isCode } from '../codes/index.ts';
import { narrowText, typedDigestSchema as digest } from '../contract/index.ts';
import {
  type BundleReport,
  bundleReportSchema,
  type ExportReport,
  exportReportSchema,
} from '../verify/index.ts';

const failureSchema = z.strictObject({
  code: narrowText(z.string(), isCode, { error: 'must be a code', abort: true }),
  message: z.string(),
  path: z.exactOptional(z.string()),
});

export const summarySchema = z.strictObject({
  verifierId: z.string(),
  result: z.enum(['PASSED', 'FAILED']),
  timeVerifiedMs: z.int(),
  /** What it may be used for. */
  resourceUri: z.string(),
  policyDigest: digest,
  /** Digests of the manifests of everything it covers. */
  inputs: z.readonly(z.array(digest)),
  /** Thumbprints of the trusted keys of purpose `summary` that signed it. */
  thumbprints: z.readonly(z.array(digest)),
  /** The findings about its envelope. */
  findings: bundleReportSchema.shape.findings,
});

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
  name: z.string().check(z.minLength(1), z.maxLength(4096)),
  envelopes: z.exactOptional(z.readonly(z.array(digest))),
};

export const evidenceInputSchema: z.ZodMiniType<EvidenceInput> = z.union([
  z.strictObject({
    ...named,
    report: z.discriminatedUnion('kind', [exportReportSchema, bundleReportSchema]),
    pinned: z.exactOptional(z.boolean()),
  }),
  z.strictObject({ ...named, summary: summarySchema }),
  z.strictObject({ ...named, failure: failureSchema }),
]);
