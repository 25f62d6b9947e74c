import { defined } from '../../bytes/arguments.ts';
import { nextVersion } from '../model/states.ts';
import {
  type AuthoringSession,
  type AuthoringTurn,
  modelTiers,
  turnDefaults,
  type TurnRequest,
  turnRequestSchema,
} from '../../contract/resources/authoring.ts';
import type { Result } from '../../contract/operations/operations.ts';
import { DrillproofError } from '../../errors.ts';
import { Refusal, notFound } from '../http/envelope.ts';
import { newId } from '../model/ids.ts';
import type { Tx } from '../store/store.ts';
import { assertCurrent, type Change } from './handler.ts';
import { newOperationId, describeOperation, queueOperation, recordOperation } from './operations.ts';
import { assertQuota } from './quotas.ts';

type SessionRef = { readonly projectId: string; readonly authoringSessionId: string };
const RETRY_AFTER_MS = 5_000;

/** The model tiers of a control plane, and the tier of turns that name none. */
export type Models = { readonly tiers: readonly string[]; readonly default: string };

/** Parses the names of tiers; the second is the default, or the only one. */
export function parseModelTiers(tiers: readonly string[] = modelTiers): Models {
  const [first, second = first] = tiers;
  const isValid = tiers.every((tier) => turnRequestSchema.shape.model.safeParse(tier).success);
  if (second === undefined || !isValid || new Set(tiers).size < tiers.length)
    throw new DrillproofError(
      'server.CONFIG_INVALID',
      'the model tiers are not one or more different names of 1 to 64 characters',
    );
  return { tiers, default: second };
}

function chooseModel({ tiers, default: standard }: Models, model = standard): string {
  if (tiers.includes(model)) return model;
  const message = `must be one of ${tiers.join(', ')}`;
  throw new Refusal('control.REQUEST_INVALID', 'the control plane does not have the model tier', {
    issues: [{ path: '/body/model', code: 'invalid_value', message }],
  });
}

async function lockFree(tx: Tx, change: Change, { projectId, authoringSessionId }: SessionRef) {
  const row = await tx.authoringSessions.lock(projectId, authoringSessionId);
  if (row === undefined) throw notFound();
  const { resource: session } = row;
  assertCurrent(change, session);
  if (session.state !== 'active') {
    throw new Refusal('control.AUTHORING_SESSION_NOT_ACTIVE', 'the authoring session is closed');
  }
  if (session.activeTurnId !== undefined) {
    throw new Refusal('control.AUTHORING_TURN_ACTIVE', 'another turn of the session is unfinished', {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
  return row;
}

function buildTurn(
  session: AuthoringSession,
  request: TurnRequest,
  facts: Pick<AuthoringTurn, 'operationId' | 'sequence' | 'createdAtMs' | 'model'>,
): AuthoringTurn {
  const { authoringSessionId, organizationId, projectId } = session;
  return {
    schemaVersion: 1,
    authoringTurnId: newId('authturn'),
    authoringSessionId,
    organizationId,
    projectId,
    ...turnDefaults,
    ...defined(request),
    state: 'queued',
    ...facts,
  };
}

type Work = { readonly request: TurnRequest; readonly models: Models; readonly now: () => number };

export async function createTurn(
  tx: Tx,
  change: Change,
  { projectId, authoringSessionId }: SessionRef,
  { request, models, now }: Work,
): Promise<Result<'authoring.turns.create'>> {
  const model = chooseModel(models, request.model);
  const row = await lockFree(tx, change, { projectId, authoringSessionId });
  const nowMs = now();
  await assertQuota(tx, change, 'operation', nowMs);
  const operationId = newOperationId();
  const sequence = (await tx.turns.lastSequence(projectId, authoringSessionId)) + 1;
  const turn = buildTurn(row.resource, request, { operationId, sequence, createdAtMs: nowMs, model });
  const { authoringTurnId } = turn;
  const version = nextVersion(row.resource.version);
  const session = { ...row.resource, activeTurnId: authoringTurnId, version, updatedAtMs: nowMs };
  const subject = {
    operationId,
    kind: 'authoring.turn',
    resourceType: 'authoring_turn',
    resourceId: authoringTurnId,
    labels: [`project=${projectId}`, `model=${model}`],
  };
  const operation = await queueOperation(tx, describeOperation(change, subject), nowMs);
  const { organizationId } = row;
  await tx.turns.insert({ organizationId, projectId, authoringTurnId, resource: turn });
  await tx.authoringSessions.update({ ...row, resource: session });
  return { session, turn, operation };
}

export async function closeAuthoringSession(
  tx: Tx,
  change: Change,
  ref: SessionRef,
  now: () => number,
): Promise<Result<'authoring.sessions.close'>> {
  const row = await lockFree(tx, change, ref);
  const nowMs = now();
  const version = nextVersion(row.resource.version);
  const closed = { state: 'closed', version, updatedAtMs: nowMs, closedAtMs: nowMs };
  const session = { ...row.resource, ...closed };
  await tx.authoringSessions.update({ ...row, resource: session });
  const subject = {
    kind: 'authoring.session.close',
    resourceType: 'authoring_session',
    resourceId: ref.authoringSessionId,
  };
  return { session, operation: await recordOperation(tx, describeOperation(change, subject), nowMs) };
}
