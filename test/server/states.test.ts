import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  authoringTurnStates,
  buildAttemptStates,
  hostedRunStates,
  operationStates,
  sessionStates,
  terminalRunStates,
  type BuildAttempt,
} from '../../src/contract/index.ts';
import { moveAttempt } from '../../src/server/builds/drive-attempt.ts';
import { assertMove, isEnd, mayMove, transitions, type Machine } from '../../src/server/states.ts';
import { id, ORG, PROJECT } from './make.ts';

const STATES: Record<Machine, readonly string[]> = {
  session: sessionStates,
  operation: operationStates,
  turn: authoringTurnStates,
  run: hostedRunStates,
  buildAttempt: buildAttemptStates,
};
const BEGINNINGS: Record<Machine, string> = {
  session: 'creating',
  operation: 'pending',
  turn: 'queued',
  run: 'created',
  buildAttempt: 'awaiting_upload',
};
const MACHINES = Object.keys(STATES) as Machine[];

// Written out a second time, as the specification has it: from, to.
const MOVES: Record<Machine, readonly string[]> = {
  session: [
    'creating warming',
    'warming ready',
    'ready resetting',
    'resetting ready',
    'ready degraded',
    ...['creating', 'warming', 'ready', 'resetting', 'degraded'].flatMap((live) => [
      `${live} expired`,
      `${live} destroying`,
    ]),
    'destroying destroyed',
  ],
  operation: [
    'pending running',
    'pending cancelled',
    'running succeeded',
    'running failed',
    'running cancelled',
  ],
  turn: ['queued running', 'queued cancelled', 'running succeeded', 'running failed', 'running cancelled'],
  run: [
    'created running',
    'created cancelled',
    'created expired',
    'running succeeded',
    'running failed',
    'running cancelled',
    'running expired',
  ],
  buildAttempt: [
    'awaiting_upload queued',
    'queued fetching',
    'fetching compiling',
    'compiling verifying',
    'verifying succeeded',
    ...['awaiting_upload', 'queued', 'fetching', 'compiling', 'verifying'].flatMap((unfinished) => [
      `${unfinished} failed`,
      `${unfinished} cancelled`,
    ]),
  ],
};

describe.each(MACHINES)('the states of a %s', (machine) => {
  it('states and transitions are exactly those of the specification', () => {
    expect(Object.keys(transitions[machine]).toSorted()).toEqual(STATES[machine].toSorted());
    const allowed = STATES[machine].flatMap((from) =>
      STATES[machine].filter((to) => mayMove(machine, from, to)).map((to) => `${from} ${to}`),
    );
    expect(allowed.toSorted()).toEqual(MOVES[machine].toSorted());
  });

  it('every state is reachable, and no transition leaves a final state', () => {
    const reached = new Set([BEGINNINGS[machine]]);
    for (const from of reached)
      for (const to of STATES[machine]) if (mayMove(machine, from, to)) reached.add(to);
    expect([...reached].toSorted()).toEqual(STATES[machine].toSorted());
  });

  it('unknown states have no transitions', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...STATES[machine]), (other, known) => {
        fc.pre(!STATES[machine].includes(other));
        expect([mayMove(machine, other, known), mayMove(machine, known, other)]).toEqual([false, false]);
        expect(isEnd(machine, other)).toBe(false);
      }),
      { examples: [['__proto__', 'running']] },
    );
    expect(() => assertMove(machine, 'constructor', 'toString')).toThrow();
  });
});

it('a run has ended exactly in the terminal states', () => {
  expect(hostedRunStates.filter((state) => isEnd('run', state))).toEqual([...terminalRunStates]);
});

describe('a build attempt', () => {
  const begun: BuildAttempt = {
    schemaVersion: 1,
    buildAttemptId: id('attempt', 1),
    organizationId: ORG,
    projectId: PROJECT,
    sourceKind: 'upload',
    requestedBy: 'somebody',
    state: 'awaiting_upload',
    diagnostics: [],
    sourceClosure: [],
    createdAtMs: 0,
    updatedAtMs: 0,
  };

  it('a build attempt moves only along its table and finishes once', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...buildAttemptStates), { maxLength: 12 }), (asked) => {
        let attempt = begun;
        for (const [atMs, state] of asked.entries()) {
          const before = attempt;
          if (MOVES.buildAttempt.includes(`${before.state} ${state}`)) {
            attempt = moveAttempt(before, state, atMs);
            expect(attempt).toMatchObject({ state, updatedAtMs: atMs });
            expect(attempt.finishedAtMs).toBe(isEnd('buildAttempt', state) ? atMs : undefined);
          } else {
            expect(() => moveAttempt(before, state, atMs)).toThrow();
          }
        }
      }),
    );
  });
});
