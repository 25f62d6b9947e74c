/** Starts the servers that races measure, and puts evidence into our control plane. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { idOf, ORGANIZATION, PROJECT } from '../test/support/evidence.ts';
import { freePort } from '../test/support/ports.ts';
import { makeEnvironment, makeSession } from '../test/server/make.ts';
import { cli, program, type Setting } from './race.ts';

type Environment = Readonly<Record<string, string>>;
type Running = AsyncDisposable & { readonly url: string; readonly pid: number };

async function acceptsConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const result = await once(socket, 'connect').catch(() => undefined);
  socket.destroy();
  return result !== undefined;
}

/** Starts a program and waits until it listens on a free port. */
async function start(
  commandOf: (port: number) => readonly string[],
  env: Environment = {},
): Promise<Running> {
  const port = await freePort();
  const [file = '', ...args] = commandOf(port);
  const child = spawn(file, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.once('exit', () => child.kill());
  for (let tries = 0; !(await acceptsConnections(port)); tries++) {
    if (tries === 100 || child.exitCode !== null) throw new Error(`${file} does not listen`);
    await sleep(100);
  }
  const dispose = async (): Promise<void> => {
    if (child.exitCode !== null || !child.kill()) return;
    await once(child, 'exit');
  };
  return { url: `http://127.0.0.1:${port}`, pid: child.pid!, [Symbol.asyncDispose]: dispose };
}

/** Starts nginx as one process, like the other servers, for the files of a folder. */
export function startNginx(scratch: string, folder: string): Promise<Running> {
  return start((port) => {
    const path = join(scratch, 'nginx.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${scratch}/${name};`,
    );
    const http = `access_log off; sendfile on; keepalive_requests 1000000; ${temporary.join(' ')}
      server { listen 127.0.0.1:${port}; root ${folder}; }`;
    const main = `user root; daemon off; master_process off; error_log stderr; pid ${scratch}/nginx.pid;`;
    writeFileSync(path, `${main} events {} http { ${http} }`);
    return ['nginx', '-c', path, '-e', 'stderr'];
  });
}

function admin(data: string, env: Environment, ...args: string[]): string {
  const [file, ...rest] = cli('admin', ...args, '--data', data, '--quiet');
  const { status, stdout, stderr } = spawnSync(file, rest, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`admin ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

export const SESSIONS = 256;
export const sessionPaths = (round: number): string[] =>
  Array.from(
    { length: SESSIONS },
    (_, n) => `/v1/projects/${PROJECT}/sessions/${idOf('ses', round * SESSIONS + n + 1)}`,
  );

/** The sessions of some rounds, which end in an hour. */
export function makeSessions(rounds: number) {
  const place = { organizationId: ORGANIZATION, projectId: PROJECT };
  const createdAtMs = Date.now();
  const environment = makeEnvironment(place);
  const sessions = Array.from({ length: rounds * SESSIONS }, (_, n) =>
    makeSession(n + 1, { ...place, environmentId: environment.environmentId, createdAtMs }),
  );
  return { schemaVersion: 1, environments: [environment], sessions, runs: [], authoringSessions: [] };
}

type Content = { env?: Environment; root?: string; sessions?: unknown };

/** Creates a data folder with an organization and a project, the export of `root` and `sessions`; returns a token. */
export function seed(data: string, { env = {}, root, sessions }: Content): string {
  admin(data, env, 'org', 'create', '--id', ORGANIZATION, '--name', 'bench');
  admin(data, env, 'project', 'create', '--organization', ORGANIZATION, '--id', PROJECT, '--name', 'bench');
  if (root !== undefined) admin(data, env, 'ingest', 'export', `${root}/export`);
  if (sessions !== undefined) {
    const file = `${data}.json`;
    writeFileSync(file, JSON.stringify(sessions));
    admin(data, env, 'import', file);
  }
  const allowed = ['--permission', 'evidence.read', '--permission', 'session.control'];
  return admin(data, env, 'token', 'create', '--organization', ORGANIZATION, '--all-projects', ...allowed);
}

/** Starts a program of `server.ts` for this source. */
export const startServer = (kind: string, source: string, env?: Environment): Promise<Running> =>
  start((port) => program('server.ts', String(port), kind, source), env);

/** Our control plane with this content, in the folder of a race. */
export async function openPlane({ folder, resources }: Setting, content: Content) {
  const data = join(folder, 'data');
  const token = seed(data, content);
  const { url, pid } = resources.use(await startServer('plane', data, content.env));
  return { url, pid, token };
}
