/** `drillproof/server`: a control plane, its listener, its workers and its administration. */
export { type Admin, createAdmin } from './server/admin/admin.ts';
export { type ControlServer, createServer, type ServerOptions } from './server/server.ts';
export { createOidc, type VerifyIdentity } from './server/http/oidc.ts';
export { createLog, type Log } from './server/model/log.ts';
export { createWorker, type Worker, type WorkerOptions } from './server/jobs/worker.ts';
export { defaultLimits, type ServerLimits } from './server/model/limits.ts';
export { listen, type Listening, type ListenOptions } from './server/listen.ts';
export { loadRunner } from './server/jobs/run/load.ts';
export {
  type RerunJob,
  type RerunOutcome,
  type Runner,
  type RunnerContext,
  type TurnJob,
  type TurnOutcome,
} from './server/jobs/run/runner.ts';
export { openEmbedded, openStores, type Stores } from './server/open-stores.ts';
export { standardWork } from './server/jobs/standard.ts';
