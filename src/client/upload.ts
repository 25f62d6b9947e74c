import { defined } from '../bytes/arguments.ts';
import { digestOf } from '../bytes/hash.ts';
import type { ZodMiniType } from 'zod/mini';
import { type Operation, operations, type Result } from '../contract/operations/operations.ts';
import { DrillproofError, hasCode } from '../errors.ts';
import { readFailure, readJson, exchange } from './http/exchange.ts';
import { createBackOff } from './http/call.ts';
import { ControlError, httpStatusOf } from './http/errors.ts';
import type { CallOptions, ClientSettings } from './options.ts';

type BuildUpload = Result<'builds.uploads.create'>;
type BuildAttempt = Result<'builds.attempts.read'>;

type SendOptions = Pick<CallOptions, 'signal' | 'onRetry'> & {
  /** The origin of upload addresses, if it is not that of the control plane: such as `https://bucket.example`. */
  readonly origin?: string;
};

/** Sends the archive of an upload, and resumes it where it was interrupted. */
export type SendUpload = (
  upload: BuildUpload,
  archive: Uint8Array,
  options?: SendOptions,
) => Promise<BuildAttempt>;

type Sending = {
  readonly upload: BuildUpload;
  readonly url: string;
  readonly archive: Uint8Array;
  readonly settings: ClientSettings;
  readonly signal: AbortSignal;
};

const readRow = operations['builds.uploads.read'];
const putRow = operations['builds.uploads.put'];
type Row<T> = Operation & { readonly success: { readonly schema: ZodMiniType<T> } };

// At most this many bytes are sent again after a connection fails.
const PIECE_BYTES = 1024 * 1024;
// A control plane refuses slower uploads (control API, builds.uploads.put).
const LEAST_BYTES_PER_MS = 10;

const invalid = (path: string, message: string): DrillproofError =>
  new DrillproofError('client.REQUEST_INVALID', `${path}: ${message}`, { path });

/** The address of an upload, which must have the origin that the caller expects. */
function addressOf({ uploadUrl }: BuildUpload, { baseUrl }: ClientSettings, origin?: string): string {
  const url = URL.canParse(uploadUrl, baseUrl) ? new URL(uploadUrl, baseUrl) : undefined;
  const expected = new URL(origin ?? baseUrl).origin;
  if (url?.origin === expected && url.username === '' && url.password === '') return url.href;
  throw invalid('/uploadUrl', `it does not begin with ${expected}`);
}

type Request = {
  readonly method: string;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
};

/** One request to the address, which is the credential: no token is sent. */
async function request<T>(
  row: Row<T>,
  { method, headers = {}, body }: Request,
  { upload, url, settings, signal }: Sending,
): Promise<T> {
  const headersMs = settings.timeouts.headersMs + (body?.length ?? 0) / LEAST_BYTES_PER_MS;
  const patient = { ...settings, timeouts: { ...settings.timeouts, headersMs } };
  const common = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': settings.userAgent,
  };
  const wire = { method, url, headers: { ...common, ...headers }, ...defined({ body: body?.slice() }) };
  const response = await exchange(wire, patient, signal);
  if (!response.ok) throw await readFailure(response, settings, signal);
  const { projectId, buildAttemptId } = upload.attempt;
  const expected = { row, schema: row.success.schema, input: { projectId, buildAttemptId } };
  return readJson(response, expected, settings, signal);
}

function putRange(sending: Sending, first: number, end: number): Promise<BuildAttempt> {
  const { upload, archive } = sending;
  const whole = first === 0 && end === archive.length;
  const range = whole ? undefined : `bytes ${first}-${end - 1}/${archive.length}`;
  const headers = { ...upload.headers, ...defined({ 'Content-Range': range }) };
  return request(putRow, { method: upload.method, headers, body: archive.subarray(first, end) }, sending);
}

// Answers of addresses that accept only complete archives.
const NO_PROGRESS: ReadonlySet<number | undefined> = new Set([400, 401, 403, 404, 405, 501]);

/** The number of stored bytes; `undefined` if the address does not report it. */
async function readProgress(sending: Sending): Promise<number | undefined> {
  try {
    return (await request(readRow, { method: 'GET' }, sending)).receivedBytes;
  } catch (failure) {
    const isOther = hasCode(failure, 'transport.RESPONSE_INVALID');
    if (isOther || NO_PROGRESS.has(httpStatusOf(failure))) return undefined;
    throw failure;
  }
}

/** Sends what is missing; `progressed` is called with each size that is stored. */
async function sendRest(
  sending: Sending,
  readAttempt: () => Promise<BuildAttempt>,
  progressed: (bytes: number) => void,
): Promise<BuildAttempt> {
  const { length } = sending.archive;
  const received = await readProgress(sending);
  if (received === undefined) return putRange(sending, 0, length);
  if (received >= length) return readAttempt();
  for (let at = received; ;) {
    progressed(at);
    const end = Math.min(at + PIECE_BYTES, length);
    const attempt = await putRange(sending, at, end);
    if (end === length) return attempt;
    at = end;
  }
}

/**
 * Sends an archive in pieces, and asks after each failure how much is stored. An address that does not report it gets the
 * archive in one request.
 */
export function createSendUpload(
  settings: ClientSettings,
  readAttempt: (upload: BuildUpload, how: Pick<CallOptions, 'signal'>) => Promise<BuildAttempt>,
): SendUpload {
  const backOff = createBackOff(settings);
  return async (upload, archive, { signal = new AbortController().signal, onRetry, origin } = {}) => {
    const { expectedBytes, expectedArtifactDigest } = upload.attempt;
    if (archive.length !== expectedBytes || digestOf(archive) !== expectedArtifactDigest)
      throw invalid('/archive', 'it is not the archive that the upload announced');
    const sending = { upload, url: addressOf(upload, settings, origin), archive, settings, signal };
    let stored = -1;
    for (let retries = 0; ; retries++) {
      const onProgress = (bytes: number): void => {
        if (bytes > stored) [stored, retries] = [bytes, 0];
      };
      try {
        return await sendRest(sending, () => readAttempt(upload, { signal }), onProgress);
      } catch (failure) {
        const isElsewhere =
          failure instanceof ControlError && failure.code === 'control.UPLOAD_OFFSET_MISMATCH';
        if (isElsewhere && retries < settings.retry.retries)
          await settings.sleep(settings.retry.baseDelayMs, signal);
        else await backOff(failure, retries, { signal, ...defined({ onRetry }) });
      }
    }
  };
}
