import * as z from 'zod/mini';
import { formatJsonPointer } from '../../bytes/json/parse.ts';
import { idempotencyKeySchema } from '../../contract/scalars.ts';
import type { Operation } from '../../contract/operations/operations.ts';
import { typeValue } from '../../contract/type-value.ts';
import { type ServerAnswer, commonHeaders, Refusal } from './envelope.ts';
import type { RequestIssue } from '../../contract/operations/errors.ts';
import crypto from 'node:crypto';

/** Returns whether If-None-Match has this validator, strong or weak, or is `*` (RFC 9110 §13.1.2). */
export const isUnchanged = (header: string | undefined, etag: string): boolean =>
  header?.trim() === '*' ||
  header?.split(',').some((item) => item.trim().replace(/^W\//, '') === etag) === true;

export const answerNotModified = (correlationId: string, etag: string): ServerAnswer => ({
  status: 304,
  headers: { ...commonHeaders(correlationId), ETag: etag },
  body: null,
});

/** The SHA-256 of a document as it is sent, in base64. */
export const digestDocument = (body: string): string => crypto.hash('sha256', body, 'base64');

export const formatEtag = (digest: string): string => `"${digest}"`;

/** @throws Refusal `control.PRECONDITION_FAILED` unless If-Match is absent, `*`, or has the validator */
export function assertMatch(header: string | undefined, etag: string): void {
  // The comparison is strong: a weak validator never matches (RFC 9110 §13.1.1).
  const named = header?.split(',').map((item) => item.trim());
  if (named === undefined || named.includes(etag) || header?.trim() === '*') return;
  throw preconditionFailed();
}

export const preconditionFailed = (): Refusal =>
  new Refusal('control.PRECONDITION_FAILED', 'the resource has none of the ETags in If-Match');

type RawRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly idempotencyKey: string | undefined;
};

type Part = 'params' | 'query' | 'headers' | 'body';

type Typed = { readonly issues: readonly RequestIssue[]; readonly value: unknown };

function typePart(part: Part, schema: z.ZodMiniType, value: unknown): Typed {
  const result = typeValue(schema, value);
  if (result.success) return { issues: [], value: result.data };
  const issues = result.error.issues.map(({ path, code, message }) => ({
    path: formatJsonPointer([part, ...path]),
    code,
    message,
  }));
  return { issues, value };
}

/** Parses a query. A repeated name becomes a list, which every schema of the table refuses. */
function parseQuery(text: string): Record<string, string | string[]> {
  const query = new URLSearchParams(text);
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name);
      return [name, values.length === 1 && values[0] !== undefined ? values[0] : values];
    }),
  );
}

const MAX_ISSUES = 100;

function refuseInvalid(faults: readonly RequestIssue[]): void {
  if (faults.length === 0) return;
  // Two rules of a schema may refuse a value for the same reason.
  const all = [...new Map(faults.map((issue) => [`${issue.path} ${issue.message}`, issue])).values()];
  const message = `the request breaks ${all.length} rule(s) of the operation`;
  throw new Refusal('control.REQUEST_INVALID', message, { issues: all.slice(0, MAX_ISSUES) });
}

const NO_QUERY = z.strictObject({});
const HEADERS = z.object({ 'idempotency-key': idempotencyKeySchema });

/** Types all parts of a request except its body, and collects every fault. */
export function validateHead(row: Operation, raw: RawRequest) {
  if (row.idempotent && raw.idempotencyKey === undefined) {
    throw new Refusal('control.IDEMPOTENCY_KEY_REQUIRED', 'the header Idempotency-Key is required');
  }
  const params = typePart('params', row.params, raw.params);
  const query = typePart('query', row.query ?? NO_QUERY, parseQuery(raw.query));
  const headers = { 'idempotency-key': raw.idempotencyKey };
  const key = row.idempotent ? typePart('headers', HEADERS, headers).issues : [];
  refuseInvalid([...params.issues, ...query.issues, ...key]);
  return { params: params.value, query: query.value };
}

export function validateBody(schema: z.ZodMiniType, body: unknown): unknown {
  const { issues, value } = typePart('body', schema, body);
  refuseInvalid(issues);
  return value;
}
