import { type JsonValue, parseJson } from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';
import { typeDocument } from '../evidence/index.ts';
import { REPORT_FILES } from './merge/reports-schema.ts';

/** Bytes of a report: some 10,000 parts take 40 MB. */
export const MAX_REPORT_BYTES = 256 * 1024 * 1024;
export const REPORT_LIMITS = { maxBytes: MAX_REPORT_BYTES, maxValues: 4_000_000 };

/**
 * Reads a JSON report of any kind, strictly: unknown members, codes and kinds are refused.
 * @throws DrillproofError `report.UNREADABLE` with the rules broken in `details.issues`
 */
export function readReport(bytes: Uint8Array): JsonValue {
  try {
    const value = parseJson(bytes, REPORT_LIMITS);
    const schema = REPORT_FILES[kindOf(value) ?? ''];
    if (schema === undefined) throw new DrillproofError('report.UNREADABLE', 'it is no report');
    typeDocument(value, { schema, code: 'report.UNREADABLE', rows: {} });
    return value;
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const { message, path, details } = cause;
    throw new DrillproofError('report.UNREADABLE', message, {
      cause,
      ...(path !== undefined && { path }),
      ...(details !== undefined && { details }),
    });
  }
}

function kindOf(value: JsonValue): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const kind = Object.hasOwn(value, 'kind')
    ? (value as Readonly<Record<string, JsonValue>>)['kind']
    : undefined;
  return typeof kind === 'string' && Object.hasOwn(REPORT_FILES, kind) ? kind : undefined;
}
