import type * as z from 'zod/mini';
import { defined } from '../../../bytes/arguments.ts';
import type { AuthoringSession, AuthoringTurn } from '../../../contract/resources/authoring.ts';
import { DrillproofError } from '../../../errors.ts';
import { assertMove, nextVersion } from '../../model/states.ts';
import { deadlineOfTurn } from '../../store/sessions.ts';
import type { AuthoringTurnRow, Job, Reads, Tx } from '../../store/store.ts';
import type { Abandoned, ResourceRef } from '../handler.ts';
import type { HostedWork } from './hosted-job.ts';
import {
  outcomeError,
  type TurnJob,
  turnOutcomeSchema,
  turnProgressSchema,
  type TurnSuccess,
} from './runner.ts';

const missingTurnError = (): DrillproofError => new DrillproofError('internal.BUG', 'a job has no turn');

async function lockTurn(tx: Tx, { projectId = '', resourceId }: ResourceRef): Promise<AuthoringTurnRow> {
  const row = await tx.turns.lock(projectId, resourceId);
  if (row === undefined) throw missingTurnError();
  return row;
}

async function read(reads: Reads, job: Job, graceMs: number): Promise<TurnJob> {
  const { projectId = '', resourceId, operationId, attempt } = job;
  const turn = (await reads.turns.find(projectId, resourceId))?.resource;
  const session = turn && (await reads.authoringSessions.find(projectId, turn.authoringSessionId))?.resource;
  if (turn === undefined || session === undefined) throw missingTurnError();
  const history = (await reads.turns.list(session, 0, turn.sequence - 1)).map(({ resource }) => resource);
  const deadlineAtMs = deadlineOfTurn(turn);
  if (deadlineAtMs === undefined) throw missingTurnError();
  return { kind: 'authoring.turn', operationId, attempt, deadlineAtMs, graceMs, turn, session, history };
}

const TOO_MUCH = 'the turn used more than its limits allow';

function check({ turn }: TurnJob, { turnsUsed = 0, estimatedCostUsd = 0 }: Partial<Usage>) {
  const { maxTurns, maxBudgetUsd } = turn;
  const limits = [
    { name: 'turnsUsed', used: turnsUsed, limit: maxTurns },
    { name: 'estimatedCostUsd', used: estimatedCostUsd, limit: maxBudgetUsd },
  ];
  const issues = limits
    .filter(({ used, limit }) => used > limit)
    .map(({ name, limit }) => ({
      code: 'custom' as const,
      path: [name],
      message: `must be at most ${limit}`,
    }));
  if (issues.length === 0) return undefined;
  return outcomeError('control.TURN_LIMIT_EXCEEDED', TOO_MUCH, issues);
}

type Usage = z.output<typeof turnProgressSchema>;
type Proposal = Pick<AuthoringSession, 'currentProposalId'>;

async function freeSession(tx: Tx, turn: AuthoringTurn, proposal: Proposal, nowMs: number): Promise<void> {
  const row = await tx.authoringSessions.lock(turn.projectId, turn.authoringSessionId);
  if (row?.resource.activeTurnId !== turn.authoringTurnId) return;
  const { activeTurnId: _activeTurnId, ...session } = row.resource;
  const version = nextVersion(session.version);
  await tx.authoringSessions.update({
    ...row,
    resource: { ...session, ...proposal, version, updatedAtMs: nowMs },
  });
}

type TurnEnd = Partial<AuthoringTurn> & { readonly state: 'succeeded' | 'failed' | 'cancelled' };

async function endTurn(tx: Tx, ref: ResourceRef, end: TurnEnd, nowMs: number): Promise<void> {
  const row = await lockTurn(tx, ref);
  const turn = row.resource;
  assertMove('turn', turn.state, end.state);
  const { startedAtMs } = turn;
  const ended: AuthoringTurn = {
    ...turn,
    ...end,
    finishedAtMs: nowMs,
    ...defined({ durationMs: startedAtMs === undefined ? undefined : Math.max(0, nowMs - startedAtMs) }),
  };
  await tx.turns.update({ ...row, resource: ended });
  await freeSession(tx, turn, defined({ currentProposalId: end.proposalId }), nowMs);
}

export const abandonTurn = (
  tx: Tx,
  ref: ResourceRef,
  { timedOut: _timedOut, ...end }: Abandoned,
  nowMs: number,
): Promise<void> => endTurn(tx, ref, end, nowMs);

export const turnWork: HostedWork<TurnJob, Usage, TurnSuccess> = {
  kind: 'authoring.turn',
  progress: turnProgressSchema,
  outcome: turnOutcomeSchema,
  read,
  async deadlineAtMs(reads, { projectId = '', resourceId }) {
    const turn = (await reads.turns.find(projectId, resourceId))?.resource;
    return turn && deadlineOfTurn(turn);
  },
  async begin(tx, job, nowMs) {
    const row = await lockTurn(tx, job);
    if (row.resource.state === 'running') return;
    assertMove('turn', row.resource.state, 'running');
    await tx.turns.update({ ...row, resource: { ...row.resource, state: 'running', startedAtMs: nowMs } });
  },
  check,
  spent: ({ agentSessionId, actualModel, turnsUsed, estimatedCostUsd }) =>
    defined({ agentSessionId, actualModel, turnsUsed, estimatedCostUsd }),
  async note(tx, job, facts) {
    const row = await lockTurn(tx, job);
    await tx.turns.update({ ...row, resource: { ...row.resource, ...facts } });
  },
  accept:
    async ({ job }, { outcome: state, ...facts }) =>
    (tx, nowMs) =>
      endTurn(tx, job, { state, ...facts }, nowMs),
  abandon: abandonTurn,
};
