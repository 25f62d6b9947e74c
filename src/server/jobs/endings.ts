import { defined } from '../../bytes/index.ts';
import type { AuthoringSession, AuthoringTurn, HostedRun } from '../../contract/index.ts';
import { nextVersion } from '../services/operations.ts';
import { assertMove } from '../states.ts';
import type { AuthoringTurnRow, HostedRunRow, Tx } from '../store/store.ts';

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

export type TurnEnd = Partial<AuthoringTurn> & { readonly state: 'succeeded' | 'failed' | 'cancelled' };

/** Ends a turn, so that its session accepts another. */
export async function endTurn(tx: Tx, row: AuthoringTurnRow, end: TurnEnd, nowMs: number): Promise<void> {
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

type Termination = NonNullable<HostedRun['termination']>;
export type RunEnd = Partial<Pick<HostedRun, 'identity' | 'result' | 'failure'>> & {
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'expired';
  readonly termination: Omit<Termination, 'schemaVersion'>;
};

/** Ends a run, and removes its pending interaction. */
export async function endRun(tx: Tx, row: HostedRunRow, end: RunEnd, nowMs: number): Promise<void> {
  const { pendingInteraction: _pendingInteraction, ...run } = row.resource;
  assertMove('run', run.state, end.state);
  const revision = nextVersion(run.revision);
  const termination: Termination = { schemaVersion: 1, ...end.termination };
  const ended: HostedRun = {
    ...run,
    ...end,
    termination,
    revision,
    updatedAtMs: nowMs,
    finishedAtMs: nowMs,
  };
  await tx.runs.update({ ...row, resource: ended });
}
