import type { Code } from '../../codes/catalogue.ts';
import { DrillproofError, TransportError } from '../../errors.ts';
import type { Wanted } from '../plan.ts';
import type { FileState, MirrorRun } from '../run.ts';
import type { MirrorTarget } from '../sink.ts';
import { fetchFile } from './file.ts';

export type FailedFile = { readonly path: string; readonly code: Code; readonly message: string };

/** Connection failures in a row after which the server counts as unavailable. */
export const UNAVAILABLE_AFTER = 8;
export const isConnectionFailure = ({ code }: DrillproofError): boolean =>
  code === 'transport.UNREACHABLE' || code === 'transport.TIMEOUT';

// Failures of the target and of the credential.
const isFatal = ({ code }: DrillproofError): boolean =>
  code === 'control.UNAUTHENTICATED' || code.startsWith('io.');

/**
 * Fetches files in parallel. The failure of one does not stop the others; a failure that each of them would have (the
 * target, the credential, the caller's signal) ends the run and is thrown.
 */
export async function fetchAll(
  missing: readonly Wanted[],
  target: MirrorTarget,
  run: Pick<MirrorRun, 'client' | 'report' | 'signal' | 'concurrency' | 'pacer'>,
) {
  const stop = new AbortController();
  const { signal } = stop; // `AbortSignal.any` is slow
  const end = (): void => stop.abort(run.signal?.reason);
  if (run.signal?.aborted === true) end();
  run.signal?.addEventListener('abort', end);
  const states = new Map<string, FileState>();
  const failures: FailedFile[] = [];
  let fatal: { readonly cause: unknown } | undefined;
  let failuresInRow = 0;

  const context = { client: run.client, report: run.report, target, signal };
  const fetchInPlace = async (file: Wanted): Promise<FileState> => {
    const slot = await run.pacer.slot(signal);
    try {
      if (failuresInRow >= UNAVAILABLE_AFTER)
        throw new TransportError('transport.UNREACHABLE', 'the server is unavailable');
      run.report({ type: 'part-started', path: file.path, bytes: file.bytes });
      const state = await fetchFile(file, { ...context, slot });
      failuresInRow = 0;
      await target.share?.(file.path, file);
      return state;
    } finally {
      slot.leave('failed');
    }
  };
  const fetch = async (file: Wanted): Promise<void> => {
    const { path, bytes } = file;
    try {
      const isAdopted = (await target.adopt?.(path, file)) === true;
      if (isAdopted) run.report({ type: 'part-started', path, bytes });
      const state = isAdopted ? 'linked' : await fetchInPlace(file);
      states.set(path, state);
      run.report({ type: 'part-done', path, bytes, state });
    } catch (cause) {
      if (signal.aborted || !(cause instanceof DrillproofError) || isFatal(cause)) throw cause;
      failuresInRow = isConnectionFailure(cause) ? failuresInRow + 1 : 0;
      failures.push(toFailure(path, cause));
      run.report({ type: 'failed', ...toFailure(path, cause) });
    }
  };
  const queue = missing.values();
  const work = async (): Promise<void> => {
    try {
      for (const file of queue) await fetch(file);
    } catch (cause) {
      fatal ??= { cause };
      stop.abort(); // the errors of the other files follow from it
    }
  };
  const atOnce = run.concurrency + (target.commitsAtOnce ?? 0);
  await Promise.all(Array.from({ length: Math.min(atOnce, missing.length) }, work));
  run.signal?.removeEventListener('abort', end);
  if (fatal !== undefined) throw fatal.cause;
  return { states, failures };
}

/** A failure as errors, events and receipts contain it. */
export const toFailure = (path: string, { code, message }: DrillproofError): FailedFile => ({
  path,
  code,
  message,
});
