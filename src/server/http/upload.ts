import { type Bytes, defined } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { ControlError } from '../control-error.ts';

/** A body of bytes as it arrives; nothing of it is read before `bytes` is. */
export type Content = {
  readonly mediaType: string | null;
  readonly coding: string;
  /** The announced length; absent when the request is chunked. */
  readonly announcedBytes?: number;
  readonly bytes: () => Bytes;
};

/** A failure that leaves the rest of the body unread, so that the connection cannot be used again. */
const CLOSE = { headers: { Connection: 'close' } };

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
