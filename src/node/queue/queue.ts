import * as z from 'zod/mini';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import { defined } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf, packageError } from '../fs-errors.ts';

/** A database; `where` names it in messages, without user, password and parameters. */
type QueueAddress = { readonly url: string; readonly where: string };

/** Reads `postgres://…`. An error never has the value, which may contain a password. */
export function parseQueueAddress(text: string): QueueAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw new DrillproofError(
      'usage.INVALID',
      'the address of the queue is not of the form postgres://host/database',
    );
  return { url: text, where: `postgres://${url.host}${url.pathname}` };
}

/** The package of the queue, which is needed only to share work. */
type Engine = typeof import('pg-boss');

/** Loads pg-boss, an optional dependency. */
export async function loadEngine(load?: () => Promise<Engine>): Promise<Engine> {
  try {
    // The import is inside `try`, so that bundlers accept that it is not installed.
    return await (load?.() ?? import('pg-boss'));
  } catch (cause) {
    throw packageError(cause, 'a queue', 'pg-boss');
  }
}

// SQLSTATE (PostgreSQL, appendix A): the classes and codes of a server that is unavailable, or about to be.
const UNAVAILABLE_STATES = ['08', '57P01', '57P02', '57P03', '53300', '25006'];
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * Creates the error for an error of the database. The text of the server is included only for its own codes, which
 * concern names and permissions; the address and the password never are.
 */
export function queueError(cause: unknown, where: string): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  const state = errnoOf(cause);
  const isServerCode = state !== undefined && SQLSTATE.test(state) && /\d/.test(state);
  if (isServerCode && !UNAVAILABLE_STATES.some((prefix) => state.startsWith(prefix))) {
    const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    return new DrillproofError('queue.REFUSED', `${where} refuses: ${line} (${state})`, { cause });
  }
  const why = state === undefined ? '' : ` (${state})`;
  return new DrillproofError('queue.UNREACHABLE', `${where} cannot be reached${why}`, { cause });
}

/** A database restarts within the sum of these pauses. */
const PAUSES_MS: readonly number[] = [500, 1_000, 2_000, 4_000];

/** Repeats a call while the database is unavailable, for a few seconds. */
async function retryUnreachable<T>(act: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await act();
    } catch (error) {
      if (!hasCode(error, 'queue.UNREACHABLE')) throw error;
      await sleep(pauseMs);
    }
  }
  return act();
}

/** A job: the data that a worker needs, without secrets. */
export type QueueItem = { readonly key: string; readonly data: Readonly<Record<string, string>> };

/** A job that this process has claimed. */
export type TakenJob = { readonly id: string; readonly data: Readonly<Record<string, string>> };

export type JobResult = {
  readonly data: Readonly<Record<string, string>>;
  readonly state: 'waiting' | 'active' | 'done' | 'failed' | 'cancelled';
  readonly output: unknown;
  readonly finishedAtMs?: number;
};

