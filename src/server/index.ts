/**
 * The control plane: an HTTP application over a store and a blob store, what listens for it, and what administers it
 * (docs/server.md).
 */
export type { Blobs, ByteRange, OpenBlob } from './blobs/blobs.ts';
export { checkStores, type CheckFinding, type CheckOptions, type CheckReport } from './admin/check.ts';
export { openDiskBlobs } from './blobs/disk.ts';
export { defaultLimits, type ServerLimits } from './limits.ts';
export { listen, type Listening, type ListenOptions } from './listen.ts';
export { logLevels, type Log, type LogEntry, type LogLevel } from './log.ts';
export { createServer, type ControlServer, type ServerOptions } from './server.ts';
export { openEmbedded, openStores, placesOf, type Places, type Stores } from './open-stores.ts';
export type { PostgresOptions } from './store/postgres/pool.ts';
export { openPostgresStore } from './store/postgres/postgres.ts';
export { backupSqlite } from './store/sqlite/backup.ts';
export { openSqliteStore } from './store/sqlite/sqlite.ts';
export type { Reads, Store, Writes } from './store/store.ts';
export {
  createAdmin,
  importSchema,
  localReportMetadataSchema,
  type Admin,
  type CreatedExport,
  type CreateExportInput,
  type ImportDocument,
  type ImportedResource,
  type Ingested,
  type IngestExportOptions,
  type IssuedToken,
  type LocalReportMetadata,
  type OrganizationInput,
  type ProjectInput,
  type TokenInput,
  type WorkedOff,
} from './admin/index.ts';
export type { JobContext, JobEnd, JobHandler, Sweep } from './jobs/handler.ts';
export { checkRunner, loadRunner } from './jobs/run/load-runner.ts';
export type {
  RerunJob,
  RerunOutcome,
  Runner,
  RunnerContext,
  RunnerJob,
  RunnerKind,
  RunnerOutcome,
  RunnerProgress,
  TurnJob,
  TurnOutcome,
} from './jobs/run/runner.ts';
export { standardWork } from './jobs/standard.ts';
export { createLog, type LogFormat } from './telemetry/log-lines.ts';
export { createWorker, type Worker, type WorkerOptions } from './worker.ts';
