import type { ControlCode, Result, SessionExtendRequest, WorldSession } from '../../contract/index.ts';
import { ControlError, notFound } from '../http/envelope.ts';
import { isOpenToAgents } from '../states.ts';
import type { HostedRunRow, Tx } from '../store/store.ts';
import { assertCurrent, type Change } from './handler.ts';
import { nextVersion, describeOperation, recordOperation } from './operations.ts';

type SessionRef = { readonly projectId: string; readonly sessionId: string };

export type ExtendFacts = {
  readonly session: WorldSession;
  readonly request: SessionExtendRequest;
  /** The time of admission, read while the session is locked. */
  readonly admittedAtMs: number;
  readonly maxTtlMs: number;
};

type Rule = {
  readonly code: ControlCode;
  readonly message: string;
  readonly breaks: (facts: ExtendFacts) => boolean;
};

/** The rules of sessions.extend in the order in which they are checked (control API, sessions.extend). */
const RULES: readonly Rule[] = [
  {
    code: 'control.SESSION_EXPIRED',
    message: 'the session has expired',
    breaks: ({ session, admittedAtMs }) => session.state === 'expired' || session.expiresAtMs <= admittedAtMs,
  },
  {
    code: 'control.SESSION_NOT_READY',
    message: 'the session is not ready',
    breaks: ({ session }) => session.state !== 'ready' || !isOpenToAgents(session),
  },
  {
    code: 'control.LEASE_GENERATION_MISMATCH',
    message: 'expectedLeaseGeneration does not match the session',
    breaks: ({ session, request }) => session.leaseGeneration !== request.expectedLeaseGeneration,
  },
  {
    code: 'control.VERSION_MISMATCH',
    message: 'expectedVersion does not match the session',
    breaks: ({ session, request }) => session.version !== request.expectedVersion,
  },
  {
    code: 'control.LIFETIME_NOT_LATER',
    message: 'the new deadline is not later than the current one',
    breaks: ({ session, request, admittedAtMs }) => admittedAtMs + request.ttlMs <= session.expiresAtMs,
  },
  {
    code: 'control.ENTITLEMENT_EXCEEDED',
    message: 'the lifetime is longer than the organization is entitled to',
    breaks: ({ request, maxTtlMs }) => request.ttlMs > maxTtlMs,
  },
];

export function assertExtendable(facts: ExtendFacts): void {
  const broken = RULES.find(({ breaks }) => breaks(facts));
  if (broken !== undefined) throw new ControlError(broken.code, broken.message);
}

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
