import * as z from 'zod/mini';
import { countSchema } from '../../../contract/scalars.ts';
import {
  type AuthoringSession,
  type AuthoringTurn,
  authoringTurnSchema,
} from '../../../contract/resources/authoring.ts';
import {
  type HostedRun,
  hostedRunSchema,
  runIdentitySchema,
  runResultSchema,
} from '../../../contract/resources/run.ts';
import { type OperationError, operationErrorSchema } from '../../../contract/resources/operation.ts';
import type { WorldSession } from '../../../contract/resources/session.ts';
import { typeValue } from '../../../contract/type-value.ts';
import type { Code } from '../../../codes/catalogue.ts';
import { operationError } from '../handler.ts';

/** The kinds of work of a host's program (control API, Operation). */
export const runnerKinds = ['authoring.turn', 'run.rerun'] as const;
export type RunnerKind = (typeof runnerKinds)[number];

type Common = {
  readonly operationId: string;
  /** 1 for the first attempt; it rises when an attempt threw, or its worker died. */
  readonly attempt: number;
  /** When the work must be done, in milliseconds since 1970; extending the session of a rerun moves it. */
  readonly deadlineAtMs: number;
  /** The time to stop after the deadline or a cancellation, in milliseconds. */
  readonly graceMs: number;
  /** The trace of the request that queued the work (W3C Trace Context), to pass on. */
  readonly traceparent?: string;
};

/** A prompt to answer: the turn with its model, effort and limits, and the conversation that it continues. */
export type TurnJob = Common & {
  readonly kind: 'authoring.turn';
  readonly turn: AuthoringTurn;
  /** Its `currentProposalId` is the proposal that the turn continues. */
  readonly session: AuthoringSession;
  /** The earlier turns of the session, first to last: their prompts, results and `agentSessionId`. */
  readonly history: readonly AuthoringTurn[];
};

type RunIdentity = z.infer<typeof runIdentitySchema>;

/**
 * The inputs that a rerun must repeat: the identity of the original, without its world, and with the id of the new run.
 * `targetId` and `packageLockHash` are absent when the original ended before it had an identity.
 */
export type PinnedIdentity = Omit<RunIdentity, 'worldInstanceId' | 'targetId' | 'packageLockHash'> &
  Partial<Pick<RunIdentity, 'targetId' | 'packageLockHash'>>;

/** A run to repeat: `identity` has the pinned inputs, `session` is its world, `original` the run that it reproduces. */
export type RerunJob = Common & {
  readonly kind: 'run.rerun';
  readonly run: HostedRun;
  readonly identity: PinnedIdentity;
  readonly session: WorldSession;
  readonly original: HostedRun;
};

export type RunnerJob = TurnJob | RerunJob;

const turnFacts = z.object({
  ...z.pick(authoringTurnSchema, { agentSessionId: true, actualModel: true }).shape,
  turnsUsed: z.optional(countSchema),
  estimatedCostUsd: z.optional(z.number().check(z.gte(0))),
});

/** The progress that a turn can report. */
export const turnProgressSchema = z.strictObject(turnFacts.shape);
/** The progress that a rerun can report; `session: 'ready'` once its world can be used. */
export const rerunProgressSchema = z.strictObject({
  ...z.pick(hostedRunSchema, { identity: true, pendingInteraction: true }).shape,
  session: z.optional(z.literal('ready')),
});

const runnerFailureSchema = z.strictObject({
  outcome: z.literal('failed'),
  /** The error of the operation; the rest of it has defaults. */
  error: z.strictObject({
    ...z.pick(operationErrorSchema, { code: true, message: true, issues: true, details: true }).shape,
    source: z._default(operationErrorSchema.shape.source, 'framework'),
    retryable: z._default(z.boolean(), false),
  }),
});

