import * as z from 'zod';
import { isCode } from '../../codes/index.ts';
import { typedDigestSchema as digest } from '../../contract/index.ts';
import { bundleReportSchema, exportReportSchema } from '../../verify/index.ts';

const failureSchema = z.strictObject({
  code: z.string().refine(isCode, { error: 'must be a code', abort: true }),
  message: z.string(),
  path: z.string().exactOptional(),
});

const summarySchema = z.strictObject({
  verifierId: z.string(),
  result: z.enum(['PASSED', 'FAILED']),
  timeVerifiedMs: z.int(),
  policyDigest: digest,
  inputs: z.array(digest),
  thumbprints: z.array(digest),
  findings: bundleReportSchema.shape.findings,
});

const name = z.string().min(1).max(4096);

/** What `evaluate` judges, as it stands in a file. */
export const evidenceInputSchema = z.union([
  z.strictObject({
    name,
    report: z.discriminatedUnion('kind', [exportReportSchema, bundleReportSchema]),
    pinned: z.boolean().exactOptional(),
  }),
  z.strictObject({ name, summary: summarySchema }),
  z.strictObject({ name, failure: failureSchema }),
]);
