import * as z from 'zod/mini';
import { defined, type JsonValue, parseJson } from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';
import { typeDocument } from '../evidence/index.ts';
import { archiveSchema } from './merge/archives.ts';
import { REPORT_FILES, reportsSchema } from './merge/reports.ts';
import { scrubSchema } from './merge/scrubs.ts';

/** Bytes of a report: some 10,000 parts take 40 MB. */
export const MAX_REPORT_BYTES = 256 * 1024 * 1024;
const LIMITS = { maxBytes: MAX_REPORT_BYTES, maxValues: 4_000_000 };

/** Every product that lists results for many exports, paths or mirrors. */
const mergeableSchema = z.discriminatedUnion('kind', [archiveSchema, reportsSchema, scrubSchema]);
export type Mergeable = z.infer<typeof mergeableSchema>;

/**
 * Reads a JSON report of any kind, strictly: unknown members, codes and kinds are refused.
 * @throws DrillproofError `report.UNREADABLE` with the rules broken in `details.issues`
 */
export const readReport = (bytes: Uint8Array): JsonValue =>
  readStrictly(bytes, '', (value) => {
    const schema = REPORT_FILES[kindOf(value) ?? ''];
    if (schema === undefined) throw new DrillproofError('report.UNREADABLE', 'it is not a report');
    typeDocument(value, { schema, code: 'report.UNREADABLE', rows: {} });
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

function kindOf(value: JsonValue): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const kind = Object.hasOwn(value, 'kind')
    ? (value as Readonly<Record<string, JsonValue>>)['kind']
    : undefined;
  return typeof kind === 'string' && Object.hasOwn(REPORT_FILES, kind) ? kind : undefined;
}
