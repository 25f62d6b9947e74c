import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { authoringTurnStates } from '../../../src/contract/resources/authoring.ts';
import { buildAttemptStates, type BuildAttempt } from '../../../src/contract/resources/build.ts';
import { hostedRunStates, terminalRunStates } from '../../../src/contract/resources/run.ts';
import { operationStates } from '../../../src/contract/resources/operation.ts';
import { sessionStates } from '../../../src/contract/resources/session.ts';
import { moveAttempt } from '../../../src/server/builds/drive-attempt.ts';
import { assertMove, isEnd, mayMove, transitions, type Machine } from '../../../src/server/model/states.ts';
import { buildAttempt } from '../../contract/resources.ts';

const STATES: Record<Machine, readonly string[]> = {
  session: sessionStates,
  operation: operationStates,
  turn: authoringTurnStates,
  run: hostedRunStates,
  buildAttempt: buildAttemptStates,
};
const MACHINES = Object.keys(STATES) as Machine[];

// Written out a second time, as the specification has it: each state and those that may follow. The first is the beginning.
const MOVES: Record<Machine, Record<string, string>> = {
  session: {
    creating: 'warming expired destroying',
    warming: 'ready expired destroying',
    ready: 'resetting degraded expired destroying',
    resetting: 'ready expired destroying',
    degraded: 'expired destroying',
    destroying: 'destroyed',
  },
  operation: { pending: 'running cancelled', running: 'succeeded failed cancelled' },
  turn: { queued: 'running cancelled', running: 'succeeded failed cancelled' },
  run: { created: 'running cancelled expired', running: 'succeeded failed cancelled expired' },
  buildAttempt: {
    awaiting_upload: 'queued failed cancelled',
    queued: 'fetching failed cancelled',
    fetching: 'compiling failed cancelled',
    compiling: 'verifying failed cancelled',
    verifying: 'succeeded failed cancelled',
  },
};
const listNext = (machine: Machine, from: string): string[] => MOVES[machine][from]?.split(' ') ?? [];

describe.each(MACHINES)('the states of a %s', (machine) => {
  it('states and transitions are exactly those of the specification', () => {
    expect(Object.keys(transitions[machine]).toSorted()).toEqual(STATES[machine].toSorted());
    for (const from of STATES[machine]) {
      const next = STATES[machine].filter((to) => mayMove(machine, from, to));
      expect(next.toSorted()).toEqual(listNext(machine, from).toSorted());
    }
  });

  it('every state is reachable, and no transition leaves a final state', () => {
    const reached = new Set(Object.keys(MOVES[machine]).slice(0, 1));
    for (const from of reached)
      for (const to of STATES[machine]) if (mayMove(machine, from, to)) reached.add(to);
    expect([...reached].toSorted()).toEqual(STATES[machine].toSorted());
  });

  it('unknown states have no transitions', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...STATES[machine]), (other, state) => {
        fc.pre(!STATES[machine].includes(other));
        expect([mayMove(machine, other, state), mayMove(machine, state, other)]).toEqual([false, false]);
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

const { finishedAtMs: _finishedAtMs, ...unfinished } = buildAttempt;
const first: BuildAttempt = { ...unfinished, state: 'awaiting_upload' };

it('a build attempt moves only along its table and finishes once', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...buildAttemptStates), { maxLength: 12 }), (states) => {
      let attempt = first;
      for (const [atMs, state] of states.entries()) {
        const before = attempt;
        if (listNext('buildAttempt', before.state).includes(state)) {
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
