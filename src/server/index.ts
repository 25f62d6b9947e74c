/**
 * The control plane: an HTTP application over a store and a blob store, what listens for it, and what administers it
 * (docs/server.md).
 */
export type { Blobs } from './blobs/blobs.ts';
export { checkStores, type CheckReport } from './admin/check.ts';
export { openDiskBlobs } from './blobs/disk.ts';
export { defaultLimits, type ServerLimits } from './limits.ts';
export { listen, type Listening } from './listen.ts';
export { logLevels, type Log, type LogEntry, type LogLevel } from './log.ts';
export { createServer, type ControlServer } from './server.ts';
export { openEmbedded, openStores, placesOf, type Places, type Stores } from './open-stores.ts';
export { openPostgresStore } from './store/postgres/postgres.ts';
export { backupSqlite } from './store/sqlite/backup.ts';
export { openSqliteStore } from './store/sqlite/sqlite.ts';
export type { Store } from './store/store.ts';
export {
  createAdmin,
  importSchema,
  type Admin,
  type CreateExportInput,
  type ImportDocument,
  type IssuedToken,
  type LocalReportMetadata,
  type WorkedOff,
} from './admin/index.ts';
export { checkRunner, loadRunner } from './jobs/run/load-runner.ts';
export type { Runner, RunnerContext, RunnerJob, RunnerOutcome } from './jobs/run/runner.ts';
export { standardWork } from './jobs/standard.ts';
export { createLog, type LogFormat } from './telemetry/log-lines.ts';
export { createWorker, type Worker, type WorkerOptions } from './worker.ts';
