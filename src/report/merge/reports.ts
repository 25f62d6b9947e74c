import * as z from 'zod/mini';
import { allow } from '../../contract/index.ts';
import type { JsonValue } from '../../bytes/index.ts';
import {
  attestationReportSchema,
  bundleReportSchema,
  codeClassSchema,
  codeSchema,
  exportReportSchema,
  runSchema,
  toolSourceReportSchema,
} from '../../verify/index.ts';
import { diffReports } from '../diff.ts';
import { type Named, shardSchema, unite, unitsOf } from './shard.ts';
import { summarySchema } from './summary.ts';

/** What a command says with `--json` when its work could not go on. */
export const errorSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('error'),
  code: codeSchema,
  class: codeClassSchema,
  message: z.string(),
  action: z.string().check(z.describe('what to do')),
  path: allow(z.string()),
  details: allow(z.looseObject({}), 'more about the code; depends on it'),
  exitCode: z.literal([1, 2, 3, 130]),
});

/** The product of a run over many paths. */
export const reportsSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('reports'),
  results: z.array(
    z.strictObject({
      path: z.string(),
      passed: z.boolean().check(z.describe('by the rules of the call')),
      result: z.union([exportReportSchema, bundleReportSchema, errorSchema]),
    }),
  ),
  summary: summarySchema,
  run: allow(runSchema),
  shard: allow(shardSchema),
});

/** Everything that `diff` reads, by its kind. */
export const REPORT_FILES: Readonly<Record<string, z.ZodMiniType>> = {
  export: exportReportSchema,
  bundle: bundleReportSchema,
  attestation: attestationReportSchema,
  'tool-source': toolSourceReportSchema,
  reports: reportsSchema,
};

export type ReportsReport = z.infer<typeof reportsSchema>;
export type PathResult = ReportsReport['results'][number];

/**
 * The results of several runs of `verify`, each path once, by their names.
 * @throws DrillproofError `report.MERGE_CONFLICT` if two differ about a path
 */
export function mergeResults(reports: readonly Named<ReportsReport>[]): readonly PathResult[] {
  const units = reports.flatMap((named) => unitsOf(named, named.report.results, ({ path }) => path));
  return unite(units, haveSameResult).map(({ value }) => value);
}

const haveSameResult = (a: PathResult, b: PathResult): boolean =>
  a.passed === b.passed && diffReports(asJson(a.result), asJson(b.result)).equal;

// The schema allows `undefined`, which JSON does not have.
const asJson = (result: PathResult['result']): JsonValue => JSON.parse(JSON.stringify(result)) as JsonValue;
