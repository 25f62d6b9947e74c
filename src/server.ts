/** `drillproof/server`: a control plane, what listens for it, what works off its jobs, and what administers it. */
export { createAdmin, type Admin } from './server/admin/index.ts';
export { loadRunner } from './server/jobs/run/load-runner.ts';
export type {
  RerunJob,
  RerunOutcome,
  Runner,
  RunnerContext,
  TurnJob,
  TurnOutcome,
} from './server/jobs/run/runner.ts';
export { standardWork } from './server/jobs/standard.ts';
export { defaultLimits, type ServerLimits } from './server/limits.ts';
export { listen, type ListenOptions, type Listening } from './server/listen.ts';
export type { Log } from './server/log.ts';
export { openEmbedded, openStores, placesOf, type Places, type Stores } from './server/open-stores.ts';
export { createServer, type ControlServer, type ServerOptions } from './server/server.ts';
export { createLog } from './server/telemetry/log-lines.ts';
export { createWorker, type Worker, type WorkerOptions } from './server/worker.ts';
