import { authoringTurnStates } from '../../contract/resources/authoring.ts';
import { buildAttemptStates } from '../../contract/resources/build.ts';
import { hostedRunStates } from '../../contract/resources/run.ts';
import { operationStates } from '../../contract/resources/operation.ts';
import { sessionStates, type WorldSession } from '../../contract/resources/session.ts';
import { DrillproofError } from '../../errors.ts';

/** The states that may follow each state; a final state has none. */
export type Transitions<S extends string> = Readonly<Record<S, readonly S[]>>;

const ending = ['expired', 'destroying'] as const;
const broken = ['failed', 'cancelled'] as const;
const ended = { succeeded: [], failed: [], cancelled: [] } as const;

/** The life of each resource (control API, States and transitions). */
export const transitions = {
  session: {
    creating: ['warming', ...ending],
    warming: ['ready', ...ending],
    ready: ['resetting', 'degraded', ...ending],
    resetting: ['ready', ...ending],
    degraded: [...ending],
    expired: [],
    destroying: ['destroyed'],
    destroyed: [],
  } satisfies Transitions<(typeof sessionStates)[number]>,
  operation: {
    pending: ['running', 'cancelled'],
    running: ['succeeded', ...broken],
    ...ended,
  } satisfies Transitions<(typeof operationStates)[number]>,
  turn: {
    queued: ['running', 'cancelled'],
    running: ['succeeded', ...broken],
    ...ended,
  } satisfies Transitions<(typeof authoringTurnStates)[number]>,
  run: {
    created: ['running', 'cancelled', 'expired'],
    running: ['succeeded', 'expired', ...broken],
    ...ended,
    expired: [],
  } satisfies Transitions<(typeof hostedRunStates)[number]>,
  buildAttempt: {
    awaiting_upload: ['queued', ...broken],
    queued: ['fetching', ...broken],
    fetching: ['compiling', ...broken],
    compiling: ['verifying', ...broken],
    verifying: ['succeeded', ...broken],
    ...ended,
  } satisfies Transitions<(typeof buildAttemptStates)[number]>,
} as const;

export type Machine = keyof typeof transitions;

function listNext(machine: Machine, from: string): readonly string[] | undefined {
  const table: Readonly<Record<string, readonly string[]>> = transitions[machine];
  return Object.hasOwn(table, from) ? table[from] : undefined;
}

export const mayMove = (machine: Machine, from: string, to: string): boolean =>
  listNext(machine, from)?.includes(to) ?? false;

/** Returns whether a state is final. An unknown state is not. */
export const isEnd = (machine: Machine, state: string): boolean => listNext(machine, state)?.length === 0;

export function assertMove(machine: Machine, from: string, to: string): void {
  if (mayMove(machine, from, to)) return;
  throw new DrillproofError('internal.BUG', `a ${machine} cannot go from ${from} to ${to}`);
}

/** Returns whether agents may use a ready world: a world of the warm pool only while it is claimed. */
export const isOpenToAgents = ({ warmPool }: Pick<WorldSession, 'warmPool'>): boolean =>
  warmPool === undefined || warmPool.state === 'claimed';

export function nextVersion(version: number): number {
  if (version < Number.MAX_SAFE_INTEGER) return version + 1;
  throw new DrillproofError('internal.BUG', 'the version cannot rise any further');
}
