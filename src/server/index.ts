/** The control plane: an HTTP application over a store and a blob store, its listener, its worker and its administration. */
export { type CheckReport, checkStores } from './admin/check.ts';
export { deriveId } from './ids.ts';
export {
  type Admin,
  createAdmin,
  type CreateExportInput,
  type ImportDocument,
  importSchema,
  type IssuedToken,
  type WorkedOff,
} from './admin/index.ts';
export { type LocalReportMetadata, localReportMetadataSchema } from './admin/local-report.ts';
export type { Blobs } from './blobs/blobs.ts';
export { openDiskBlobs } from './blobs/disk.ts';
export { loadRunner } from './jobs/run/runner.ts';
export type {
  RerunJob,
  RerunOutcome,
  Runner,
  RunnerContext,
  RunnerJob,
  RunnerOutcome,
  TurnJob,
  TurnOutcome,
} from './jobs/run/runner.ts';
export { standardWork } from './jobs/standard.ts';
export { defaultLimits, type ServerLimits } from './limits.ts';
export { listen, type Listening, type ListenOptions } from './listen.ts';
export { openEmbedded, openStores, type Places, placesOf, type Stores } from './open-stores.ts';
export { type ControlServer, createServer, type ServerOptions } from './server.ts';
export { openPostgresStore } from './store/postgres/postgres.ts';
export { backupSqlite } from './store/sqlite/backup.ts';
export { openSqliteStore } from './store/sqlite/sqlite.ts';
export type { Store } from './store/store.ts';
export {
  type Audit,
  createAudit,
  createLog,
  type Log,
  type LogEntry,
  type LogFormat,
  type LogLevel,
  logLevels,
} from './telemetry/log.ts';
export { createWorker, createWorkerHealth, type Worker, type WorkerOptions } from './worker.ts';
