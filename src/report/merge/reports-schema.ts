import * as z from 'zod';
import {
  attestationReportSchema,
  bundleReportSchema,
  codeClassSchema,
  codeSchema,
  exportReportSchema,
  runSchema,
  severitySchema,
  toolSourceReportSchema,
} from '../../verify/index.ts';
import { shardSchema } from './archive-schema.ts';

const count = z.int().min(0);

/** What a command says with `--json` when its work could not go on. */
export const errorSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('error'),
  code: codeSchema,
  class: codeClassSchema,
  message: z.string(),
  action: z.string().describe('what to do'),
  path: z.string().exactOptional(),
  details: z.looseObject({}).exactOptional().describe('more about the code; depends on it'),
  exitCode: z.literal([1, 2, 3, 130]),
});

const cause = z.strictObject({
  code: codeSchema,
  class: codeClassSchema,
  severity: severitySchema,
  subjects: count.describe('exports, bundles, reports and paths that it is about, each once'),
  times: count,
  first: z.array(z.strictObject({ path: z.string(), subject: z.string() })).describe('the first few'),
});

const copies = z
  .strictObject({
    evidenceExportId: z.string(),
    times: count,
    same: z.boolean().describe('whether all have the manifest of the first'),
    paths: z.array(z.string()).describe('the first few'),
  })
  .describe('an export under more than one path');

const summarySchema = z.strictObject({
  judged: count.describe('paths'),
  passed: count.describe('paths that passed by the rules of the call'),
  verdicts: z.strictObject({ verified: count, intact: count, incomplete: count, failed: count }),
  unreadable: count.describe('paths without a report'),
  causes: z.array(cause).describe('the most severe first, then the most frequent'),
  copies: z.array(copies),
});

/** The product of a run over many paths. */
export const reportsSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('reports'),
  results: z.array(
    z.strictObject({
      path: z.string(),
      passed: z.boolean().describe('by the rules of the call'),
      result: z.union([exportReportSchema, bundleReportSchema, errorSchema]),
    }),
  ),
  summary: summarySchema,
  run: runSchema.exactOptional(),
  shard: shardSchema.exactOptional(),
});

/** Everything that `diff` reads, by its kind. */
export const REPORT_FILES: Readonly<Record<string, z.ZodType>> = {
  export: exportReportSchema,
  bundle: bundleReportSchema,
  attestation: attestationReportSchema,
  'tool-source': toolSourceReportSchema,
  reports: reportsSchema,
};
