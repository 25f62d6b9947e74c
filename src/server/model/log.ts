import { checkArguments, defined, FUNCTION, TEXT, withMembers } from '../../bytes/arguments.ts';
import { isoTime } from '../../bytes/text/wording.ts';
import { DrillproofError } from '../../errors.ts';
import { escapeText } from '../../report/printable.ts';
import { appendFileSync } from 'node:fs';
import { ioError } from '../../node/fs-errors.ts';

/** Log levels, from everything to failures only. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * An event. It never contains a token, a body, a path or a query. Needed parts of them are members, and `tokenId` only
 * names a token.
 */
export type LogEntry = {
  readonly level: LogLevel;
  readonly event: string;
  readonly correlationId?: string;
  /** The trace of the caller (W3C Trace Context). */
  readonly traceId?: string;
  /** Name of the operation in the table, or of another kind of request. */
  readonly operation?: string;
  readonly method?: string;
  readonly status?: number;
  /** Code of the refusal, when it was one. */
  readonly code?: string | undefined;
  readonly durationMs?: number;
  /** Bytes of the body of the answer. */
  readonly bytes?: number;
  /** True if the client disconnected before the answer had ended. */
  readonly aborted?: boolean | undefined;
  readonly tokenId?: string | undefined;
  /** Address of the client: of the connection, or the one that a trusted proxy reports. */
  readonly client?: string | undefined;
  /** Further facts of an event, such as its operation, kind or address. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
  readonly error?: unknown;
};

/** Receives the events of a server or worker. */
export type Log = (entry: LogEntry) => void;

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace id of a `traceparent` (W3C Trace Context); a malformed one has none. */
export const readTraceId = (traceparent = ''): string | undefined => TRACEPARENT.exec(traceparent)?.[1];

/** Returns the log, whose entries then have the trace. */
export function traceLog(log: Log, traceparent: string | undefined): Log {
  const traceId = readTraceId(traceparent);
  return traceId === undefined ? log : (entry) => log({ ...entry, traceId });
}

export type LogFormat = 'json' | 'text';

const MAX_TEXT = 4_000;
const MAX_CAUSES = 5;

/**
 * Secrets that messages of other rooms and of libraries may contain: tokens, private keys, user and password of an address, the query of
 * an address (which makes an upload address a credential), and the value of a header or member with such a name. Repeats
 * that can begin anywhere are bounded, because a long text without a match would take minutes.
 */
const SECRETS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/dp_[A-Za-z0-9_-]{20,}/g, 'dp_[redacted]'],
  [/(PRIVATE KEY-----)[^-]+/g, '$1[redacted]'],
  [/\b(bearer|basic) +[A-Za-z0-9._~+/=-]+/gi, '$1 [redacted]'],
  [/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@"']+@/gi, '$1[redacted]@'],
  [/(https?:\/\/[^\s?"'<>]{1,2000})\?[^\s"'<>]*/gi, '$1?[redacted]'],
  [/((?:password|secret|token|signature|credential)["']?\s*[:=]\s*["']?)[^\s"',;&}]+/gi, '$1[redacted]'],
];

export const hideLikelySecrets = (text: string): string =>
  SECRETS.reduce((clean, [pattern, instead]) => clean.replace(pattern, instead), text);

/** Removes likely secrets from a text, and then shortens it, so that no part of one remains. */
export const redact = (text: string): string =>
  hideLikelySecrets(text.slice(0, 4 * MAX_TEXT)).slice(0, MAX_TEXT);

type LoggedError = {
  readonly code?: string;
  readonly message: string;
  readonly stack?: string;
  readonly causes?: readonly string[];
};

function describeError(error: unknown, debugging: boolean): LoggedError {
  const description = {
    ...defined({ code: error instanceof DrillproofError ? error.code : undefined }),
    message: redact(error instanceof Error ? error.message : String(error)),
  };
  if (!debugging || !(error instanceof Error)) return description;
  return { ...description, stack: redact(error.stack ?? ''), causes: listCauses(error) };
}

function listCauses(error: Error): string[] {
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error && causes.length < MAX_CAUSES; cause = cause.cause)
    causes.push(redact(cause.stack ?? cause.message));
  return causes;
}

function formatJson(entry: LogEntry, time: string, debugging: boolean): string {
  const { facts, error } = entry;
  const described = error === undefined ? undefined : describeError(error, debugging);
  const members = (facts ?? described) ? { ...entry, facts: undefined, ...facts, error: described } : entry;
  return `{"time":"${time}",${JSON.stringify(members).slice(1)}`;
}

function formatText(line: LogEntry, time: string, debugging: boolean): string {
  const { level, event, facts, error, ...entry } = line;
  const described = error === undefined ? {} : describeError(error, debugging);
  const members = Object.entries({ ...entry, ...facts, ...described });
  const words = members.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${String(value)}`]));
  return escapeText([time, level, event, ...words].join(' '));
}

/**
 * Creates a log that writes each entry of at least a level as one line. At level `debug`, errors have their stack and
 * causes.
 * @param options.level `debug`, `info`, `warn` or `error`
 * @param options.format `json` or `text`
 * @throws TypeError for an argument of the wrong kind
 * @example
 * const write = (line: string): void => void process.stderr.write(line);
 * const log = createLog({ level: 'info', format: 'json', write, now: Date.now });
 */
export function createLog(options: {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly write: (line: string) => void;
  readonly now: () => number;
}): Log {
  const members = { level: TEXT, format: TEXT, write: FUNCTION, now: FUNCTION };
  checkArguments({ options: withMembers('the options of a log', members) }, { options });
  const { level, format, write, now } = options;
  const least = logLevels.indexOf(level);
  const toLine = format === 'json' ? formatJson : formatText;
  let last = { atMs: 0, time: isoTime(0) };
  return (entry) => {
    if (logLevels.indexOf(entry.level) < least) return;
    const atMs = now();
    if (atMs !== last.atMs) last = { atMs, time: isoTime(atMs) };
    write(`${toLine(entry, last.time, level === 'debug')}\n`);
  };
}

/** An action and its actor: the id of a token, `anonymous`, or `admin:` and the user of this machine. */
export type AuditEntry = {
  readonly actor: string;
  readonly action: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly code?: string;
};

/** Selects the ids and hashes of some objects, never the hash of a token. */
export const selectIds = (values: readonly unknown[]): Record<string, string> =>
  Object.fromEntries(
    values
      .flatMap((value) => (typeof value === 'object' && value !== null ? Object.entries(value) : []))
      .filter(
        (entry): entry is [string, string] =>
          typeof entry[1] === 'string' && /(Id|Hash)$/.test(entry[0]) && entry[0] !== 'tokenHash',
      ),
  );

/** Records an entry. @throws DrillproofError `io.DISK_FULL`, `io.READ_ONLY`, `io.WRITE_FAILED` */
export type Audit = (entry: AuditEntry) => void;

/**
 * Records the entries that `mayRecord` allows for their actor. The next one of this actor has the number of the others as
 * `omitted`.
 */
export function boundAudit(audit: Audit, mayRecord: (actor: string) => boolean): Audit {
  const omitted = new Map<string, number>();
  return (entry) => {
    const { actor, facts } = entry;
    const earlier = omitted.get(actor);
    if (mayRecord(actor)) {
      audit({ ...entry, facts: { ...facts, ...defined({ omitted: earlier }) } });
      omitted.delete(actor);
    } else omitted.set(actor, (earlier ?? 0) + 1);
  };
}

/**
 * Creates an audit log in a file that only its owner can read, with one JSON document on each line. The file is opened for
 * each entry, so that it can be rotated by renaming it. Several processes can share one file.
 */
export const createAudit =
  (path: string, now: () => number): Audit =>
  ({ actor, action, facts, code }) => {
    const line = JSON.stringify({ time: isoTime(now()), actor, action, ...defined({ code }), ...facts });
    try {
      appendFileSync(path, `${line}\n`, { mode: 0o600 });
    } catch (cause) {
      throw ioError(cause, path, 'write');
    }
  };
