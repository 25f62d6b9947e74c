import { canonicalJson, defined, formatJsonPointer } from '../../bytes/index.ts';
import type * as z from 'zod/mini';
import { fillPath, idempotencyKeySchema, type Operation, typeValue } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { WireRequest } from './exchange.ts';
import type { Settings } from '../options.ts';

type RequestIssue = { readonly path: string; readonly message: string };

type Fields = { readonly [name: string]: unknown };
type Divided = { readonly params: Fields; readonly query: Fields; readonly body: Fields };

/** Headers of one logical call in addition to those of every request. */
export type CallHeaders = {
  readonly 'idempotency-key'?: string;
  readonly range?: string;
  readonly 'if-range'?: string;
};

/**
 * The request of an operation: its input, one flat object, is divided among path, query and body by the names of the
 * row, and each is checked by the schema of the row before anything is sent.
 * @throws DrillproofError `client.REQUEST_INVALID` with every broken rule in `details.issues`
 */
export function buildRequest(
  row: Operation,
  input: object,
  settings: Settings,
  headers: CallHeaders,
): WireRequest {
  const divided = divide(row, input);
  const issues = [
    ...issuesOf(row.params, divided.params),
    ...issuesOf(row.query, divided.query),
    ...bodyIssues(row, divided.body),
    ...keyIssues(headers['idempotency-key']),
  ];
  if (issues.length > 0) throw invalid(issues);
  return {
    method: row.method,
    url: addressOf(row, divided, settings),
    headers: { ...commonHeaders(row, settings), ...headers },
    ...defined({ body: row.body && canonicalJson(divided.body) }),
  };
}

function divide(row: Operation, input: object): Divided {
  const params: [string, unknown][] = [];
  const query: [string, string][] = [];
  const body: [string, unknown][] = [];
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (Object.hasOwn(row.params.shape, name)) params.push([name, value]);
    // On the wire a query has only text, and that is what its schema takes.
    else if (row.query !== undefined && Object.hasOwn(row.query.shape, name))
      query.push([name, String(value)]);
    else body.push([name, value]);
  }
  return {
    params: Object.fromEntries(params),
    query: Object.fromEntries(query),
    body: Object.fromEntries(body),
  };
}

function issuesOf(schema: z.ZodMiniType | undefined, value: unknown): RequestIssue[] {
  const result = schema && typeValue(schema, value);
  if (result === undefined || result.success) return [];
  return result.error.issues.map(({ path, message }) => ({ path: formatJsonPointer(path), message }));
}

function bodyIssues(row: Operation, body: Fields): RequestIssue[] {
  if (row.body !== undefined) return issuesOf(row.body, body);
  return Object.keys(body).map((name) => ({
    path: formatJsonPointer([name]),
    message: 'the operation has no such parameter',
  }));
}

function keyIssues(key: string | undefined): RequestIssue[] {
  if (key === undefined || idempotencyKeySchema.safeParse(key).success) return [];
  return [{ path: '/idempotencyKey', message: 'the key is not 8 to 128 of A-Z a-z 0-9 . _ : -' }];
}

function addressOf(row: Operation, { params, query }: Divided, settings: Settings): string {
  const path = fillPath(row, params as Readonly<Record<string, string>>); // their schemas accept only text
  if (Object.keys(query).length === 0) return `${settings.baseUrl}${path}`;
  const names = new Map(Object.entries(settings.parameterNames));
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [names.get(name) ?? name, String(value)]),
  );
  return `${settings.baseUrl}${path}?${search.toString()}`;
}

function commonHeaders(row: Operation, settings: Settings): Record<string, string> {
  return {
    accept: row.success.kind === 'bytes' ? row.success.mediaType : 'application/json',
    'accept-encoding': 'identity',
    'user-agent': settings.userAgent,
    ...defined({
      authorization: row.security === 'bearer' ? `Bearer ${settings.token}` : undefined,
      'content-type': row.body && 'application/json',
    }),
  };
}

function invalid(issues: readonly RequestIssue[]): DrillproofError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new DrillproofError('client.REQUEST_INVALID', `${first?.path}: ${first?.message}${more}`, {
    details: { issues },
    ...defined({ path: first?.path }),
  });
}
