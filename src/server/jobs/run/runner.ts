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
import { checkArguments, defined, TEXT } from '../../../bytes/arguments.ts';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DrillproofError } from '../../../errors.ts';

/** The kinds of work of a host's program (control API, Operation). */
export const runnerKinds = ['authoring.turn', 'run.rerun'] as const;
export type RunnerKind = (typeof runnerKinds)[number];

type Common = {
  readonly operationId: string;
  /** 1 for the first attempt; it rises when an attempt threw, or its worker died. */
  readonly attempt: number;
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
/** The evidence of a rerun: the bytes of its signed part, or the path of that file. */
const rerunEvidenceSchema = z.union([z.instanceof(Uint8Array), z.string().check(z.minLength(1))]);

export const rerunOutcomeSchema = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('succeeded'),
    result: runResultSchema,
    evidence: z.optional(rerunEvidenceSchema),
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

/** A signal and a function that stores progress, for each job of a runner. */
export type RunnerContext = {
  /** Aborted when the work is cancelled, out of time, or held by another worker. Stop soon; the outcome is dropped. */
  readonly signal: AbortSignal;
  /** Stores the progress in the turn or run. Rejects when another worker holds the job. */
  readonly progress: (facts: RunnerProgress) => Promise<void>;
};

/**
 * A host's program for a worker. A module exports it as `runner` (docs/server/server.md, Runners).
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

/** Parses the outcome of a runner; a malformed one becomes an error. */
export function parseOutcome<S extends RunnerSuccess>(
  schema: z.ZodMiniType<S | RunnerFailure>,
  outcome: unknown,
): { readonly outcome: S } | { readonly error: OperationError } {
  const typed = typeValue(schema, outcome);
  if (!typed.success) return { error: outcomeError('control.RUNNER_FAILED', MALFORMED, typed.error.issues) };
  if (typed.data.outcome === 'failed') return { error: { schemaVersion: 1, ...typed.data.error } };
  return { outcome: typed.data };
}

/** Parses the progress that a runner reports. @throws TypeError when it is malformed */
export function parseProgress<T>(schema: z.ZodMiniType<T>, reported: unknown): T {
  const typed = typeValue(schema, reported);
  if (typed.success) return typed.data;
  const [issue] = typed.error.issues;
  throw new TypeError(`progress: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}

const configError = (message: string, cause?: unknown): DrillproofError =>
  new DrillproofError('server.CONFIG_INVALID', message, defined({ cause }));

const isKind = (kind: unknown): kind is RunnerKind => runnerKinds.some((each) => each === kind);

/**
 * Checks what a module exports as `runner`.
 * @param name its name in messages, such as the path of the module
 * @throws DrillproofError `server.CONFIG_INVALID`
 */
export function checkRunner(value: unknown, name: string): Runner {
  if (typeof value !== 'object' || value === null)
    throw configError(`${name} does not export an object named "runner"`);
  const run: unknown = 'run' in value ? value.run : undefined;
  if (typeof run !== 'function') throw configError(`the runner of ${name} has no function "run"`);
  const kinds: unknown = 'kinds' in value ? value.kinds : undefined;
  if (!Array.isArray(kinds) || kinds.length === 0)
    throw configError(`the runner of ${name} has no list of "kinds"`);
  const unknown = kinds.findIndex((kind) => !isKind(kind));
  if (unknown >= 0) {
    const kind = JSON.stringify(kinds[unknown]) ?? 'undefined';
    throw configError(
      `the runner of ${name} names the kind ${kind}; the known kinds are ${runnerKinds.join(', ')}`,
    );
  }
  return {
    kinds: [...new Set(kinds.filter(isKind))],
    run: async (job, context) => run.call(value, job, context),
  };
}

async function importModule(path: string): Promise<object> {
  const file = resolve(path);
  const stats = await stat(file).catch(() => undefined);
  if (stats?.isFile() !== true) throw configError(`runner file ${path} does not exist`);
  try {
    return await import(pathToFileURL(file).href);
  } catch (cause) {
    const reason =
      cause instanceof Error ? `${cause.name}: ${cause.message.split('\n')[0] ?? ''}` : 'unknown';
    throw configError(`the runner ${path} cannot be loaded: ${reason}`, cause);
  }
}

/**
 * Loads the runner of a host: an ECMAScript module that exports it as `runner` (docs/server/server.md, Runners). The
 * module is trusted: it runs with all permissions of the worker.
 * @throws DrillproofError `server.CONFIG_INVALID` for a file that is absent, does not load, or exports no runner
 * @example
 * const { store, blobs } = await openEmbedded('data');
 * const worker = createWorker({ store, blobs, runner: await loadRunner('./runner.js') });
 */
export async function loadRunner(path: string): Promise<Runner> {
  checkArguments({ path: TEXT }, { path });
  const module = await importModule(path);
  return checkRunner('runner' in module ? module.runner : undefined, path);
}
