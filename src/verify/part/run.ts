import { isoTime } from '../../bytes/text/wording.ts';
import type { RunResult } from '../../contract/resources/run.ts';
import type { Code } from '../../codes/catalogue.ts';
import { finding } from '../finding.ts';
import type { Finding, Outcome } from '../report.ts';

type Unbounded = Required<Omit<Outcome, 'environment'>>;
export type RunFacts = Unbounded & Pick<Outcome, 'environment'>;

type Values = Pick<Finding, 'message'> & Pick<Partial<Finding>, 'expected' | 'actual'>;
/** The facts that can contradict each other. */
export type Contradictory = Omit<RunFacts, 'worldInstanceId' | 'environment' | 'virtualUs'>;
type Row = {
  readonly code: Code;
  /** Describes the contradiction; `undefined` if there is none. */
  readonly find: (outcome: Contradictory) => Values | undefined;
};

const describeFailure = (message: string, actual: string): Values => ({ message, actual });
const list = (rows: readonly { readonly id: string }[]): string =>
  [...new Set(rows.map(({ id }) => id))].join(', ');

/** Compares the verdict of a part of a run with the verdict of the run. */
const contradicts = (part: string, verdict: string): boolean =>
  verdict === 'passed' ? part !== 'passed' : part === 'failed' && verdict !== 'failed';

/** The ways in which a run can contradict itself (formats §4, Runs). */
export const CONTRADICTIONS = {
  world: {
    code: 'run.WORLD_INCONSISTENT',
    find: ({ worldConsistency: actual }) =>
      actual === 'consistent'
        ? undefined
        : { message: 'the world was not consistent', expected: 'consistent', actual },
  },
  binding: {
    code: 'run.BINDING_PARTIAL',
    find: ({ bindingEvidence: actual }) =>
      actual === 'complete'
        ? undefined
        : { message: 'the run is not completely bound to its evidence', expected: 'complete', actual },
  },
  assertions: {
    code: 'run.ASSERTION_FAILED',
    find({ assertions, verdict }) {
      const broken = assertions.filter(({ gate, status }) => gate && contradicts(status, verdict));
      return broken.length === 0
        ? undefined
        : describeFailure(`a gate assertion did not pass, although the run states ${verdict}`, list(broken));
    },
  },
  checkpoints: {
    code: 'run.CHECKPOINT_FAILED',
    find({ checkpoints, verdict }) {
      const broken = checkpoints.filter((row) => row.kind === 'final' && contradicts(row.verdict, verdict));
      return broken.length === 0
        ? undefined
        : describeFailure(
            `a final checkpoint did not pass, although the run states ${verdict}`,
            list(broken),
          );
    },
  },
  budget: {
    code: 'run.BUDGET_EXCEEDED',
    find: ({ budget }) =>
      budget === 'kept'
        ? undefined
        : { message: 'the run exceeded its budget', expected: 'kept', actual: budget },
  },
} as const satisfies Readonly<Record<string, Row>>;

export type Contradiction = keyof typeof CONTRADICTIONS;
const ROWS = Object.values<Row>(CONTRADICTIONS);

/** The facts of a run result; all assertions and checkpoints, in their order. */
export function readRunFacts(result: RunResult): RunFacts {
  const { identity, status, verdict, worldConsistency, interactions, checkpoints } = result;
  const environment = readEnvironment(result.setup?.setup.bindings.environment);
  const { toolCalls, scheduledEvents } = result.budgetUsage;
  const isOver =
    toolCalls.rejected > 0 ||
    toolCalls.attempted > toolCalls.limit ||
    scheduledEvents.exhausted ||
    scheduledEvents.processed > scheduledEvents.limit;
  const bindings = [result.bindingEvidence, ...interactions.map(({ bindingEvidence }) => bindingEvidence)];
  const assertions = [...result.assertionResults, ...checkpoints.flatMap((row) => row.assertionResults)];
  return {
    drillId: identity.drillId,
    targetId: identity.targetId,
    status,
    verdict,
    worldConsistency,
    bindingEvidence: bindings.find((binding) => binding !== 'complete') ?? 'complete',
    budget: isOver ? 'exceeded' : 'kept',
    assertions: assertions.map((row) => ({ id: row.assertionId, gate: row.gate, status: row.status })),
    checkpoints: checkpoints.map((row) => ({ id: row.checkpointId, kind: row.kind, verdict: row.verdict })),
    worldInstanceId: identity.worldInstanceId,
    ...(environment !== undefined && { environment }),
    virtualUs: result.finishedAtVirtualUs - result.startedAtVirtualUs,
  };
}

const MAX_VALUES = 64;
const MAX_LENGTH = 1_024;

/** The plain values of the environment of a setup; without a setup there are none. */
function readEnvironment(
  environment: Readonly<Record<string, unknown>> = {},
): Outcome['environment'] | undefined {
  const values = Object.entries(environment).flatMap(([name, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)] as const] : [],
  );
  const isLong = values.some((pair) => pair.some((text) => text.length > MAX_LENGTH));
  return values.length > MAX_VALUES || isLong ? undefined : Object.fromEntries(values);
}

export const checkRun = (subject: string, path: string, facts: RunFacts): Finding[] =>
  ROWS.flatMap((row) => {
    const values = row.find(facts);
    return values === undefined ? [] : [finding(row.code, subject, { path, ...values })];
  });

/** The most rows of a kind in a report. If a run has more, the report omits all of them. */
const MAX_ROWS = 1_000;

export function buildOutcome({ assertions, checkpoints, ...facts }: RunFacts): Outcome {
  return {
    ...facts,
    ...(assertions.length <= MAX_ROWS && { assertions }),
    ...(checkpoints.length <= MAX_ROWS && { checkpoints }),
  };
}

/** A run cannot have been signed before its bundle was created. */
export const checkRunTime = (
  subject: string,
  path: string,
  createdAtMs: number,
  issuedAtMs: number,
): Finding[] =>
  createdAtMs <= issuedAtMs
    ? []
    : [
        finding('run.AFTER_SIGNATURE', subject, {
          path,
          message: 'the run is dated after its signature',
          expected: `at most ${isoTime(issuedAtMs)}`,
          actual: isoTime(createdAtMs),
        }),
      ];
