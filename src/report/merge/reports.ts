import * as z from 'zod/mini';
import { allow } from '../../contract/scalars.ts';
import { defined } from '../../bytes/arguments.ts';
import { type JsonValue, parseJson } from '../../bytes/json/parse.ts';
import {
  attestationReportSchema,
  bundleReportSchema,
  codeClassSchema,
  codeSchema,
  exportReportSchema,
  runSchema,
  toolSourceReportSchema,
} from '../../verify/report.ts';
import { diffReports } from '../diff.ts';
import { type Named, shardSchema, unite, unitsOf } from './shard.ts';
import { summarySchema } from './summary.ts';
import { DrillproofError } from '../../errors.ts';
import { typeDocument } from '../../evidence/document.ts';
import { archiveSchema } from './archives.ts';
import { scrubSchema } from './scrubs.ts';

/** The error that a command prints with `--json`. */
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

const reportFileSchema = z.discriminatedUnion('kind', [
  exportReportSchema,
  bundleReportSchema,
  attestationReportSchema,
  toolSourceReportSchema,
  reportsSchema,
]);

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

/** Bytes of a report: some 10,000 parts take 40 MB. */
export const MAX_REPORT_BYTES = 256 * 1024 * 1024;
const LIMITS = { maxBytes: MAX_REPORT_BYTES, maxValues: 4_000_000 };

const mergeableSchema = z.discriminatedUnion('kind', [archiveSchema, reportsSchema, scrubSchema]);
export type Mergeable = z.infer<typeof mergeableSchema>;

/**
 * Reads a JSON report of any kind, strictly: unknown members, codes and kinds are refused.
 * @throws DrillproofError `report.UNREADABLE` with the rules broken in `details.issues`
 */
export const readReport = (bytes: Uint8Array): JsonValue =>
  readStrictly(bytes, 'the file is not a report: ', (value) => {
    typeDocument(value, { schema: reportFileSchema, code: 'report.UNREADABLE' });
    return value;
  });

/**
 * Reads a product that can be merged with others of its kind, strictly.
 * @throws DrillproofError `report.UNREADABLE` with the rules broken in `details.issues`
 */
export const readMergeable = (bytes: Uint8Array, name: string): Mergeable =>
  readStrictly(bytes, `${name}: `, (value) =>
    typeDocument(value, { schema: mergeableSchema, code: 'report.UNREADABLE' }),
  );

function readStrictly<T>(bytes: Uint8Array, prefix: string, type: (value: JsonValue) => T): T {
  try {
    return type(parseJson(bytes, LIMITS));
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const { message, path, details } = cause;
    const context = { cause, ...defined({ path, details }) };
    throw new DrillproofError('report.UNREADABLE', `${prefix}${message}`, context);
  }
}
