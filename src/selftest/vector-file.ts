import * as z from 'zod/mini';
import { typeValue } from '../contract/index.ts';
import { parseJson } from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';

/** The version of the form of the files that this program reads (vectors/README.md, Versions). */
const VERSION = 1;

const caseSchema = z.strictObject({
  id: z.string().check(z.minLength(1)),
  comment: z.string(),
  flags: z.array(z.string()),
  input: z.unknown(),
  expected: z.looseObject({ verdict: z.enum(['valid', 'invalid']) }),
});

const fileSchema = z.strictObject({
  $schema: z.string(),
  version: z.literal(VERSION),
  kind: z.string(),
  about: z.string(),
  clause: z.string(),
  numberOfCases: z.int().check(z.gte(0)),
  flags: z.record(z.string(), z.string()),
  cases: z.array(caseSchema),
});

export type SelftestCase = z.infer<typeof caseSchema>;
export type VectorFile = z.infer<typeof fileSchema>;

export const MAX_VECTOR_BYTES = 64 * 1024 * 1024;

/**
 * Types a file of vectors. A verdict that is not known, and a number of cases that is not that of the file, are refused:
 * a case that is skipped must not pass for one that held.
 * @throws DrillproofError `selftest.VECTORS_INVALID`
 */
export function parseVectorFile(bytes: Uint8Array, name: string): VectorFile {
  const file = typeValue(fileSchema, jsonOf(bytes, name));
  if (!file.success) throw vectorsError(name, firstIssue(file.error));
  const { cases, numberOfCases } = file.data;
  if (cases.length !== numberOfCases)
    throw vectorsError(name, `${cases.length} cases where ${numberOfCases} are announced`);
  if (new Set(cases.map(({ id }) => id)).size !== cases.length)
    throw vectorsError(name, 'an id is used twice');
  return file.data;
}

function jsonOf(bytes: Uint8Array, name: string): unknown {
  try {
    return parseJson(bytes, { maxBytes: MAX_VECTOR_BYTES });
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    throw vectorsError(name, cause.message, cause);
  }
}

const firstIssue = ({ issues: [first] }: z.core.$ZodError): string =>
  first === undefined ? 'not of the form' : `${first.path.map(String).join('/')}: ${first.message}`;

const vectorsError = (path: string, message: string, cause?: unknown): DrillproofError =>
  new DrillproofError('selftest.VECTORS_INVALID', `${path}: ${message}`, { path, cause });
