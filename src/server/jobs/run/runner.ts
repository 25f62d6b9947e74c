import * as z from 'zod';
import {
  type AuthoringSession,
  type AuthoringTurn,
  authoringTurnSchema,
  type HostedRun,
  hostedRunSchema,
  type OperationError,
  operationErrorSchema,
  runResultSchema,
  type WorldSession,
} from '../../../contract/index.ts';
import { operationError } from '../handler.ts';

/** The kinds of work that a host's own program does (control API, Operation). */
export const runnerKinds = ['authoring.turn', 'run.rerun'] as const;
export type RunnerKind = (typeof runnerKinds)[number];

type Common = {
  readonly operationId: string;
  /** 1 the first time; more when an earlier attempt threw, or its worker died. */
  readonly attempt: number;
};

/** A prompt to answer: the turn with its model, effort and limits, and its authoring session. */
export type TurnJob = Common & {
  readonly kind: 'authoring.turn';
  readonly turn: AuthoringTurn;
  readonly session: AuthoringSession;
};

/** A run to repeat: `run` has the pinned inputs, `session` is its world, `original` the run that it reproduces. */
export type RerunJob = Common & {
  readonly kind: 'run.rerun';
  readonly run: HostedRun;
  readonly session: WorldSession;
  readonly original: HostedRun;
};

export type RunnerJob = TurnJob | RerunJob;

const turnFacts = authoringTurnSchema.pick({
  agentSessionId: true,
  actualModel: true,
  turnsUsed: true,
  estimatedCostUsd: true,
});

/** The progress that a turn can report. */
export const turnProgressSchema = z.strictObject(turnFacts.shape);
/** The progress that a rerun can report; `session: 'ready'` once its world can be used. */
export const rerunProgressSchema = z.strictObject({
  ...hostedRunSchema.pick({ identity: true, pendingInteraction: true }).shape,
  session: z.literal('ready').optional(),
});

const runnerFailureSchema = z.strictObject({
  outcome: z.literal('failed'),
  /** The error of the operation; the rest of it has defaults. */
  error: z.strictObject({
    ...operationErrorSchema.pick({ code: true, message: true, issues: true, details: true }).shape,
    source: operationErrorSchema.shape.source.default('framework'),
    retryable: z.boolean().default(false),
  }),
});

export const turnOutcomeSchema = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('succeeded'),
    ...turnFacts.shape,
    ...authoringTurnSchema.pick({ proposalId: true, resultText: true }).shape,
  }),
  runnerFailureSchema,
]);
export const rerunOutcomeSchema = z.discriminatedUnion('outcome', [
  z.strictObject({ outcome: z.literal('succeeded'), result: runResultSchema }),
  runnerFailureSchema,
]);

export type RunnerFailure = z.infer<typeof runnerFailureSchema>;
export type TurnSuccess = Exclude<z.infer<typeof turnOutcomeSchema>, RunnerFailure>;
export type RerunSuccess = Exclude<z.infer<typeof rerunOutcomeSchema>, RunnerFailure>;

/** What a runner returns for a turn of an authoring session. */
export type TurnOutcome = z.input<typeof turnOutcomeSchema>;
/** What a runner returns for a rerun. */
export type RerunOutcome = z.input<typeof rerunOutcomeSchema>;
export type RunnerOutcome = TurnOutcome | RerunOutcome;
export type RunnerProgress = z.input<typeof turnProgressSchema> | z.input<typeof rerunProgressSchema>;

/** What a runner receives with each job: a signal, and a function that stores progress. */
export type RunnerContext = {
  /** Aborted when the work is cancelled, out of time, or held by another worker: stop soon; the outcome is dropped. */
  readonly signal: AbortSignal;
  /** Stores the progress in the turn or run. Rejects when another worker holds the job. */
  readonly progress: (facts: RunnerProgress) => Promise<void>;
};

/**
 * What a host plugs into a worker: a module that exports one as `runner` (docs/server.md, Runners).
 *
 * `run` does one piece of work at a time, several at once when the worker has a higher concurrency. It resolves with
 * the outcome, success or failure. When it throws, it is called again after a pause, up to the number of attempts of
 * the worker. As a worker may die at any moment, the same work may come twice, with a higher `attempt`.
 */
export type Runner = {
  readonly kinds: readonly RunnerKind[];
  readonly run: (job: RunnerJob, context: RunnerContext) => Promise<RunnerOutcome>;
};

const MAX_ISSUES = 20;

/** The error of a malformed outcome: the runner is at fault, so retrying does not help. */
const malformedOutcome = (issues: z.ZodError['issues']): OperationError => ({
  ...operationError('control.RUNNER_FAILED', 'the outcome of the runner is malformed'),
  issues: issues.slice(0, MAX_ISSUES).map(({ code, message, path }) => ({
    code,
    message,
    path: path.filter((segment) => typeof segment !== 'symbol'),
  })),
});

/** Parses the outcome of a runner; a malformed one becomes an error. */
export function parseOutcome<S extends { readonly outcome: 'succeeded' }>(
  schema: z.ZodType<S | RunnerFailure>,
  outcome: unknown,
  check: (outcome: S) => z.ZodError['issues'] = () => [],
): { readonly outcome: S } | { readonly error: OperationError } {
  const typed = schema.safeParse(outcome);
  if (!typed.success) return { error: malformedOutcome(typed.error.issues) };
  if (typed.data.outcome === 'failed') return { error: { schemaVersion: 1, ...typed.data.error } };
  const issues = check(typed.data);
  return issues.length > 0 ? { error: malformedOutcome(issues) } : { outcome: typed.data };
}

/** Parses the progress that a runner reports. @throws TypeError when it is malformed */
export function parseProgress<T>(schema: z.ZodType<T>, reported: unknown): T {
  const typed = schema.safeParse(reported);
  if (typed.success) return typed.data;
  const [issue] = typed.error.issues;
  throw new TypeError(`progress: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}
