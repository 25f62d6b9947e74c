import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { startPostgres } from '../support/postgres.ts';
import { startS3 } from '../support/s3.ts';

// No container can be built where these tests run. They read Dockerfile and compose.yaml, and run the same files, users,
// commands, variables and health checks without one.
const ROOT = resolve(import.meta.dirname, '../..');
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const DATA = '/var/lib/drillproof';

type Service = {
  readonly environment: Readonly<Record<string, string>>;
  readonly build?: { readonly target: string };
};
const compose = parse(readFileSync(join(ROOT, 'docs/server/deployment/compose.yaml'), 'utf8'), {
  merge: true,
}) as {
  readonly services: Readonly<Record<string, Service>>;
};

/** The instruction of a target, such as the words of its CMD. */
function instruction(target: string, name: string): string[] {
  const stage = DOCKERFILE.split('\nFROM ').find((text) => text.split('\n')[0]!.endsWith(` AS ${target}`));
  const [, words = ''] = new RegExp(`^${name}.*?(\\[.*\\])$`, 'm').exec(stage ?? '') ?? [];
  return JSON.parse(words) as string[];
}

const s3 = await startS3();
const postgres = await startPostgres();
const folder = await makeFolder();
const binary = join(folder, 'usr/local/bin/drillproof');
const [, copied = ''] = /^COPY --chmod=0755 single\/drillproof\.mjs (\S+)$/m.exec(DOCKERFILE) ?? [];
const [, uid = ''] = /^USER (\d+):\1$/m.exec(DOCKERFILE) ?? [];

const running: ChildProcess[] = [];
let variables: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  expect(join(folder, copied)).toBe(binary);
  execFileSync(process.execPath, ['scripts/build.ts', 'single', join(folder, 'single')], { cwd: ROOT });
  mkdirSync(join(folder, 'usr/local/bin'), { recursive: true });
  copyFileSync(join(folder, 'single/drillproof.mjs'), binary);
  chmodSync(binary, 0o755);
  chmodSync(folder, 0o755);
  const address = s3.url(await s3.bucket(), 'plane');
  const database = await postgres.database();
  const values: Readonly<Record<string, string>> = { DATABASE_URL: database, BLOBS_URL: address, ...s3.env };
  variables = values;
});
const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

afterAll(async () => {
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(running.filter(isRunning).map((child) => once(child, 'exit')));
});

/** Gives a service its own data folder, and replaces paths, ports and addresses by those of this machine. */
async function startService(name: string, { build, environment }: Service) {
  const target = build!.target;
  const data = join(folder, name);
  mkdirSync(data);
  chownSync(data, Number(uid), Number(uid));
  const port = String(await freePort());
  const local = (word: string) => word.replace(DATA, data).replace(/\b808[01]\b/, port);
  const names = Object.keys(environment);
  const env = Object.fromEntries(names.map((key) => [key, variables[key] ?? local(environment[key]!)]));
  const options = {
    cwd: data,
    env: { PATH: process.env['PATH'], HOME: '/', ...env },
    uid: Number(uid),
    gid: Number(uid),
  };
  const child = spawn(process.execPath, [binary, ...instruction(target, 'CMD').map(local)], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk) => (log += String(chunk)));
  running.push(child);
  const [, ...check] = instruction(target, 'HEALTHCHECK').map(local);
  return { port, data, options, isHealthy: () => runsWell(check), log: () => log };
}

function runsWell(words: readonly string[]): boolean {
  try {
    execFileSync(process.execPath, words, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

it('the services of compose.yaml become healthy without privileges, and their workers make an export', async () => {
  const names = Object.keys(compose.services).filter((name) => compose.services[name]!.build !== undefined);
  expect(names).toEqual(['server-1', 'server-2', 'worker-1', 'worker-2']);
  const services = [];
  for (const name of names) services.push(await startService(name, compose.services[name]!));
  for (const { isHealthy, log } of services)
    await expect.poll(() => isHealthy() || log(), { timeout: 60_000, interval: 500 }).toBe(true);

  const [first, second] = services;
  const admin = (line: string): any =>
    JSON.parse(
      execFileSync(process.execPath, [binary, 'admin', ...line.split(' '), '--json'], {
        ...first!.options,
        encoding: 'utf8',
      }),
    );
  const { organizationId } = admin('org create --name Acme');
  const { projectId } = admin(`project create --organization ${organizationId} --name Shop`);
  const { token } = admin(
    `token create --organization ${organizationId} --project ${projectId} --permission evidence.read`,
  );
  const exported = 'evexp_000000000001';
  admin(
    `export create --organization ${organizationId} --scope project --project ${projectId} --from 2026-01-01 --id ${exported}`,
  );
  const readState = async () => {
    const address = `http://127.0.0.1:${second!.port}/v1/projects/${projectId}/evidence-exports/${exported}`;
    const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
    return ((await response.json()) as { state: string }).state;
  };
  await expect.poll(readState, { timeout: 60_000, interval: 200 }).toBe('available');
  expect(readdirSync(first!.data)).toEqual(['audit.log']);
}, 240_000);
