import type { Bytes } from '../../bytes/platform.ts';
import { collectBytes } from '../../bytes/async.ts';
import { defined } from '../../bytes/arguments.ts';
import { type JsonValue, parseJson } from '../../bytes/json/parse.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { Refusal } from './envelope.ts';
import type { Owner } from './rate-limit.ts';
import type { HttpRequest } from './request.ts';

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;

function assertMediaType({ header }: HttpRequest): void {
  const coding = header('content-encoding') ?? 'identity';
  if (!JSON_TYPE.test(header('content-type') ?? '') || coding.toLowerCase() !== 'identity') {
    throw new Refusal(
      'control.UNSUPPORTED_MEDIA_TYPE',
      'the body must be application/json, without a coding',
    );
  }
}

export type BodyPace = {
  readonly leftMs: () => number;
  readonly received: (bytes: number) => void;
};

/** The pace of a body, whether it is complete when it ends, and the signal that its rest cannot be read. */
export type Arrival = BodyPace & { readonly isWhole: () => boolean; readonly cut: AbortSignal };

const cuts = new WeakMap<object, AbortController>();

/**
 * Returns the controller that aborts, with the refusal as its reason, when the rest of a body cannot be read: its client
 * closed its half of the connection, or sent a malformed chunk. Ending the request itself would make Node close the other
 * half too, before the client is answered.
 */
export function cutOf(request: object): AbortController {
  const cut = cuts.get(request) ?? new AbortController();
  cuts.set(request, cut);
  return cut;
}

// Bytes that arrived before the end are read first.
const CUT_MS = 100;

/**
 * Limits a body to `bytesPerSecond` or faster, with pauses of at most `graceMs`; faster bytes do not allow a longer
 * pause. With 0 bytes per second, the whole body must arrive within `graceMs`.
 */
export function createPace(
  { graceMs, bytesPerSecond }: { readonly graceMs: number; readonly bytesPerSecond: number },
  now: () => number,
): BodyPace {
  let untilMs = now() + graceMs;
  return {
    leftMs: () => untilMs - now(),
    received(bytes) {
      if (bytesPerSecond > 0) untilMs = Math.min(untilMs + (bytes * 1000) / bytesPerSecond, now() + graceMs);
    },
  };
}

/** For failures that leave the rest of the body unread, so that the connection cannot be used again. */
export const CLOSE = { headers: { Connection: 'close' } };

const slowError = (): Refusal => new Refusal('control.REQUEST_TIMEOUT', 'the body arrives too slowly', CLOSE);

const ignore = (): void => undefined;

async function readPiece<T>(read: () => Promise<T>, pace: Arrival): Promise<T> {
  const leftMs = pace.leftMs();
  if (leftMs <= 0) throw slowError();
  const timers: NodeJS.Timeout[] = [];
  let end = ignore;
  const late = new Promise<never>((_, reject) => {
    timers.push(setTimeout(() => reject(slowError()), leftMs));
    end = () => void timers.push(setTimeout(() => reject(pace.cut.reason), CUT_MS));
  });
  if (pace.cut.aborted) end();
  else pace.cut.addEventListener('abort', end);
  try {
    return await Promise.race([read(), late]);
  } finally {
    pace.cut.removeEventListener('abort', end);
    for (const timer of timers) clearTimeout(timer);
  }
}

const sizeError = (maxBytes: number): Refusal =>
  new Refusal('control.PAYLOAD_TOO_LARGE', `the body has more than ${maxBytes} bytes`, CLOSE);

/** Reads at most `maxBytes`, counted as they arrive: the announced length is not trusted. */
async function readBounded(request: HttpRequest, maxBytes: number, arrival: Arrival): Promise<Uint8Array> {
  if (Number(request.header('content-length') ?? 0) > maxBytes) throw sizeError(maxBytes);
  return collectBytes(streamPieces(request, arrival), maxBytes, sizeError);
}

