import { openDiskBlobs, openPostgresStore } from '../../src/server/index.ts';
import { startPostgres } from '../support/postgres.ts';
import { makePlane, type Plane } from './make.ts';

/** The stores of this run by name, and a maker of control planes on each: PostgreSQL in the deep run, else SQLite. */
export async function listStores(
  isDeep: boolean,
): Promise<readonly { readonly name: string; readonly make: () => Promise<Plane> }[]> {
  if (!isDeep) return [{ name: 'the embedded store', make: () => makePlane() }];
  const postgres = await startPostgres();
  const make = (): Promise<Plane> =>
    makePlane({}, async (folder, { now }) => ({
      store: await openPostgresStore(await postgres.schema()),
      blobs: await openDiskBlobs(folder, now),
    }));
  return [{ name: 'PostgreSQL', make }];
}
