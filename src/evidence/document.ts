import * as z from 'zod/mini';
import { amountsOf, BYTES, checkArguments } from '../bytes/arguments.ts';
import { formatJsonPointer, parseJson } from '../bytes/json/parse.ts';
import { parseCanonicalJson } from '../bytes/json/canonical.ts';
import { foldPath, findPathProblem } from '../bytes/portable-path.ts';
import { typeValue } from '../contract/type-value.ts';
import type { Code } from '../codes/catalogue.ts';
import { DrillproofError, LimitError } from '../errors.ts';
import { type Acceptor, compileAcceptor } from './accept.ts';

/** The limits of evidence, in bytes or counts. Each loop over external input is bounded by one of them (formats, Limits). */
export type EvidenceLimits = {
  /** Bytes of a bundle manifest or an export manifest. */
  readonly manifestBytes: number;
  /** Bytes of an attestation, an export resource or a receipt. */
  readonly documentBytes: number;
  /** Bytes of a run result. */
  readonly runResultBytes: number;
  /** JSON values of each of these documents. */
  readonly jsonValues: number;
  /** Parts of an export, and likewise local reports (control API, Limits). */
  readonly parts: number;
  /** Objects of a bundle. */
  readonly objects: number;
  /** Files in an export, whether listed or not. */
  readonly files: number;
};

/** The limits that apply if the caller gives none: bytes, and counts of values, parts, objects and files. */
export const DEFAULT_LIMITS: EvidenceLimits = Object.freeze({
  manifestBytes: 64 * 1024 * 1024,
  documentBytes: 1024 * 1024,
  runResultBytes: 64 * 1024 * 1024,
  jsonValues: 1_000_000,
  parts: 10_000,
  objects: 99_998,
  files: 50_000,
});

export const EVIDENCE_LIMITS = amountsOf(DEFAULT_LIMITS);

/** One broken rule of a document: a JSON pointer (RFC 6901), and the rule. */
export type DocumentIssue = { readonly path: string; readonly message: string };

/** A long list at the top of a document: the shape of a row, and how many rows there may be. */
type RowKind = {
  readonly schema: z.ZodMiniType;
  readonly limit?: { readonly name: keyof EvidenceLimits; readonly code: Code };
};

/** A kind of document: its schema, the code of invalid documents, and the limits of reading it. */
type DocumentKind<T> = {
  readonly schema: z.ZodMiniType<T>;
  readonly code: Code;
  /** The bytes must equal their own RFC 8785 form (formats §1, *Canonical or parsed*). */
  readonly canonical: boolean;
  /** The limit of its bytes. */
  readonly limit: 'manifestBytes' | 'documentBytes' | 'runResultBytes';
  /** The long lists at its top, by member. */
  readonly rows?: Readonly<Record<string, RowKind>>;
};

/** Types the bytes of one kind of document; limits that are absent are `DEFAULT_LIMITS`. */
type DocumentParser<T> = (bytes: Uint8Array, limits?: Partial<EvidenceLimits>) => T;

/**
 * Makes the parser of a kind of document. It types the bytes once, at the edge, and collects every rule that they break
 * in `details.issues`. It throws the code of the kind, and all that the JSON parsers throw.
 */
export const documentParser = <T>(kind: DocumentKind<T>): DocumentParser<T> => {
  let accepts: Acceptor | undefined;
  return (bytes, limits = DEFAULT_LIMITS) => {
    if (!(bytes instanceof Uint8Array) || limits !== DEFAULT_LIMITS) checkArguments(KINDS, { bytes, limits });
    const all = limits === DEFAULT_LIMITS ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, ...limits };
    const jsonLimits = { maxBytes: all[kind.limit], maxValues: all.jsonValues };
    const value = kind.canonical ? parseCanonicalJson(bytes, jsonLimits) : parseJson(bytes, jsonLimits);
    accepts ??= compileAcceptor(kind.schema);
    const document = accepts(value) ? (value as T) : typeDocument(value, kind);
    assertRowLimits(document, kind, all);
    return document;
  };
};

