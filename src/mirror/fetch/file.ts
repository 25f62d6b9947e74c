import { digester } from '../../bytes/index.ts';
import type { Code } from '../../codes/index.ts';
import { type Download, statusOf } from '../../client/index.ts';
import { DrillproofError, TransportError } from '../../errors.ts';
import type { FileState } from '../events.ts';
import type { Place } from './pace.ts';
import type { Wanted } from '../plan.ts';
import type { Run } from '../run.ts';
import type { MirrorTarget, PartialFile } from '../sink.ts';

/** What fetching a file needs of its run. */
export type FetchContext = Pick<Run, 'client' | 'tell'> & {
  readonly target: MirrorTarget;
  readonly signal: AbortSignal;
  readonly place: Place;
};

/** A file on its way: the bytes that are here, and what they hash to so far. */
type Transfer = {
  readonly wanted: Wanted;
  readonly partial: PartialFile;
  sum: ReturnType<typeof digester>;
  etag: string | undefined;
  joined: boolean;
};

/** So many bytes further than ever before, and the count of retries begins anew. */
const PROGRESS_BYTES = 1024 * 1024;

/**
 * Fetches one file, going on where an earlier run or an interruption stopped, and gives it its final name only when
 * all its bytes hash to the digest of the manifest. Bytes that cannot be right are discarded and fetched once more.
 * @throws DrillproofError `part.DIGEST_MISMATCH`, `part.BYTES_MISMATCH` (likewise `local-report.…`),
 *   `transport.BODY_TOO_LONG`, `transport.RANGE_INVALID`, and what the client and the target throw
 */
export async function fetchFile(wanted: Wanted, context: FetchContext): Promise<FileState> {
  const partial = await context.target.partial(wanted.path);
  try {
    const transfer = await takeUp(wanted, partial, context.signal);
    const { path, bytes } = wanted;
    if (transfer.joined) context.tell({ type: 'resumed', path, received: transfer.sum.bytes, bytes });
    for (let restarts = 0; ; restarts++) {
      try {
        await receive(transfer, context);
        prove(transfer);
        await partial.commit();
        return transfer.joined ? 'resumed' : 'fetched';
      } catch (cause) {
        if (context.signal.aborted || !isSpoilt(cause)) throw cause;
        await startOver(transfer, undefined);
        if (restarts > 0) throw cause;
        context.tell({ type: 'retry', path: wanted.path, error: cause, delayMs: 0 });
      }
    }
  } finally {
    await partial.close();
  }
}

// Bytes of an earlier run are hashed again; they are of use only under a strong entity tag, or when all are here.
async function takeUp(wanted: Wanted, partial: PartialFile, signal: AbortSignal): Promise<Transfer> {
  const transfer: Transfer = { wanted, partial, sum: digester(), etag: partial.etag, joined: false };
  const { bytes, etag } = partial;
  if (bytes > wanted.bytes || (etag === undefined && bytes < wanted.bytes)) {
    if (bytes > 0) await startOver(transfer, undefined);
    return transfer;
  }
  for await (const chunk of partial.read()) {
    signal.throwIfAborted();
    transfer.sum.update(chunk);
  }
  transfer.joined = bytes > 0;
  return transfer;
}

async function startOver(transfer: Transfer, etag: string | undefined): Promise<void> {
  await transfer.partial.restart(etag);
  transfer.sum = digester();
  transfer.etag = etag;
  transfer.joined = false;
}

/** Brings the rest of the bytes, over as many answers as it takes. */
async function receive(transfer: Transfer, context: FetchContext): Promise<void> {
  const { wanted } = transfer;
  const { client, tell, signal, place } = context;
  let furthest = transfer.sum.bytes;
  for (let retries = 0; transfer.sum.bytes < wanted.bytes;) {
    const download = await ask(transfer, context);
    try {
      await drain(download, transfer, context);
      if (transfer.sum.bytes < wanted.bytes) throw mismatch(wanted, 'BYTES_MISMATCH');
    } catch (cause) {
      // Bytes that come again after a new beginning are no progress, or a source that has no ranges would be asked for ever.
      if (transfer.joined && transfer.sum.bytes - furthest >= PROGRESS_BYTES) retries = 0;
      furthest = Math.max(furthest, transfer.sum.bytes);
      place.failed(cause, 0);
      await client.backOff(cause, retries++, {
        signal,
        onRetry: ({ error, delayMs }) => tell({ type: 'retry', path: wanted.path, error, delayMs }),
      });
    }
  }
}

// The client has already retried what may pass before the first byte.
async function ask(transfer: Transfer, { signal, tell, place }: FetchContext): Promise<Download> {
  const { wanted, sum, etag } = transfer;
  const onRetry = ({ error, delayMs }: { error: unknown; delayMs: number }): void =>
    tell({ type: 'retry', path: wanted.path, error, delayMs });
  const joinable = sum.bytes > 0 && etag !== undefined;
  const download = await wanted.open({
    signal,
    onRetry,
    pace: place,
    ...(joinable && { range: { from: sum.bytes }, ifRange: etag }),
  });
  try {
    await join(transfer, download);
    return download;
  } catch (cause) {
    await download.cancel();
    throw cause;
  }
}

/**
 * Decides where the bytes of an answer belong. A range goes on only under the same strong entity tag and the declared
 * size; the whole, though a range was asked for, begins anew.
 */
async function join(transfer: Transfer, { status, etag, totalBytes }: Download): Promise<void> {
  if (status !== 206) return startOver(transfer, etag);
  if (etag !== transfer.etag) throw notOurs('it is of another version');
  if (totalBytes !== undefined && totalBytes !== transfer.wanted.bytes)
    throw notOurs('the whole has another size');
  transfer.joined = true;
}

async function drain({ body }: Download, transfer: Transfer, context: FetchContext): Promise<void> {
  const { wanted, partial, sum } = transfer;
  const { path, bytes } = wanted;
  const { tell, place, signal } = context;
  for await (const chunk of body) {
    signal.throwIfAborted();
    if (sum.bytes + chunk.length > bytes) {
      throw new TransportError('transport.BODY_TOO_LONG', `${path} goes on past its ${bytes} bytes`, {
        path,
      });
    }
    await partial.append(chunk);
    sum.update(chunk);
    tell({ type: 'bytes', path, received: sum.bytes, bytes });
    await place.received(chunk.length, signal);
  }
}

function prove({ wanted, sum }: Transfer): void {
  if (sum.digest() !== wanted.digest) throw mismatch(wanted, 'DIGEST_MISMATCH');
}

const SPOILT: ReadonlySet<Code> = new Set<Code>([
  'part.DIGEST_MISMATCH',
  'part.BYTES_MISMATCH',
  'local-report.DIGEST_MISMATCH',
  'local-report.BYTES_MISMATCH',
  'transport.BODY_TOO_LONG',
  'transport.RANGE_INVALID',
]);

/** Whether a failure says that the bytes here cannot become the file, so that only a new beginning helps. */
const isSpoilt = (cause: unknown): boolean =>
  statusOf(cause) === 416 || (cause instanceof DrillproofError && SPOILT.has(cause.code));

const mismatch = (
  { kind, path, bytes }: Wanted,
  what: 'DIGEST_MISMATCH' | 'BYTES_MISMATCH',
): DrillproofError =>
  new DrillproofError(
    `${kind}.${what}`,
    what === 'BYTES_MISMATCH'
      ? `${path} ends before its ${bytes} bytes`
      : `${path} has another digest than listed`,
    { path },
  );
const notOurs = (why: string): TransportError =>
  new TransportError('transport.RANGE_INVALID', `the rest of the file cannot be joined: ${why}`);
