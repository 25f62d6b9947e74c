import { type Digest, createDigester, digestOf } from '../../bytes/hash.ts';
import type { Code } from '../../codes/catalogue.ts';
import type { Download } from '../../client/http/download.ts';
import { httpStatusOf } from '../../client/http/errors.ts';
import { DrillproofError, TransportError } from '../../errors.ts';
import type { Slot } from '../pace.ts';
import type { Wanted } from '../plan.ts';
import { callOptions, type FileState, type MirrorRun } from '../run.ts';
import type { MirrorTarget, PartialFile } from '../sink.ts';

export type FetchContext = Pick<MirrorRun, 'client' | 'report'> & {
  readonly target: MirrorTarget;
  readonly signal: AbortSignal;
  readonly slot: Slot;
};

/** A file in progress: the received bytes and their digest so far. */
type Transfer = {
  readonly wanted: Wanted;
  readonly partial: PartialFile;
  sum: ReturnType<typeof createFileDigester>;
  etag: string | undefined;
  resumed: boolean;
};

/** Digests a file; one that arrives in a single chunk is hashed in one call. */
function createFileDigester(file: Wanted) {
  let bytes = 0;
  let whole: Digest | undefined;
  let sum: ReturnType<typeof createDigester> | undefined;
  return {
    update(chunk: Uint8Array): void {
      if (bytes === 0 && chunk.length === file.bytes) whole = digestOf(chunk);
      else (sum ??= createDigester()).update(chunk);
      bytes += chunk.length;
    },
    get bytes() {
      return bytes;
    },
    digest: (): Digest => whole ?? (sum ?? createDigester()).digest(),
  };
}

/** New bytes after which the count of retries starts again. */
const PROGRESS_BYTES = 1024 * 1024;

/**
 * Fetches one file, resuming after an earlier run or an interruption, and gives it its final name only if all its bytes
 * match the digest of the manifest. Bytes that cannot match are discarded and fetched once more.
 * @throws DrillproofError `part.DIGEST_MISMATCH`, `part.BYTES_MISMATCH` (likewise `local-report.…`),
 *   `transport.BODY_TOO_LONG`, `transport.RANGE_INVALID`, and what the client and the target throw
 */
export async function fetchFile(wanted: Wanted, context: FetchContext): Promise<FileState> {
  const partial = await context.target.partial(wanted.path);
  try {
    const transfer = await resume(wanted, partial, context.signal);
    const { path, bytes } = wanted;
    if (transfer.resumed) context.report({ type: 'resumed', path, received: transfer.sum.bytes, bytes });
    for (let restarts = 0; ; restarts++) {
      try {
        await receive(transfer, context);
        assertDigest(transfer);
        if (context.target.commitsAtOnce !== undefined) context.slot.leave('done');
        await partial.commit();
        context.slot.leave('done');
        return transfer.resumed ? 'resumed' : 'fetched';
      } catch (cause) {
        if (context.signal.aborted || !isDamaged(cause)) throw cause;
        await startOver(transfer, undefined);
        if (restarts > 0) throw cause;
        context.report({ type: 'retry', path: wanted.path, error: cause, delayMs: 0 });
      }
    }
  } finally {
    await partial.close();
  }
}

// The bytes of an earlier run are hashed again. They are useful only with a strong entity tag, or if the file is complete.
async function resume(wanted: Wanted, partial: PartialFile, signal: AbortSignal): Promise<Transfer> {
  const transfer: Transfer = {
    wanted,
    partial,
    sum: createFileDigester(wanted),
    etag: partial.etag,
    resumed: false,
  };
  const { bytes, etag } = partial;
  if (bytes > wanted.bytes || (etag === undefined && bytes < wanted.bytes)) {
    if (bytes > 0) await startOver(transfer, undefined);
    return transfer;
  }
  for await (const chunk of partial.read()) {
    signal.throwIfAborted();
    transfer.sum.update(chunk);
  }
  transfer.resumed = bytes > 0;
  return transfer;
}

async function startOver(transfer: Transfer, etag: string | undefined): Promise<void> {
  await transfer.partial.restart(etag);
  transfer.sum = createFileDigester(transfer.wanted);
  transfer.etag = etag;
  transfer.resumed = false;
}