/** Derives the id of a job, which is the same on every machine, so that the job is enqueued once. */
function deriveJobId(run: string, key: string): string {
  const hex = digestOf(toUtf8(JSON.stringify([run, key]))).slice('sha256:'.length);
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export type QueueSettings = {
  readonly name: string;
  /** The work of the run, as one word; it must be the same on all machines. */
  readonly work: string;
  /** The number of retries of a failed job. */
  readonly retries: number;
  /** A worker without a heartbeat for this time counts as dead; at least 10 s. */
  readonly lostAfterMs: number;
};

/** A separate schema, because another program in this database may use another version of pg-boss. */
const SCHEMA = 'drillproof_queue';
const CONNECTIONS = 4;
const BATCH = 1_000;
const DAY_S = 86_400;
/** Jobs can wait for months, and results are kept for as long as a run may last. */
const KEEP = { retentionSeconds: 365 * DAY_S, deleteAfterSeconds: 30 * DAY_S };
/** The heartbeat detects dead workers, so the expiry only needs to be longer than any job. */
const EXPIRE_S = 30 * DAY_S;
const RETRY = { retryDelay: 1, retryBackoff: true, retryDelayMax: 60 };

const STATES = {
  created: 'waiting',
  retry: 'waiting',
  active: 'active',
  completed: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<JobWithMetadata['state'], JobResult['state']>;

const rowSchema = z.object({ state: z.enum(Object.keys(STATES) as [keyof typeof STATES]), count: z.int() });
// The types of pg-boss do not describe the answer to a command.
const touchedSchema = z.object({ affected: z.int() });
const dataSchema = z.record(z.string(), z.string());

/** Opens the queue of a run, and creates it if it is missing. */
export async function openQueue(address: QueueAddress, options: QueueSettings): Promise<WorkQueue> {
  const { PgBoss } = await loadEngine();
  const superviseIntervalSeconds = Math.max(1, Math.round(options.lostAfterMs / 4_000));
  const boss = new PgBoss({
    connectionString: address.url,
    application_name: 'drillproof',
    schema: SCHEMA,
    max: CONNECTIONS,
    schedule: false,
    superviseIntervalSeconds,
    monitorIntervalSeconds: superviseIntervalSeconds,
  });
  // A failure in the background also fails the next call, which reports it.
  boss.on('error', () => undefined);
  const queue = createQueue(boss, address.where, options);
  try {
    await boss.start();
    await boss.createQueue(options.name, KEEP);
    return queue;
  } catch (cause) {
    await queue.close();
    throw queueError(cause, address.where);
  }
}

/** Jobs that any number of processes share. Every function throws `queue.UNREACHABLE` and `queue.REFUSED`. */
export type WorkQueue = ReturnType<typeof createQueue>;

function createQueue(boss: PgBoss, where: string, { name, work, retries, lostAfterMs }: QueueSettings) {
  const ask = <T>(act: () => Promise<T>): Promise<T> =>
    retryUnreachable(async () => {
      try {
        return await act();
      } catch (cause) {
        throw queueError(cause, where);
      }
    });
  const query = async (text: string): Promise<unknown> =>
    (await ask(() => boss.getDb().executeSql(text, [name]))).rows;
  const findJobs = () => ask(() => boss.findJobs(name));

  const buildJob = ({ key, data }: QueueItem) => ({
    id: deriveJobId(name, key),
    data: { ...data, work },
    retryLimit: retries,
    ...RETRY,
    expireInSeconds: EXPIRE_S,
    heartbeatSeconds: Math.ceil(lostAfterMs / 1_000),
  });
  const countJobs = async (): Promise<Record<JobResult['state'], number>> => {
    const counts = { waiting: 0, active: 0, done: 0, failed: 0, cancelled: 0 };
    const rows = await query(
      `SELECT state::text, count(*)::int FROM ${SCHEMA}.job WHERE name = $1 GROUP BY 1`,
    );
    for (const { state, count } of z.array(rowSchema).parse(rows)) counts[STATES[state]] += count;
    return counts;
  };
  const retryFailed = async (): Promise<void> => {
    const jobs = await findJobs();
    const listIds = (wanted: JobWithMetadata['state']): string[] =>
      jobs.filter(({ state }) => state === wanted).map(({ id }) => id);
    const [failed, cancelled] = [listIds('failed'), listIds('cancelled')];
    if (failed.length > 0) await ask(() => boss.retry(name, failed));
    if (cancelled.length > 0) await ask(() => boss.resume(name, cancelled));
  };
  const assertSameWork = async (): Promise<void> => {
    const rows = await query(`SELECT DISTINCT data->>'work' AS work FROM ${SCHEMA}.job WHERE name = $1`);
    const others = z.array(z.object({ work: z.string() })).parse(rows);
    if (others.every((other) => other.work === work)) return;
    throw new DrillproofError('queue.RUN_MISMATCH', `the run ${name} was started by another command`);
  };

  return {
    lostAfterMs,
    countJobs,
    /** Adds jobs that are not in the queue. If none is waiting or active, failed jobs are tried again. */
    async share(items: readonly QueueItem[]): Promise<void> {
      await assertSameWork();
      const { waiting, active, failed, cancelled } = await countJobs();
      if (waiting + active === 0 && failed + cancelled > 0) await retryFailed();
      for (let at = 0; at < items.length; at += BATCH) {
        const jobs = items.slice(at, at + BATCH).map(buildJob);
        await ask(() => boss.insert(name, jobs, { returnId: false }));
      }
    },
    async take(): Promise<TakenJob | undefined> {
      const [job] = await ask(() => boss.fetch(name));
      return job === undefined ? undefined : { id: job.id, data: dataSchema.parse(job.data) };
    },
    /** Sends a heartbeat; returns `false` if another process has the job. */
    async beat({ id }: TakenJob): Promise<boolean> {
      const answer = await ask(() => boss.touch(name, id));
      return touchedSchema.parse(answer).affected === 1;
    },
    async done({ id }: TakenJob, output: object): Promise<void> {
      await ask(() => boss.complete(name, id, output));
    },
    async failed({ id }: TakenJob, output: object): Promise<void> {
      await ask(() => boss.fail(name, id, output));
    },
    // Returns the job at once. A failure would use up one of its tries, and a crash between two transactions would leave the
    // job cancelled.
    async giveBack({ id }: TakenJob): Promise<void> {
      await ask(async () => {
        const transaction = await boss.getDb().beginTransaction?.();
        if (transaction === undefined)
          throw new TypeError('the built-in database of pg-boss has transactions');
        try {
          await boss.cancel(name, id, { db: transaction.db });
          await boss.resume(name, id, { db: transaction.db });
          await transaction.commit();
        } finally {
          await transaction.rollback();
        }
      });
    },
    async results(): Promise<readonly JobResult[]> {
      const jobs = await findJobs();
      return jobs.map(({ state, data, output, completedOn }) => ({
        data: dataSchema.parse(data),
        state: STATES[state],
        output,
        ...defined({ finishedAtMs: completedOn?.getTime() }),
      }));
    },
    async close(): Promise<void> {
      await boss.stop({ graceful: false }).catch(() => undefined);
    },
  };
}
