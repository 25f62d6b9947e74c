import { setTimeout as sleep } from 'node:timers/promises';
import { DrillproofError } from '../../errors.ts';
import { errnoOf } from '../fs-errors.ts';

/** A database; `where` names it in messages, without user, password and parameters. */
export type QueueAddress = { readonly url: string; readonly where: string };

/** Reads `postgres://…`. An error never has the value, which may contain a password. */
export function parseQueueAddress(text: string): QueueAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw new DrillproofError(
      'usage.INVALID',
      'the address of the queue is not of the form postgres://host/database',
    );
  return { url: text, where: `postgres://${url.host}${url.pathname}` };
}

/** The package of the queue, which is needed only to share work. */
export type Engine = typeof import('pg-boss');
export type LoadEngine = () => Promise<Engine>;

const ABSENT = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/** Loads pg-boss, an optional dependency. */
export async function loadEngine(load?: LoadEngine): Promise<Engine> {
  try {
    // The import is inside `try`, so that bundlers accept that it is not installed.
    return await (load?.() ?? import('pg-boss'));
  } catch (cause) {
    if (!ABSENT.has(errnoOf(cause) ?? '')) throw cause;
    const message = 'a queue needs the package pg-boss, which is not installed';
    throw new DrillproofError('io.PACKAGE_MISSING', message, { cause });
  }
}

// SQLSTATE (PostgreSQL, appendix A): the classes and codes of a server that is unavailable, or about to be.
const UNAVAILABLE_STATES = ['08', '57P01', '57P02', '57P03', '53300', '25006'];
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * The error to throw for an error of the database. The text of the server is included only for its own codes, which
 * concern names and permissions; the address and the password never are.
 */
export function queueError(cause: unknown, where: string): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  const state = errnoOf(cause);
  const isServerCode = state !== undefined && SQLSTATE.test(state) && /\d/.test(state);
  if (isServerCode && !UNAVAILABLE_STATES.some((prefix) => state.startsWith(prefix))) {
    const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    return new DrillproofError('queue.REFUSED', `${where} refuses: ${line} (${state})`, { cause });
  }
  const why = state === undefined ? '' : ` (${state})`;
  return new DrillproofError('queue.UNREACHABLE', `${where} cannot be reached${why}`, { cause });
}

/** A database restarts within their sum. */
const PAUSES_MS: readonly number[] = [500, 1_000, 2_000, 4_000];

/** Repeats a call while the database is unavailable, for a few seconds. */
export async function retryUnreachable<T>(
  act: () => Promise<T>,
  pausesMs: readonly number[] = PAUSES_MS,
): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof DrillproofError) || error.code !== 'queue.UNREACHABLE') throw error;
      await sleep(pauseMs);
    }
  }
  return act();
}
