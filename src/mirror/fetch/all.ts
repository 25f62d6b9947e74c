import type { Code } from '../../codes/index.ts';
import { DrillproofError, TransportError } from '../../errors.ts';
import type { FileState } from '../events.ts';
import { fetchFile, type FetchContext } from './file.ts';
import type { Wanted } from '../plan.ts';
import type { Run } from '../run.ts';
import type { MirrorTarget } from '../sink.ts';

export type Failure = { readonly path: string; readonly code: Code; readonly message: string };
export type Fetched = {
  readonly states: ReadonlyMap<string, FileState>;
  readonly failures: readonly Failure[];
};

/** So many files in a row that failed on the way, and the server is taken to be away. */
const AWAY_AFTER = 8;

/**
 * Fetches files in parallel. The failure of one does not stop the others; a failure that each of them would meet
 * (of the target, of the credential, the end by the caller) ends the run and is thrown.
 */
export async function fetchAll(
  missing: readonly Wanted[],
  target: MirrorTarget,
  run: Pick<Run, 'client' | 'tell' | 'signal' | 'concurrency' | 'pacer'>,
): Promise<Fetched> {
  const stop = new AbortController();
  const end = (): void => stop.abort(run.signal?.reason);
  run.signal?.addEventListener('abort', end, { once: true });
  if (run.signal?.aborted === true) end();
  const context: QueueContext = { ...run, target, signal: stop.signal };
  const queue = new Queue(missing, context);
  try {
    const workers = Array.from({ length: Math.min(run.concurrency, missing.length) }, () =>
      queue.work().catch((cause: unknown) => {
        stop.abort(); // the others end, and what they say then is only an echo
        throw cause;
      }),
    );
    const outcomes = await Promise.allSettled(workers);
    const [first] = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (first !== undefined) throw queue.fatal ?? first.reason;
    return queue;
  } finally {
    run.signal?.removeEventListener('abort', end);
  }
}

type QueueContext = Omit<FetchContext, 'place'> & Pick<Run, 'pacer'>;

class Queue implements Fetched {
  readonly states = new Map<string, FileState>();
  readonly failures: Failure[] = [];
  /** The first failure that ended the run. */
  fatal: unknown;
  private readonly files: Iterator<Wanted>;
  private readonly context: QueueContext;
  private awayInRow = 0;

  constructor(files: readonly Wanted[], context: QueueContext) {
    this.files = files.values();
    this.context = context;
  }

  async work(): Promise<void> {
    for (let next = this.files.next(); next.done !== true; next = this.files.next()) {
      await this.fetch(next.value);
    }
  }

  /** From bytes at hand, else from the source; it keeps a place among all that is fetched. */
  private async bring(file: Wanted): Promise<FileState> {
    const { target, pacer, signal } = this.context;
    if ((await target.adopt?.(file.path, file)) === true) return 'linked';
    const place = await pacer.place(signal);
    let outcome: 'done' | 'failed' = 'failed';
    try {
      const state = await fetchFile(file, { ...this.context, place });
      outcome = 'done';
      await target.share?.(file.path, file);
      return state;
    } finally {
      place.leave(outcome);
    }
  }

  private async fetch(file: Wanted): Promise<void> {
    const { path, bytes } = file;
    const { tell, signal } = this.context;
    try {
      if (this.awayInRow >= AWAY_AFTER)
        throw new TransportError('transport.UNREACHABLE', 'the server is away');
      tell({ type: 'part-started', path, bytes });
      const state = await this.bring(file);
      this.awayInRow = 0;
      this.states.set(path, state);
      tell({ type: 'part-done', path, bytes, state });
    } catch (cause) {
      if (signal.aborted || !(cause instanceof DrillproofError) || isFatal(cause)) {
        this.fatal ??= cause;
        throw cause;
      }
      this.awayInRow = AWAY.has(cause.code) ? this.awayInRow + 1 : 0;
      this.failures.push(failureOf(path, cause));
      tell({ type: 'failed', ...failureOf(path, cause) });
    }
  }
}

/** A failure as it stands in an error, an event and a receipt. */
export const failureOf = (path: string, { code, message }: DrillproofError): Failure => ({
  path,
  code,
  message,
});

const AWAY: ReadonlySet<Code> = new Set<Code>(['transport.UNREACHABLE', 'transport.TIMEOUT']);
const FATAL: ReadonlySet<Code> = new Set<Code>(['control.UNAUTHENTICATED']);
const isFatal = ({ code }: DrillproofError): boolean => FATAL.has(code) || code.startsWith('io.');
