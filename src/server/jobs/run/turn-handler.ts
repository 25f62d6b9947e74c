import { DrillproofError } from '../../../errors.ts';
import { assertMove } from '../../states.ts';
import type { AuthoringTurnRow, Job, Store, Tx } from '../../store/store.ts';
import { endTurn, type TurnEnd } from '../endings.ts';
import type { JobHandler } from '../handler.ts';
import { parseOutcome, parseProgress } from './runner-failure.ts';
import {
  type Runner,
  type TurnJob,
  turnOutcomeSchema,
  turnProgressSchema,
  type TurnSuccess,
} from './runner.ts';

const missing = (): DrillproofError => new DrillproofError('internal.BUG', 'a job has no turn');

async function lockTurn(tx: Tx, { projectId = '', resourceId }: Job): Promise<AuthoringTurnRow> {
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

const end = async (tx: Tx, job: Job, ended: TurnEnd, nowMs: number): Promise<void> =>
  endTurn(tx, await lockTurn(tx, job), ended, nowMs);

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
    const given = await runner.run(await jobOf(store, job), { signal, progress: report });
    const parsed = parseOutcome<TurnSuccess>(turnOutcomeSchema, given);
    if ('error' in parsed) {
      const { error } = parsed;
      return { error, write: (tx, nowMs) => end(tx, job, { state: 'failed', error }, nowMs) };
    }
    const { outcome: state, ...facts } = parsed.outcome;
    return { write: (tx, nowMs) => end(tx, job, { state, ...facts }, nowMs) };
  },
  abandon: (tx, job, { timedOut: _timedOut, ...ended }, nowMs) => end(tx, job, ended, nowMs),
});
