import {
  createAdmin,
  createServer,
  openDiskBlobs,
  openPostgresStore,
  type LogEntry,
} from '../../src/server/index.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { NOW_MS, temporaryFolder, UNHURRIED, world, type World } from './make.ts';

/** A control plane on PostgreSQL, with its blobs in a folder of its own and a clock that the test moves. */
async function postgresWorld(postgres: TestPostgres): Promise<World> {
  const { path, remove } = await temporaryFolder();
  const clock = { nowMs: NOW_MS };
  const now = (): number => clock.nowMs;
  const [log, requests]: [LogEntry[], LogEntry[]] = [[], []];
  const store = await openPostgresStore(await postgres.schema());
  const blobs = await openDiskBlobs(path, now);
  const tell = (entry: LogEntry) => void (entry.event === 'request' ? requests : log).push(entry);
  const server = createServer({ store, blobs, now, limits: UNHURRIED, log: tell });
  const admin = createAdmin({ store, blobs, now });
  const close = async (): Promise<void> => {
    await server.close();
    await remove();
  };
  return { server, store, blobs, admin, folder: path, log, requests, clock, close };
}

/** The stores of this run by name, and how to make a control plane on each: PostgreSQL in the deep run, else ours. */
export async function listStores(
  isDeep: boolean,
): Promise<readonly { readonly name: string; readonly make: () => Promise<World> }[]> {
  if (!isDeep) return [{ name: 'the embedded store', make: () => world() }];
  const postgres = await startPostgres();
  return [{ name: 'PostgreSQL', make: () => postgresWorld(postgres) }];
}
