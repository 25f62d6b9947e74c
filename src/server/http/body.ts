import { type JsonValue, parseJson } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { ControlError } from '../control-error.ts';

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

const tooLarge = (maxBytes: number): ControlError =>
  new ControlError('control.PAYLOAD_TOO_LARGE', `the body has more than ${maxBytes} bytes`, {
    headers: { Connection: 'close' }, // the rest of it is not read
  });

/** At most `maxBytes` of the body, counted as it streams: the announced length is not trusted. */
async function readBounded(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = request.body?.getReader();
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    bytes += read.value.length;
    if (bytes > maxBytes) {
      await reader?.cancel().catch(() => undefined); // the request is refused even if the sender does not receive the answer
      throw tooLarge(maxBytes);
    }
    chunks.push(read.value);
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
