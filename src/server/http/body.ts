import { type Bytes, defined, type JsonValue, parseJson } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { ControlError } from './envelope.ts';

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;

function assertMediaType(headers: Headers): void {
  const coding = headers.get('content-encoding') ?? 'identity';
  if (!JSON_TYPE.test(headers.get('content-type') ?? '') || coding.toLowerCase() !== 'identity') {
    throw new ControlError(
      'control.UNSUPPORTED_MEDIA_TYPE',
      'the body must be application/json, without a coding',
    );
  }
}

/** A failure that leaves the rest of the body unread, so that the connection cannot be used again. */
const CLOSE = { headers: { Connection: 'close' } };

const tooLarge = (maxBytes: number): ControlError =>
  new ControlError('control.PAYLOAD_TOO_LARGE', `the body has more than ${maxBytes} bytes`, {
    ...CLOSE,
  });

/** At most `maxBytes` of the body, counted as it streams: the announced length is not trusted. */
async function readBounded(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of piecesOf(request)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The JSON body of a request, read within a limit and parsed strictly.
 * @throws ControlError `control.UNSUPPORTED_MEDIA_TYPE`, `control.PAYLOAD_TOO_LARGE`, `control.REQUEST_INVALID`
 */
export async function readJsonBody(request: Request, maxBytes: number): Promise<JsonValue> {
  assertMediaType(request.headers);
  const bytes = await readBounded(request, maxBytes);
  try {
    return parseJson(bytes, { maxBytes });
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const issue = { path: '/body', code: cause.code, message: cause.message };
    throw new ControlError('control.REQUEST_INVALID', 'the body is not strict JSON', {
      issues: [issue],
      cause,
    });
  }
}

/** A body of bytes as it arrives; nothing of it is read before `bytes` is. */
export type Content = {
  readonly mediaType: string | null;
  readonly coding: string;
  /** The announced length; absent when the request is chunked. */
  readonly announcedBytes?: number;
  readonly bytes: () => Bytes;
};

async function* piecesOf(request: Request): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader();
  try {
    for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
      yield read.value;
    }
  } catch (cause) {
    throw new ControlError('control.REQUEST_INVALID', 'the body ended before its end', { cause, ...CLOSE });
  } finally {
    await reader?.cancel().catch(() => undefined); // the sender may have disconnected
  }
}

/** @param onRead called before the first byte is asked for: a client may be waiting for leave to send */
export function contentOf(request: Request, onRead: () => void): Content {
  const length = request.headers.get('content-length');
  return {
    mediaType: request.headers.get('content-type'),
    coding: request.headers.get('content-encoding') ?? 'identity',
    ...defined({ announcedBytes: length === null ? undefined : Number(length) }),
    bytes: () => {
      onRead();
      return piecesOf(request);
    },
  };
}

/** The refusal of a body that is not what was announced, wherever it was seen. */
export function refusedUpload(error: unknown): unknown {
  if (!(error instanceof DrillproofError) || error.code !== 'control.UPLOAD_MISMATCH') return error;
  const { message, details } = error;
  return new ControlError('control.UPLOAD_MISMATCH', message, {
    ...defined({ details }),
    ...CLOSE,
  });
}

/**
 * What can be refused of a body before any of it is read.
 * @throws ControlError `control.UNSUPPORTED_MEDIA_TYPE`, `control.UPLOAD_MISMATCH`
 */
export function assertContent(content: Content, expected: { mediaType: string; bytes: number }): void {
  const { mediaType, coding, announcedBytes = expected.bytes } = content;
  if (mediaType?.toLowerCase() !== expected.mediaType || coding.toLowerCase() !== 'identity') {
    const message = `the body must be ${expected.mediaType}, without a coding`;
    throw new ControlError('control.UNSUPPORTED_MEDIA_TYPE', message, CLOSE);
  }
  if (announcedBytes !== expected.bytes) {
    throw new ControlError(
      'control.UPLOAD_MISMATCH',
      `bytes: expected ${expected.bytes}, got ${announcedBytes}`,
      { details: { expected: expected.bytes, actual: announcedBytes }, ...CLOSE },
    );
  }
}
