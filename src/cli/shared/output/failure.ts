import { defined } from '../../../bytes/arguments.ts';
import { type Code, codeEntry } from '../../../codes/catalogue.ts';
import { isCode } from '../../../codes/facts.ts';
import { DrillproofError, TransportError } from '../../../errors.ts';
import { errnoOf, ioError } from '../../../node/fs-errors.ts';
import { escapeText } from '../../../report/printable.ts';
import { stableJson } from '../../../report/json.ts';
import { formatTimeSpan, hideUsers } from '../options/values.ts';
import { EXIT, type ExitCode, exitOfCode } from '../../exit.ts';

/** An error as it is reported to people and programs. */
export type Failure = {
  readonly code: Code;
  readonly message: string;
  readonly action: string;
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly exit: ExitCode;
};

/** Converts any thrown value. After an interruption, every error is reported as the interruption. */
export function describeFailure(error: unknown, interrupted: boolean): Failure {
  const cause = interrupted ? createInterruptedError(error) : toDrillproofError(error);
  const { code, message, path, details } = cause;
  const { hint, ...rest } = details ?? {};
  return {
    code,
    message: hideUsers(message),
    action: typeof hint === 'string' ? hideUsers(hint) : codeEntry(code).action,
    ...defined({ path: path && hideUsers(path) }),
    ...(Object.keys(rest).length > 0 && { details: rest }),
    exit: interrupted ? EXIT.interrupted : exitOfCode(code),
  };
}

export const createInterruptedError = (cause: unknown): DrillproofError =>
  new DrillproofError('transport.ABORTED', 'interrupted', { cause });

function toDrillproofError(error: unknown): DrillproofError {
  if (error instanceof TransportError) return addReason(error);
  if (error instanceof DrillproofError) return error;
  if (errnoOf(error) !== undefined && isSystemError(error))
    return ioError(error, error.path ?? 'a file', WRITING.has(error.syscall) ? 'write' : 'read');
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new DrillproofError('internal.BUG', message, { cause: error });
}

/** Adds the system error of the connection, such as ECONNREFUSED, from the causes. */
function addReason(error: TransportError): DrillproofError {
  const reason = findReason(error.cause);
  if (reason === undefined) return error;
  return new DrillproofError(error.code, `${error.message} (${reason})`, {
    ...(error.details && { details: error.details }),
  });
}

function findReason(cause: unknown, depth = 0): string | undefined {
  if (!(cause instanceof Error) || depth > 5) return undefined;
  return errnoOf(cause) ?? findReason(cause.cause, depth + 1);
}

const isSystemError = (error: unknown): error is Error & { path?: string; syscall: unknown } =>
  error instanceof Error && 'syscall' in error;

/** System calls that write. `open` counts as reading, which fails more often. */
const WRITING: ReadonlySet<unknown> = new Set(
  'write writev fsync ftruncate truncate mkdir mkdtemp rename unlink rm rmdir link symlink copyfile chmod fchmod'.split(
    ' ',
  ),
);

type Case = { readonly path?: string; readonly code?: string; readonly message: string };
const MAX_CASES = 10;

/** Formats a failure for people: one line, its issues if any, and the advice. */
export function formatFailureText(failure: Failure): string {
  const cases = listCases(failure);
  const omitted = cases.length - MAX_CASES;
  const lines = [
    `drillproof: ${failure.code}: ${escapeText(failure.message)}${cases.length > 0 ? '' : formatPathSuffix(failure)}${formatAnswerDetails(failure)}`,
    ...cases.slice(0, MAX_CASES).map(formatCase),
    ...(omitted > 0 ? [`  - and ${omitted} more`] : []),
    ...listAdvice(cases, failure.code).map((line) => `  ${line}`),
    `  ${escapeText(failure.action)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Formats the waiting time and the correlation id that the server sent. */
function formatAnswerDetails({ details }: Failure): string {
  const waitMs: unknown = details?.['retryAfterMs'];
  const id: unknown = details?.['correlationId'];
  const words = [
    ...(typeof waitMs === 'number' && waitMs > 0 ? [`it asks to wait ${formatTimeSpan(waitMs)}`] : []),
    ...(typeof id === 'string' ? [`correlation id ${escapeText(id)}`] : []),
  ];
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}

function formatPathSuffix({ path, message }: Failure): string {
  return path === undefined || path === '' || message.includes(path) ? '' : ` (${escapeText(path)})`;
}

const formatCase = ({ path, code, message }: Case): string =>
  `  - ${escapeText([path, code, message].filter((word) => word !== undefined && word !== '').join(': '))}`;

export function listAdvice(cases: readonly { readonly code?: string }[], reported?: Code): readonly string[] {
  const codes = new Set(cases.flatMap(({ code }) => (code !== undefined && isCode(code) ? [code] : [])));
  return [...codes].filter((code) => code !== reported).map((code) => `${code}: ${codeEntry(code).action}`);
}

/** Lists the issues, findings or failed files of a failure. */
function listCases({ details, message }: Failure): readonly Case[] {
  const lists: readonly unknown[] = ['issues', 'findings', 'failures'].map((name) => details?.[name]);
  const all = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isCase) : []));
  return all.length === 1 && message.includes(all[0]!.message) ? [] : all;
}

const isCase = (value: unknown): value is Case =>
  typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';

export const formatFailureJson = (failure: Failure): string => stableJson(buildFailureJson(failure));

export function buildFailureJson({ exit, ...rest }: Failure): Readonly<Record<string, unknown>> {
  return { schemaVersion: 1, kind: 'error', class: codeEntry(rest.code).class, ...rest, exitCode: exit };
}