/** Fetches the remaining bytes, with as many answers as necessary. */
async function receive(transfer: Transfer, context: FetchContext): Promise<void> {
  const { wanted } = transfer;
  const { client, slot } = context;
  let furthest = transfer.sum.bytes;
  for (let retries = 0; transfer.sum.bytes < wanted.bytes;) {
    const download = await request(transfer, context);
    try {
      await drain(download, transfer, context);
      if (transfer.sum.bytes < wanted.bytes) throw mismatch(wanted, 'BYTES_MISMATCH');
    } catch (cause) {
      // Bytes that are sent again after a restart are not progress. Otherwise a source without ranges is retried forever.
      if (transfer.resumed && transfer.sum.bytes - furthest >= PROGRESS_BYTES) retries = 0;
      furthest = Math.max(furthest, transfer.sum.bytes);
      slot.failed(cause, 0);
      await client.backOff(cause, retries++, callOptions(context, wanted.path, slot));
    }
  }
}

// The client has already retried temporary failures before the first byte.
async function request(transfer: Transfer, context: FetchContext): Promise<Download> {
  const { wanted, sum, etag } = transfer;
  const download = await wanted.open({
    ...callOptions(context, wanted.path, context.slot),
    ...(sum.bytes > 0 && etag !== undefined && { range: { from: sum.bytes }, ifRange: etag }),
  });
  try {
    assertContinues(transfer, download);
    return download;
  } catch (cause) {
    await download.cancel();
    throw cause;
  }
}

/** A range is appended only with the same strong entity tag and the declared size. */
function assertContinues(transfer: Transfer, { status, etag, totalBytes }: Download): void {
  if (status !== 206) return;
  if (etag !== transfer.etag) throw rangeInvalid('its entity tag does not match');
  if (totalBytes !== undefined && totalBytes !== transfer.wanted.bytes)
    throw rangeInvalid('the size of the file does not match');
  transfer.resumed = true;
}

async function drain(
  { body, status, etag }: Download,
  transfer: Transfer,
  { report, slot, signal }: FetchContext,
): Promise<void> {
  const { partial } = transfer;
  const { path, bytes } = transfer.wanted;
  let isNew = status !== 206; // a full answer, even to a range request, starts again
  for await (const chunk of body) {
    signal.throwIfAborted();
    // A file that arrives in one chunk is never resumed, so its tag is not stored.
    const isWhole = chunk.length === bytes;
    if (isNew && (!isWhole || transfer.sum.bytes > 0)) await startOver(transfer, isWhole ? undefined : etag);
    isNew = false;
    const { sum } = transfer;
    if (sum.bytes + chunk.length > bytes) {
      const message = `${path} is longer than its ${bytes} bytes`;
      throw new TransportError('transport.BODY_TOO_LONG', message, { path });
    }
    await partial.append(chunk);
    sum.update(chunk);
    report({ type: 'bytes', path, received: sum.bytes, bytes });
    await slot.received(chunk.length, signal);
  }
}

function assertDigest({ wanted, sum }: Transfer): void {
  if (sum.digest() !== wanted.digest) throw mismatch(wanted, 'DIGEST_MISMATCH');
}

const DAMAGED: ReadonlySet<Code> = new Set<Code>([
  'part.DIGEST_MISMATCH',
  'part.BYTES_MISMATCH',
  'local-report.DIGEST_MISMATCH',
  'local-report.BYTES_MISMATCH',
  'transport.BODY_TOO_LONG',
  'transport.RANGE_INVALID',
]);

/** Checks if a failure shows that the received bytes are wrong, so that the file must be started again. */
const isDamaged = (cause: unknown): boolean =>
  httpStatusOf(cause) === 416 || (cause instanceof DrillproofError && DAMAGED.has(cause.code));

function mismatch(
  { kind, path, bytes }: Wanted,
  what: 'DIGEST_MISMATCH' | 'BYTES_MISMATCH',
): DrillproofError {
  const isShort = what === 'BYTES_MISMATCH';
  const problem = isShort ? `ends before its ${bytes} bytes` : 'does not match the digest in the manifest';
  return new DrillproofError(`${kind}.${what}`, `${path} ${problem}`, { path });
}
const rangeInvalid = (why: string): TransportError =>
  new TransportError('transport.RANGE_INVALID', `the rest of the file cannot be appended: ${why}`);
