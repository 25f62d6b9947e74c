import type { ControlCode } from '../../contract/operations/errors.ts';
import type { Result } from '../../contract/operations/operations.ts';
import type { SessionExtendRequest, WorldSession } from '../../contract/resources/session.ts';
import { Refusal, notFound } from '../http/envelope.ts';
import { isOpenToAgents, nextVersion } from '../model/states.ts';
import type { HostedRunRow, Tx } from '../store/store.ts';
import { assertCurrent, type Change } from './handler.ts';
import { describeOperation, recordOperation } from './operations.ts';

type SessionRef = { readonly projectId: string; readonly sessionId: string };

export type ExtendFacts = {
  readonly session: WorldSession;
  readonly request: SessionExtendRequest;
  /** The time of admission, read while the session is locked. */
  readonly admittedAtMs: number;
  readonly maxTtlMs: number;
};

/**
 * Checks the rules of sessions.extend in their order (control API, sessions.extend).
 * @throws Refusal the code of the first broken rule
 */
export function assertExtendable({ session, request, admittedAtMs, maxTtlMs }: ExtendFacts): void {
  const { expectedLeaseGeneration, expectedVersion, ttlMs } = request;
  if (session.state === 'expired' || session.expiresAtMs <= admittedAtMs)
    throw new Refusal('control.SESSION_EXPIRED', 'the session has expired');
  if (session.state !== 'ready' || !isOpenToAgents(session))
    throw new Refusal('control.SESSION_NOT_READY', 'the session is not ready');
  if (session.leaseGeneration !== expectedLeaseGeneration)
    throw mismatchError('control.LEASE_GENERATION_MISMATCH', 'expectedLeaseGeneration');
  if (session.version !== expectedVersion) throw mismatchError('control.VERSION_MISMATCH', 'expectedVersion');
  if (admittedAtMs + ttlMs <= session.expiresAtMs) throw new Refusal('control.LIFETIME_NOT_LATER', NOT_LATER);
  if (ttlMs > maxTtlMs) throw new Refusal('control.ENTITLEMENT_EXCEEDED', TOO_LONG);
}

const NOT_LATER = 'the new deadline is not later than the current one';
const TOO_LONG = 'the lifetime is longer than the organization is entitled to';
const mismatchError = (code: ControlCode, member: string): Refusal =>
  new Refusal(code, `${member} does not match the session`);

async function moveDeadlines(tx: Tx, runs: readonly HostedRunRow[], expiresAtMs: number, nowMs: number) {
  for (const row of runs) {
    const { revision } = row.resource;
    const moved = { deadlineAtMs: expiresAtMs, revision: nextVersion(revision), updatedAtMs: nowMs };
    await tx.runs.update({ ...row, resource: { ...row.resource, ...moved } });
  }
}

/** Locks a session and its unfinished runs, and returns the function that extends them. */
export async function prepareExtension(
  tx: Tx,
  change: Change,
  { projectId, sessionId }: SessionRef,
  { request, maxTtlMs, now }: Pick<ExtendFacts, 'request' | 'maxTtlMs'> & { readonly now: () => number },
): Promise<() => Promise<Result<'sessions.extend'>>> {
  const [row, runs] = await Promise.all([
    tx.sessions.lock(projectId, sessionId),
    tx.runs.lockUnfinished(projectId, sessionId),
  ]);
  return async () => {
    if (row === undefined) throw notFound();
    assertCurrent(change, row.resource);
    const admittedAtMs = now();
    assertExtendable({ session: row.resource, request, admittedAtMs, maxTtlMs });
    const session: WorldSession = {
      ...row.resource,
      expiresAtMs: admittedAtMs + request.ttlMs,
      version: nextVersion(row.resource.version),
      updatedAtMs: admittedAtMs,
    };
    await tx.sessions.update({ ...row, resource: session });
    await moveDeadlines(tx, runs, session.expiresAtMs, admittedAtMs);
    const subject = { kind: 'session.extend', resourceType: 'session', resourceId: sessionId };
    const operation = await recordOperation(tx, describeOperation(change, subject), admittedAtMs);
    return { session, operation };
  };
}
