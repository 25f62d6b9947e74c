import { digestOf, toUtf8 } from '../../bytes/index.ts';

/** One piece of work: what a worker needs to know of it, and nothing that is secret. */
export type QueueItem = { readonly key: string; readonly data: Readonly<Record<string, string>> };

/** A piece of work that this process has. */
export type TakenJob = { readonly id: string; readonly data: Readonly<Record<string, string>> };

/** What became of a piece of work. */
export type JobResult = {
  readonly data: Readonly<Record<string, string>>;
  readonly state: 'waiting' | 'active' | 'done' | 'failed' | 'cancelled';
  /** What the worker said at the end of it. */
  readonly output: unknown;
  readonly finishedAtMs?: number;
};

/** The same work has the same id on every machine, so that many who send it enqueue it once. */
export function jobId(run: string, key: string): string {
  const hex = digestOf(toUtf8(JSON.stringify([run, key]))).slice('sha256:'.length);
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
