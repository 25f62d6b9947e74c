import { DrillproofError } from '../../errors.ts';
import { errnoOf } from '../fs-errors.ts';

// SQLSTATE (PostgreSQL, appendix A): the classes and codes that say that the server is away, or about to be.
const AWAY_STATES = ['08', '57P01', '57P02', '57P03', '53300', '25006'];
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * The error to throw for one of the database. What the server says is told only for its own codes, which speak of names
 * and rights; the address and the password are never told.
 */
export function queueError(cause: unknown, where: string): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  const state = errnoOf(cause);
  const spoken = state !== undefined && SQLSTATE.test(state) && /\d/.test(state);
  if (spoken && !AWAY_STATES.some((prefix) => state.startsWith(prefix)))
    return new DrillproofError('queue.REFUSED', `${where} refuses: ${firstLine(cause)} (${state})`, {
      cause,
    });
  const why = state === undefined ? '' : ` (${state})`;
  return new DrillproofError('queue.UNREACHABLE', `${where} cannot be reached${why}`, { cause });
}

const firstLine = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split('\n')[0] ?? '';
