import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { openDiskBlobs } from '../../src/server/blobs/disk.ts';
import { openPostgresStore } from '../../src/server/store/postgres/postgres.ts';
import type { ServerLimits } from '../../src/server/model/limits.ts';
import type { Store, Tx } from '../../src/server/store/store.ts';
import { isDeep } from '../support/deep.ts';
import { startPostgres } from '../support/postgres.ts';
import { HASH, ORG, PROJECT, createTenants, token, makePlane, type Plane } from './make.ts';

/** A control plane with tenants, and a token for everything. */
export type Prepared = Plane & { readonly token: string };

type Hooks = {
  readonly before: (prepare: () => Promise<void>) => void;
  readonly after: (close: () => Promise<void>) => void;
};

function prepare({ before, after }: Hooks, make: () => Promise<Plane>, steps: readonly Step[]): Prepared {
  const prepared = {} as Prepared;
  before(async () => {
    const plane = await make();
    await createTenants(plane);
    for (const step of steps) await step(plane);
    Object.assign(prepared, plane, { token: await token(plane) });
  });
  after(async () => prepared.close());
  return prepared;
}

type Step = (plane: Plane) => Promise<unknown>;

/** A new control plane with tenants for each test of the file, after these steps. */
export const eachTest = (...steps: readonly Step[]): Prepared =>
  prepare({ before: beforeEach, after: afterEach }, () => makePlane(), steps);

/** Returns a maker of control planes on the store of this run: PostgreSQL in the deep run, else SQLite. */
export async function chooseStore(): Promise<() => Promise<Plane>> {
  if (!isDeep) return makePlane;
  const postgres = await startPostgres();
  return () =>
    makePlane({}, async (folder) => ({
      store: await openPostgresStore(await postgres.schema()),
      blobs: await openDiskBlobs(folder),
    }));
}

/** The same as `eachTest`, on the store of this run. */
export const eachTestOnStore = async (...steps: readonly Step[]): Promise<Prepared> =>
  prepare({ before: beforeEach, after: afterEach }, await chooseStore(), steps);

/** One control plane with tenants for all tests of the file. */
export const wholeFile = (limits: Partial<ServerLimits> = {}, ...steps: readonly Step[]): Prepared =>
  prepare({ before: beforeAll, after: afterAll }, () => makePlane(limits), steps);

/** Stores a build with the bytes of `HASH` for the runs of `importWorlds`. */
export const storeBuild = ({ store }: Pick<Plane, 'store'>): Promise<void> => {
  const build = { organizationId: ORG, projectId: PROJECT, buildHash: HASH };
  return store.transaction((tx) => tx.builds.save({ ...build, archive: { digest: HASH, bytes: 1 } }));
};

/** A store in whose transactions some members are replaced. */
export const withMembers = (store: Store, replace: (tx: Tx) => Partial<Tx>): Store => ({
  ...store,
  transaction: (work) => store.transaction((tx) => work({ ...tx, ...replace(tx) })),
});
