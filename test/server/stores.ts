import { openDiskBlobs, openPostgresStore } from '../../src/server/index.ts';
import { startPostgres } from '../support/postgres.ts';
import { makePlane, type Plane } from './make.ts';

/** Returns a maker of control planes on the store of this run: PostgreSQL in the deep run, else SQLite. */
export async function chooseStore(isDeep: boolean): Promise<() => Promise<Plane>> {
  if (!isDeep) return makePlane;
  const postgres = await startPostgres();
  return () =>
    makePlane({}, async (folder, { now }) => ({
      store: await openPostgresStore(await postgres.schema()),
      blobs: await openDiskBlobs(folder, now),
    }));
}
