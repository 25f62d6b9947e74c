import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as z from 'zod/mini';
import { defined } from '../../../bytes/arguments.ts';
import type { OperationError } from '../../../contract/resources/operation.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import type { ServerContext } from '../../model/context.ts';
import type { Job, Reads, Tx } from '../../store/store.ts';
import { correlateError, type JobContext, type JobEnd, type JobHandler, type JobWrite } from '../handler.ts';
import {
  parseOutcome,
  parseProgress,
  type Runner,
  type RunnerContext,
  type RunnerFailure,
  type RunnerJob,
  type RunnerKind,
  type RunnerSuccess,
} from './runner.ts';
import { takeEnd } from './secrets.ts';

type Reported<P, S> = Partial<P> & Partial<S>;

/** One kind of work of a host's runner: what it receives, and how its answers are checked and stored. */
export type HostedWork<J extends RunnerJob, P extends object, S extends RunnerSuccess> = Pick<
  JobHandler,
  'begin' | 'abandon'
> & {
  readonly kind: RunnerKind;
  readonly deadlineAtMs: NonNullable<JobHandler['deadlineAtMs']>;
  readonly read: (reads: Reads, job: Job, graceMs: number) => Promise<J>;
  readonly progress: z.ZodMiniType<P>;
  readonly outcome: z.ZodMiniType<S | RunnerFailure>;
  /** The error of a report that contradicts the job, which then fails without storing the report. */
  readonly check: (work: J, reported: Reported<P, S>) => OperationError | undefined;
  readonly note: (tx: Tx, job: Job, facts: Partial<P>, nowMs: number) => Promise<void>;
  /** Selects the part of a refused report that is stored nevertheless, such as the cost. */
  readonly spent?: (reported: Reported<P, S>) => Partial<P>;
  /** Returns the write that ends the resource after a success, or the error for which the success is refused. */
  readonly accept: (
    work: {
      readonly host: RunnerHost;
      readonly job: Job;
      readonly runnerJob: J;
      readonly folder: Folder;
    },
    outcome: S,
  ) => Promise<JobWrite | OperationError>;
};

export type RunnerHost = Pick<ServerContext, 'store' | 'now' | 'log'> & {
  readonly runner: Runner;
  readonly graceMs: number;
  readonly blobs: Blobs | undefined;
};

type Folder = RunnerContext['folder'];

/** Runs work that may make a private folder, which is removed afterwards. */
async function withFolder<T>(log: (error: unknown) => void, act: (folder: Folder) => Promise<T>): Promise<T> {
  let made: Promise<string> | undefined;
  try {
    return await act(() => (made ??= mkdtemp(join(tmpdir(), 'drillproof-job-'))));
  } finally {
    if (made !== undefined) await rm(await made, { recursive: true, force: true }).catch(log);
  }
}

/** Creates the handler of one kind of work: it passes the work to the runner and checks everything that it returns. */
export function createHostedJob<J extends RunnerJob, P extends object, S extends RunnerSuccess>(
  work: HostedWork<J, P, S>,
  host: RunnerHost,
): JobHandler {
  const { kind, begin, abandon, deadlineAtMs } = work;

  const warn = (event: string) => (error: unknown) => host.log({ level: 'warn', event, error });

  const runIn = async (job: Job, { signal, progress }: JobContext, folder: Folder): Promise<JobEnd> => {
    const { operationId, attempt, traceparent } = job;
    const read = await work.read(host.store, job, host.graceMs);
    const runnerJob = { ...read, ...defined({ traceparent }) };
    let reported: Reported<P, S> = {};
    let refusal: OperationError | undefined;
    const take = (facts: P | S): void => {
      reported = { ...reported, ...facts };
      refusal ??= work.check(runnerJob, reported);
    };
    const report = async (update: unknown): Promise<void> => {
      const facts = parseProgress(work.progress, update);
      take(facts);
      if (refusal !== undefined) throw new TypeError(`progress: ${refusal.message}`);
      await progress((tx, nowMs) => work.note(tx, job, facts, nowMs));
    };
    const log = async (text: string): Promise<void> => {
      const row = { operationId, attempt, log: takeEnd(text) };
      await host.store.transaction((tx) => tx.runnerLogs.put(row)).catch(warn('worker.log.failed'));
    };
    const refuse = (reason: OperationError): JobEnd => {
      const error = correlateError(reason, operationId);
      const spent = work.spent?.(reported);
      const write: JobWrite = async (tx, nowMs) => {
        if (spent !== undefined) await work.note(tx, job, spent, nowMs);
        await abandon(tx, job, { state: 'failed', timedOut: false, error }, nowMs);
      };
      return { error, write };
    };
    try {
      const parsed = parseOutcome(
        work.outcome,
        await host.runner.run(runnerJob, { signal, progress: report, folder, log }),
      );
      if ('error' in parsed) return refuse(refusal ?? parsed.error);
      take(parsed.outcome);
      if (refusal !== undefined) return refuse(refusal);
      const accepted = await work.accept({ host, job, runnerJob, folder }, parsed.outcome);
      return typeof accepted === 'function' ? { write: accepted } : refuse(accepted);
    } catch (error) {
      if (refusal !== undefined) return refuse(refusal);
      throw error;
    }
  };
  const run: JobHandler['run'] = (job, context) =>
    withFolder(warn('worker.folder.left'), (folder) => runIn(job, context, folder));
  return { kind, begin, abandon, deadlineAtMs, run };
}
