import * as z from 'zod/mini';
import { decisionSchema } from '../../policy/decision.ts';
import { optionalMember } from '../../contract/scalars.ts';
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
} from '../../verify/report-schema.ts';
import { pathsSummarySchema } from './summary.ts';
import { DrillproofError } from '../../errors.ts';
import { typeDocument } from '../../evidence/document.ts';

/** The error that a command prints with `--json`. */
export const errorSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('error'),
  code: codeSchema,
  class: codeClassSchema,
  message: z.string(),
  action: z.string().check(z.describe('what to do')),
  path: optionalMember(z.string()),
  details: optionalMember(z.looseObject({}), 'more about the code; depends on it'),
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
  summary: pathsSummarySchema,
  run: optionalMember(runSchema),
});

const reportFileSchema = z.discriminatedUnion('kind', [
  exportReportSchema,
  bundleReportSchema,
  attestationReportSchema,
  toolSourceReportSchema,
  reportsSchema,
  decisionSchema,
]);

/** Bytes of a report: some 10,000 parts take 40 MB. */
export const MAX_REPORT_BYTES = 256 * 1024 * 1024;
const LIMITS = { maxBytes: MAX_REPORT_BYTES, maxValues: 4_000_000 };

/**
 * Reads a JSON report of any kind, strictly: unknown members, codes and kinds are refused.
 * @throws DrillproofError `report.UNREADABLE` with the rules broken in `details.issues`
 */
export function readReport(bytes: Uint8Array): JsonValue {
  try {
    const value = parseJson(bytes, LIMITS);
    typeDocument(value, { schema: reportFileSchema, code: 'report.UNREADABLE' });
    return value;
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const { message, path, details } = cause;
    const context = { cause, ...defined({ path, details }) };
    throw new DrillproofError('report.UNREADABLE', `the file is not a report: ${message}`, context);
  }
}