/** Reads the JSON body of a request within a limit and parses it strictly. */
export async function readJsonBody(
  request: HttpRequest,
  maxBytes: number,
  arrival: Arrival,
): Promise<JsonValue> {
  assertMediaType(request);
  const bytes = await readBounded(request, maxBytes, arrival);
  try {
    return parseJson(bytes, { maxBytes });
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const issues = [{ path: '/body', code: cause.code, message: cause.message }];
    throw new Refusal('control.REQUEST_INVALID', 'the body is not strict JSON', { issues, cause });
  }
}

const earlyEndError = (cause?: unknown): Refusal =>
  new Refusal('control.REQUEST_INVALID', 'the body ended early', { cause, ...CLOSE });

async function* streamPieces({ body }: HttpRequest, arrival: Arrival): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const value = await readPiece(body.read, arrival);
      if (value === undefined) {
        if (!arrival.isWhole()) throw earlyEndError();
        return;
      }
      arrival.received(value.length);
      yield value;
    }
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw earlyEndError(cause);
  } finally {
    body.cancel();
  }
}

/** A body of bytes, which is not read before `bytes` is called. */
export type Content = ReturnType<typeof describeContent>;

type ContentUse = {
  /** Counts the upload among those of its owner. @throws Refusal `control.RATE_LIMITED`, `control.UNAVAILABLE` */
  readonly admit: (owner: Owner) => void;
  /** Called before the first read: a client may be waiting for 100 Continue. */
  readonly onRead: () => void;
  readonly arrival: () => Arrival;
};

export function describeContent(request: HttpRequest, { admit, onRead, arrival }: ContentUse) {
  const { header } = request;
  const length = header('content-length');
  return {
    mediaType: header('content-type'),
    coding: header('content-encoding') ?? 'identity',
    /** Absent when the request is chunked. */
    announcedBytes: length === undefined ? undefined : Number(length),
    range: header('content-range'),
    admit,
    bytes: (): Bytes => {
      onRead();
      return streamPieces(request, arrival());
    },
  };
}

export function toUploadError(error: unknown): unknown {
  if (!hasCode(error, 'control.UPLOAD_MISMATCH')) return error;
  const { message, details } = error;
  return new Refusal('control.UPLOAD_MISMATCH', message, { ...defined({ details }), ...CLOSE });
}

/** Checks the headers of a body before it is read. */
export function assertContent(content: Content, expected: { mediaType: string; bytes: number }): void {
  const { mediaType, coding, announcedBytes = expected.bytes } = content;
  if (mediaType?.toLowerCase() !== expected.mediaType || coding.toLowerCase() !== 'identity') {
    const message = `the body must be ${expected.mediaType}, without a coding`;
    throw new Refusal('control.UNSUPPORTED_MEDIA_TYPE', message, CLOSE);
  }
  if (announcedBytes !== expected.bytes) throw sizeMismatch(expected.bytes, announcedBytes);
}

export const sizeMismatch = (expected: number, actual: number): Refusal =>
  new Refusal('control.UPLOAD_MISMATCH', `bytes: expected ${expected}, got ${actual}`, {
    details: { expected, actual },
    ...CLOSE,
  });

export type Span = { readonly first: number; readonly end: number };

const RANGE = /^bytes ([0-9]{1,16})-([0-9]{1,16})\/([0-9]{1,16})$/i;

/**
 * Parses the range of `bytes` bytes that a body has; without Content-Range it has all of them.
 * @throws Refusal `control.REQUEST_INVALID`; `control.UPLOAD_MISMATCH` for another total
 */
export function parseSpan({ range }: Content, bytes: number): Span {
  if (range === undefined) return { first: 0, end: bytes };
  const [, first, last, total] = (RANGE.exec(range) ?? []).map(Number);
  if (first === undefined || last === undefined || total === undefined || first > last || last >= total) {
    const message = 'must be bytes FIRST-LAST/TOTAL';
    const issues = [{ path: '/headers/content-range', code: 'invalid_format', message }];
    const context = { issues, ...CLOSE };
    throw new Refusal('control.REQUEST_INVALID', 'the header Content-Range is not valid', context);
  }
  if (total !== bytes) throw sizeMismatch(bytes, total);
  return { first, end: last + 1 };
}
