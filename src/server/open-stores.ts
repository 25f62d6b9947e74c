import { checkArguments, COUNT, defined, OBJECT, optional, optionsOf, PATH } from '../bytes/arguments.ts';
import { join } from 'node:path';
import { DrillproofError } from '../errors.ts';
import { parseS3Location, type S3Location, s3Name } from '../node/s3/location.ts';
import type { Blobs } from './blobs/blobs.ts';
import { openDiskBlobs } from './blobs/disk.ts';
import { openS3Blobs } from './blobs/s3.ts';
import { claimFolder } from './blobs/data-version.ts';
import { openPostgresStore } from './store/postgres/postgres.ts';
import { openSqliteStore } from './store/sqlite/sqlite.ts';
import type { Store } from './store/store.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The place of the rows: an address, which may contain a password, or the file of the embedded store. */
type StorePlace =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'sqlite'; readonly path: string };

type BlobPlace =
  | { readonly kind: 's3'; readonly location: S3Location }
  | { readonly kind: 'disk'; readonly folder: string };

/** The places in which a control plane stores rows and bytes. */
export type Places = {
  readonly store: StorePlace;
  readonly blobs: BlobPlace;
  /** The local folders that are needed. The data folder is missing if nothing is stored in it. */
  readonly folders: readonly string[];
  /** Both places as text without secrets. */
  readonly names: { readonly store: string; readonly blobs: string };
};

const SQLITE_FILE = 'store.sqlite';
// One letter and a colon are a drive of Windows.
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]+:/;

const BLOBS_URL = { name: 'BLOBS_URL', code: 'server.CONFIG_INVALID' } as const;

const invalid = (message: string): DrillproofError => new DrillproofError('server.CONFIG_INVALID', message);

/** Reads a variable. An empty value is refused: it is probably a missing secret. */
function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name];
  if (value === '') throw invalid(`${name} is set but empty`);
  return value;
}

function parseStorePlace(env: Environment, dataDir: string): StorePlace {
  const url = readVariable(env, 'DATABASE_URL');
  if (url === undefined) return { kind: 'sqlite', path: join(dataDir, SQLITE_FILE) };
  if (!/^postgres(ql)?:\/\//.test(url)) throw invalid('DATABASE_URL is not of the form postgres://…');
  return { kind: 'postgres', url };
}

function parseBlobPlace(env: Environment, dataDir: string): BlobPlace {
  const url = readVariable(env, 'BLOBS_URL');
  if (url === undefined) return { kind: 'disk', folder: dataDir };
  if (url.startsWith('s3:')) return { kind: 's3', location: parseS3Location(url, BLOBS_URL) };
  if (SCHEME.test(url)) throw invalid('BLOBS_URL is neither s3://… nor the path of a folder');
  return { kind: 'disk', folder: url };
}

/**
 * Returns the places of the rows and the bytes of a control plane by `DATABASE_URL` and `BLOBS_URL`; the default is the
 * data folder (docs/server/server.md). Nothing is opened.
 * @throws DrillproofError `server.CONFIG_INVALID` for a value that is not valid
 */
export function placesOf(env: Environment, dataDir: string): Places {
  const store = parseStorePlace(env, dataDir);
  const blobs = parseBlobPlace(env, dataDir);
  const folders = new Set<string>();
  if (store.kind === 'sqlite') folders.add(dataDir);
  if (blobs.kind === 'disk') folders.add(blobs.folder);
  return {
    store,
    blobs,
    folders: [...folders],
    names: {
      store: store.kind === 'sqlite' ? store.path : 'PostgreSQL',
      blobs: blobs.kind === 'disk' ? join(blobs.folder, 'blobs') : s3Name(blobs.location),
    },
  };
}

type OpenOptions = {
  readonly databaseConnections?: number;
  readonly storageIdleMs?: number;
};

/** The opened store and blobs of a control plane, and where they are stored. */
export type Stores = { readonly store: Store; readonly blobs: Blobs; readonly places: Places };

/**
 * Opens the store and the blobs that the environment names (`DATABASE_URL`, `BLOBS_URL`), or the embedded pair in the
 * data folder (docs/server/server.md). Folders are created if absent, for their owner only, and the schema is brought up to
 * date.
 * @param options.databaseConnections connections to PostgreSQL, one of them for reads; default 10
 * @param options.storageIdleMs time without a byte after which a request to S3 fails and is tried again; default 5,000
 * @throws DrillproofError `server.CONFIG_INVALID` in one line for a store that is unknown, refuses the login, lacks a
 *   permission or is of another version; `control.UNAVAILABLE` for a server that is away; `io.READ_ONLY`,
 *   `io.DISK_FULL`, `io.KIND`, `io.UNREADABLE` for a folder
 * @example
 * const { store, blobs, places } = await openStores(process.env, 'data');
 * console.log(places.names.store);
 */
export async function openStores(
  env: Environment,
  dataDir: string,
  options: OpenOptions = {},
): Promise<Stores> {
  const kinds = optionsOf({ databaseConnections: optional(COUNT), storageIdleMs: optional(COUNT) });
  checkArguments({ env: OBJECT, dataDir: PATH, options: kinds }, { env, dataDir, options });
  const places = placesOf(env, dataDir);
  for (const folder of places.folders) await claimFolder(folder);
  const blobs =
    places.blobs.kind === 's3'
      ? await openS3Blobs(places.blobs.location, { env, idleMs: options.storageIdleMs })
      : await openDiskBlobs(places.blobs.folder);
  try {
    const store =
      places.store.kind === 'postgres'
        ? await openPostgresStore(places.store.url, defined({ connections: options.databaseConnections }))
        : await openSqliteStore(places.store.path);
    return { store, blobs, places };
  } catch (error) {
    await blobs.close();
    throw error;
  }
}

/**
 * Opens SQLite and blobs on disk in a folder, regardless of the environment.
 * @throws what `openStores` throws
 * @example
 * const { store, blobs } = await openEmbedded('data');
 */
export const openEmbedded = (dataDir: string): Promise<Stores> => openStores({}, dataDir);
