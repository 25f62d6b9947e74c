import { blobRefReads } from './blob-refs.ts';
import { claimJob, renewJob } from './jobs.ts';
import { evidenceReads } from './records.ts';
import { retentionReads, retentionWrites } from './retention.ts';
import type { Dialect, Sql } from './sql.ts';
import type { Locks, Reads, Store, Writes } from './store.ts';
import { workReads } from './work-records.ts';
import { workWrites } from './work-writes.ts';
import { evidenceWrites } from './writes.ts';

/** The reads of a store over any database; `lock` is put behind those of one row. */
export const sqlReads = (sql: Sql, lock = ''): Reads => ({
  ...evidenceReads(sql, lock),
  ...workReads(sql, lock),
  ...retentionReads(sql),
  ...blobRefReads(sql),
});

function sqlLocks(sql: Sql, dialect: Dialect): Locks {
  const locked = sqlReads(sql, dialect.forUpdate);
  return {
    bundleForUpdate: (...of) => locked.bundle(...of),
    buildAttemptForUpdate: (...of) => locked.buildAttempt(...of),
    exportForUpdate: (...of) => locked.export(...of),
    environmentForUpdate: (...of) => locked.environment(...of),
    sessionForUpdate: (...of) => locked.session(...of),
    hostedRunForUpdate: (...of) => locked.hostedRun(...of),
    authoringSessionForUpdate: (...of) => locked.authoringSession(...of),
    authoringTurnForUpdate: (...of) => locked.authoringTurn(...of),
    operationForUpdate: (...of) => locked.operation(...of),
  };
}

/** What a transaction can do, over the connection that it runs on. */
export const sqlTransaction = (sql: Sql, dialect: Dialect): Reads & Writes => ({
  ...sqlReads(sql),
  ...evidenceWrites(sql, dialect),
  ...workWrites(sql, dialect),
  ...retentionWrites(sql, dialect),
  ...sqlLocks(sql, dialect),
});

/** The queue's own transactions, over a function that runs one. */
export const transactedJobs = (
  begin: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>,
  dialect: Dialect,
): Pick<Store, 'claimJob' | 'renewJob'> => ({
  claimJob: (claim) => begin((sql) => claimJob(sql, dialect, claim)),
  renewJob: (renewal) => begin((sql) => renewJob(sql, renewal)),
});
