import {
  type AuthoringSession,
  type AuthoringTurn,
  type Result,
  turnDefaults,
  type TurnRequest,
} from '../../contract/index.ts';
import { ControlError, notFound } from '../http/envelope.ts';
import { newId } from '../ids.ts';
import type { Tx } from '../store/store.ts';
import type { Change } from './idempotency.ts';
import { newOperationId, nextVersion, operationOf, queueOperation } from './operations.ts';

type SessionRef = { readonly projectId: string; readonly authoringSessionId: string };
const RETRY_AFTER_MS = 5_000;

/** A session accepts a turn if it is active and has no unfinished turn. */
function assertFree(session: AuthoringSession): void {
  if (session.state !== 'active') {
    throw new ControlError('control.AUTHORING_SESSION_NOT_ACTIVE', 'the authoring session is closed');
  }
  if (session.activeTurnId !== undefined) {
    throw new ControlError('control.AUTHORING_TURN_ACTIVE', 'another turn of the session is unfinished', {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}

/** A turn from its request, with defaults for what the request omits. */
function turnOf(
  session: AuthoringSession,
  request: TurnRequest,
  given: Pick<AuthoringTurn, 'operationId' | 'sequence' | 'createdAtMs'>,
): AuthoringTurn {
  const { authoringSessionId, organizationId, projectId } = session;
  return {
    schemaVersion: 1,
    authoringTurnId: newId('authturn'),
    authoringSessionId,
    organizationId,
    projectId,
    prompt: request.prompt,
    model: request.model ?? turnDefaults.model,
    effort: request.effort ?? turnDefaults.effort,
    maxTurns: request.maxTurns ?? turnDefaults.maxTurns,
    maxBudgetUsd: request.maxBudgetUsd ?? turnDefaults.maxBudgetUsd,
    timeoutMs: request.timeoutMs ?? turnDefaults.timeoutMs,
    state: 'queued',
    ...given,
  };
}

/** Queues a turn of an authoring session; a worker takes it. */
export async function createTurn(
  tx: Tx,
  change: Change,
  { projectId, authoringSessionId }: SessionRef,
  { request, now }: { readonly request: TurnRequest; readonly now: () => number },
): Promise<Result<'authoring.turns.create'>> {
  const row = await tx.authoringSessions.lock(projectId, authoringSessionId);
  if (row === undefined) throw notFound();
  assertFree(row.resource);
  const nowMs = now();
  const operationId = newOperationId();
  const sequence = (await tx.turns.lastSequence(projectId, authoringSessionId)) + 1;
  const turn = turnOf(row.resource, request, { operationId, sequence, createdAtMs: nowMs });
  const { authoringTurnId } = turn;
  const version = nextVersion(row.resource.version);
  const session = { ...row.resource, activeTurnId: authoringTurnId, version, updatedAtMs: nowMs };
  const about = {
    operationId,
    kind: 'authoring.turn',
    resourceType: 'authoring_turn',
    resourceId: authoringTurnId,
  };
  const operation = await queueOperation(tx, operationOf(change, about), nowMs);
  const { organizationId } = row;
  await tx.turns.insert({ organizationId, projectId, authoringTurnId, resource: turn });
  await tx.authoringSessions.update({ ...row, resource: session });
  return { session, turn, operation };
}
