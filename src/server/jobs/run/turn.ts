import { defined } from '../../../bytes/index.ts';
import type { AuthoringSession, AuthoringTurn } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';
import { nextVersion } from '../../services/operations.ts';
import { assertMove } from '../../states.ts';
import type { AuthoringTurnRow, Job, Store, Tx } from '../../store/store.ts';
import type { Abandoned, JobHandler, ResourceRef } from '../handler.ts';
import {
  parseOutcome,
  parseProgress,
  type Runner,
  type TurnJob,
  turnOutcomeSchema,
  turnProgressSchema,
  type TurnSuccess,
} from './runner.ts';

const missing = (): DrillproofError => new DrillproofError('internal.BUG', 'a job has no turn');

async function lockTurn(tx: Tx, { projectId = '', resourceId }: ResourceRef): Promise<AuthoringTurnRow> {
  const row = await tx.turns.lock(projectId, resourceId);
  if (row === undefined) throw missing();
  return row;
}

async function jobOf(store: Store, job: Job): Promise<TurnJob> {
  const { projectId = '', resourceId, operationId, attempt } = job;
  const turn = (await store.turns.find(projectId, resourceId))?.resource;
  const session = turn && (await store.authoringSessions.find(projectId, turn.authoringSessionId))?.resource;
  if (turn === undefined || session === undefined) throw missing();
  return { kind: 'authoring.turn', operationId, attempt, turn, session };
}

type SessionGain = Pick<AuthoringSession, 'currentProposalId'>;

/** Lets a session accept its next turn, if this was its active turn. */
async function freeSession(tx: Tx, turn: AuthoringTurn, gain: SessionGain, nowMs: number): Promise<void> {
  const row = await tx.authoringSessions.lock(turn.projectId, turn.authoringSessionId);
  if (row?.resource.activeTurnId !== turn.authoringTurnId) return;
  const { activeTurnId: _activeTurnId, ...session } = row.resource;
  const version = nextVersion(session.version);
  await tx.authoringSessions.update({
    ...row,
    resource: { ...session, ...gain, version, updatedAtMs: nowMs },
  });
}

type TurnEnd = Partial<AuthoringTurn> & { readonly state: 'succeeded' | 'failed' | 'cancelled' };

/** Ends a turn, so that its session accepts another. */
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

/** Ends a turn whose work was abandoned. */
export const abandonTurn = (
  tx: Tx,
  ref: ResourceRef,
  { timedOut: _timedOut, ...end }: Abandoned,
  nowMs: number,
): Promise<void> => endTurn(tx, ref, end, nowMs);

/** Authoring turns, answered by a runner within the timeout of the turn (control API, Authoring turn). */
export const turnHandler = (store: Store, runner: Runner): JobHandler => ({
  kind: 'authoring.turn',
  async begin(tx, job, nowMs) {
    const row = await lockTurn(tx, job);
    if (row.resource.state === 'running') return;
    assertMove('turn', row.resource.state, 'running');
    await tx.turns.update({
      ...row,
      resource: { ...row.resource, state: 'running', startedAtMs: nowMs },
    });
  },
  async deadlineAtMs({ projectId = '', resourceId }) {
    const turn = (await store.turns.find(projectId, resourceId))?.resource;
    return turn?.startedAtMs === undefined ? undefined : turn.startedAtMs + turn.timeoutMs;
  },
  async run(job, { signal, progress }) {
    const report = async (reported: unknown): Promise<void> => {
      const facts = parseProgress(turnProgressSchema, reported);
      await progress(async (tx) => {
        const row = await lockTurn(tx, job);
        await tx.turns.update({ ...row, resource: { ...row.resource, ...facts } });
      });
    };
    const answer = await runner.run(await jobOf(store, job), { signal, progress: report });
    const parsed = parseOutcome<TurnSuccess>(turnOutcomeSchema, answer);
    if ('error' in parsed) {
      const { error } = parsed;
      return { error, write: (tx, nowMs) => endTurn(tx, job, { state: 'failed', error }, nowMs) };
    }
    const { outcome: state, ...facts } = parsed.outcome;
    return { write: (tx, nowMs) => endTurn(tx, job, { state, ...facts }, nowMs) };
  },
  abandon: abandonTurn,
});