export const turnOutcomeSchema = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('succeeded'),
    ...turnFacts.shape,
    ...z.pick(authoringTurnSchema, { proposalId: true, resultText: true }).shape,
  }),
  runnerFailureSchema,
]);
export const rerunOutcomeSchema = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('succeeded'),
    result: runResultSchema,
    /** The path of its signed part, absolute or in the folder of the job. */
    evidence: z.optional(z.string().check(z.minLength(1))),
  }),
  runnerFailureSchema,
]);

export type RunnerFailure = z.infer<typeof runnerFailureSchema>;
export type TurnSuccess = Exclude<z.infer<typeof turnOutcomeSchema>, RunnerFailure>;
export type RerunSuccess = Exclude<z.infer<typeof rerunOutcomeSchema>, RunnerFailure>;

export type RunnerSuccess = TurnSuccess | RerunSuccess;

/** The answer of a runner to a turn of an authoring session. */
export type TurnOutcome = z.input<typeof turnOutcomeSchema>;
/** The answer of a runner to a rerun. */
export type RerunOutcome = z.input<typeof rerunOutcomeSchema>;
export type RunnerOutcome = TurnOutcome | RerunOutcome;
export type RunnerProgress = z.input<typeof turnProgressSchema> | z.input<typeof rerunProgressSchema>;

/** What a runner has for each job. */
export type RunnerContext = {
  /** Aborted when the work is cancelled, out of time, or held by another worker. Stop soon; the outcome is dropped. */
  readonly signal: AbortSignal;
  /** Stores the progress in the turn or run. Rejects when another worker holds the job. */
  readonly progress: (facts: RunnerProgress) => Promise<void>;
  /** Makes the folder of the job, which only this user can read; it is removed after the job. */
  readonly folder: () => Promise<string>;
  /** Stores the log of the attempt; its last 64 KiB are kept. Never rejects. */
  readonly log: (text: string) => Promise<void>;
};

/**
 * A host's program for a worker. A module exports it as `runner` (docs/server/runners.md).
 *
 * `run` does one piece of work at a time, several at once when the worker has a higher concurrency. It resolves with
 * the outcome, success or failure. When it throws, it is called again after a pause, up to the number of attempts of
 * the worker. A worker may die at any moment, so the same work may come twice, with a higher `attempt`.
 */
export type Runner = {
  readonly kinds: readonly RunnerKind[];
  readonly run: (job: RunnerJob, context: RunnerContext) => Promise<RunnerOutcome>;
};

const MAX_ISSUES = 20;

/** Builds the error of an outcome that breaks a rule. The runner is at fault, so retrying does not help. */
export const outcomeError = (
  code: Code,
  message: string,
  issues: z.core.$ZodError['issues'] = [],
): OperationError => ({
  ...operationError(code, message),
  issues: issues.slice(0, MAX_ISSUES).map(({ code: issueCode, message: issueMessage, path }) => ({
    code: issueCode,
    message: issueMessage,
    path: path.filter((segment) => typeof segment !== 'symbol'),
  })),
});

const MALFORMED = 'the outcome of the runner is malformed';

export function parseOutcome<S extends RunnerSuccess>(
  schema: z.ZodMiniType<S | RunnerFailure>,
  outcome: unknown,
): { readonly outcome: S } | { readonly error: OperationError } {
  const typed = typeValue(schema, outcome);
  if (!typed.success) return { error: outcomeError('control.RUNNER_FAILED', MALFORMED, typed.error.issues) };
  if (typed.data.outcome === 'failed') return { error: { schemaVersion: 1, ...typed.data.error } };
  return { outcome: typed.data };
}

/** Describes the first fault of a value: its place and what it must be. */
export const describeFirst = ({ issues: [issue] }: Pick<z.core.$ZodError, 'issues'>): string =>
  [issue?.path.join('.'), issue?.message ?? 'invalid'].filter((word) => word).join(': ');

export function parseProgress<T>(schema: z.ZodMiniType<T>, reported: unknown): T {
  const typed = typeValue(schema, reported);
  if (typed.success) return typed.data;
  throw new TypeError(`progress: ${describeFirst(typed.error)}`);
}

export const kindsSchema = z.array(z.enum(runnerKinds)).check(z.minLength(1));
