import type * as z from 'zod';
import { formatJsonPointer, type JsonLimits, parseCanonicalJson, parseJson } from '../bytes/index.ts';
import type { Code } from '../codes/index.ts';
import { DrillproofError } from '../errors.ts';

/** One broken rule of a document: a JSON pointer (RFC 6901) and what the rule wants. */
export type DocumentIssue = { readonly path: string; readonly message: string };

/** What a kind of document is: its shape, the code of a document that breaks it, and how it is read. */
export type DocumentKind<T> = {
  readonly schema: z.ZodType<T>;
  readonly code: Code;
  /** Whether the bytes must equal their own RFC 8785 form (formats §1, *Canonical or parsed*). */
  readonly canonical: boolean;
  /** The long lists at its top, by member: the shape of a row. */
  readonly rows?: Readonly<Record<string, z.ZodType>>;
};

/** Faults of rows reported at most. A few kilobytes of ZIP can hold millions, which no memory would hold. */
const MAX_ROW_ISSUES = 100;
/** A message repeats what it found, unknown names for example, and those can be long. */
const MAX_MESSAGE = 500;

/**
 * Types the bytes of a document once, at the edge, and collects every rule that they break in `details.issues`.
 * @throws DrillproofError the code of the kind, and all that the JSON parsers throw
 */
export function parseDocument<T>(bytes: Uint8Array, kind: DocumentKind<T>, limits?: JsonLimits): T {
  const value = kind.canonical ? parseCanonicalJson(bytes, limits) : parseJson(bytes, limits);
  return typeDocument(value, kind);
}

/** `parseDocument` for a value that is already parsed. */
export function typeDocument<T>(value: unknown, kind: Pick<DocumentKind<T>, 'schema' | 'code' | 'rows'>): T {
  for (const [member, row] of Object.entries(kind.rows ?? {})) {
    const issues = rowIssues(value, member, row);
    if (issues.length > 0) throw brokenDocument(kind.code, issues);
  }
  const result = kind.schema.safeParse(value);
  if (result.success) return result.data;
  throw brokenDocument(kind.code, issuesOf(result.error, []));
}

/** The first faults in the rows of a long list; a short list is left to the schema. */
function rowIssues(value: unknown, member: string, row: z.ZodType): DocumentIssue[] {
  const list: unknown =
    typeof value === 'object' && value !== null && Object.hasOwn(value, member)
      ? Reflect.get(value, member)
      : undefined;
  const issues: DocumentIssue[] = [];
  if (!Array.isArray(list) || list.length <= MAX_ROW_ISSUES) return issues;
  for (let i = 0; i < list.length && issues.length < MAX_ROW_ISSUES; i++) {
    const { error } = row.safeParse(list[i]);
    if (error !== undefined) issues.push(...issuesOf(error, [member, i]));
  }
  return issues;
}

const issuesOf = (error: z.ZodError, parent: readonly PropertyKey[]): DocumentIssue[] =>
  error.issues.map(({ path, message }) => ({
    path: formatJsonPointer([...parent, ...path]),
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message,
  }));

/** The error for a document with these issues; the first one is its message. */
export function brokenDocument(
  code: Code,
  issues: readonly [DocumentIssue, ...DocumentIssue[]] | DocumentIssue[],
): DrillproofError {
  const [first = { path: '', message: 'the document breaks its format' }] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new DrillproofError(code, `${first.message}${more}`, { path: first.path, details: { issues } });
}