const KINDS = { bytes: BYTES, limits: EVIDENCE_LIMITS };

/** The most faults of rows that are reported. A few kilobytes of ZIP can contain millions of them. */
const MAX_ROW_ISSUES = 100;
/** A document of an unknown version is not damaged. */
const NEWER = ', or this document needs a newer version of drillproof';
/** A message can repeat long input, such as unknown names. */
const MAX_MESSAGE = 500;

/** Types a value that is already parsed. @throws DrillproofError the code of the kind */
export function typeDocument<T>(value: unknown, kind: Pick<DocumentKind<T>, 'schema' | 'code' | 'rows'>): T {
  for (const [member, { schema }] of Object.entries(kind.rows ?? {})) {
    const issues = listRowIssues(value, member, schema);
    if (issues.length > 0) throw documentError(kind.code, issues);
  }
  const result = typeValue(kind.schema, value);
  if (result.success) return result.data;
  throw documentError(kind.code, listIssues(result.error, []));
}

const rowsOf = (value: unknown, member: string): readonly unknown[] => {
  const isPresent = typeof value === 'object' && value !== null && Object.hasOwn(value, member);
  const list: unknown = isPresent ? Reflect.get(value, member) : undefined;
  return Array.isArray(list) ? list : [];
};

/** The first faults in the rows of a long list. The schema checks short lists. */
function listRowIssues(value: unknown, member: string, row: z.ZodMiniType): DocumentIssue[] {
  const list = rowsOf(value, member);
  const issues: DocumentIssue[] = [];
  if (list.length <= MAX_ROW_ISSUES) return issues;
  for (let i = 0; i < list.length && issues.length < MAX_ROW_ISSUES; i++) {
    const { error } = typeValue(row, list[i]);
    if (error !== undefined) issues.push(...listIssues(error, [member, i]));
  }
  return issues;
}

function assertRowLimits(
  value: unknown,
  { rows = {} }: Pick<DocumentKind<unknown>, 'rows'>,
  limits: EvidenceLimits,
): void {
  for (const [member, { limit }] of Object.entries(rows)) {
    if (limit === undefined || rowsOf(value, member).length <= limits[limit.name]) continue;
    throw new LimitError(limit.code, `more than ${limits[limit.name]} ${limit.name}`, { path: `/${member}` });
  }
}

const listIssues = (error: z.core.$ZodError, parent: readonly PropertyKey[]): DocumentIssue[] =>
  error.issues.map(({ path, message }) => ({
    path: formatJsonPointer([...parent, ...path]),
    message:
      (message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message) +
      (path.at(-1) === 'schemaVersion' && message.startsWith('must be') ? NEWER : ''),
  }));

/** The error for a document with these issues; the first one is its message. */
export function documentError(code: Code, issues: readonly DocumentIssue[]): DrillproofError {
  const [first = { path: '', message: 'the document breaks its format' }] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new DrillproofError(code, `${first.message}${more}`, { path: first.path, details: { issues } });
}

/** A path inside evidence that is safe and the same on every file system (formats §1, Paths). */
export const pathSchema = z.string().check((context) => {
  const problem = findPathProblem(context.value);
  if (problem !== undefined) {
    context.issues.push({
      code: 'custom',
      input: context.value,
      message: `the path is not portable: ${problem}`,
    });
  }
});

/** Adds an issue for the first path that a file system could not distinguish from an earlier one. */
export function refuseTwins(
  rows: readonly { readonly path: string }[],
  member: string,
  issues: z.core.$ZodRawIssue[],
): void {
  const seen = new Set<string>();
  for (const [i, { path }] of rows.entries()) {
    const twin = foldPath(path);
    if (seen.has(twin)) {
      const message = `the path ${path} occurs twice, up to case and normalization`;
      issues.push({ code: 'custom', input: rows, path: [member, i, 'path'], message });
      return;
    }
    seen.add(twin);
  }
}
