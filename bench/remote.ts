/** The races of mirrors, ingestion and the control plane. */
import { randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CreateBucketCommand, PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import { EXPORT_ID, PROJECT } from '../test/support/evidence.ts';
import { launchPostgres } from '../test/support/postgres.ts';
import { launchS3 } from '../test/support/s3.ts';
import { exportOf, small, type Shape } from './inputs.ts';
import type { Contender } from './measure.ts';
import { cli, program, shell, type Race } from './race.ts';
import { missing } from './peers.ts';
import { makeSessions, openPlane, seed, sessionPaths, startNginx, startServer } from './servers.ts';

const MIB = 2 ** 20;
const EXPORT_PATH = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT_ID}`;
const CURL = 'curl -Z, then sha256sum -c';
const CURL_ALONE = 'curl -Z alone, nothing verified';
const BARE_CLIENT = 'bare node:http client, hash and write';
const HASH_AND_COPY = 'openssl dgst, cp and sync';

const stored = (count: number, logBytes: number): Shape => ({ parts: count, logBytes, compression: 'store' });
const partNames = (root: string): string[] => readdirSync(`${root}/export/parts`);
const pathOf = (name: string): string => `${EXPORT_PATH}/parts/${name.replace('.zip', '')}`;
const partPaths = (root: string): string[] => partNames(root).map(pathOf);

/** The SHA-256 of each part by its path. */
function readDigests(root: string): Map<string, string> {
  const lines = readFileSync(`${root}/SHA256SUMS`, 'latin1').trim().split('\n');
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

/**
 * Prepares an empty folder for a run. Many small files of an earlier run are kept until the program ends: on ext4, a new
 * file costs up to seven times as much for some time after others were removed, since the kernel searches past their inodes.
 */
const emptyFolder =
  ({ parts }: Shape, folder: string) =>
  (): void => {
    if (existsSync(folder)) {
      if (parts < FEW) rmSync(folder, { recursive: true });
      else renameSync(folder, `${folder}-${randomUUID()}`);
    }
    mkdirSync(folder);
  };
/** Files that can be removed without an effect on the next run. */
const FEW = 100;

/** Writes the lists with which curl and aria2c fetch every part into `parts/`. */
function writeDownloadLists(
  folder: string,
  root: string,
  { url, token }: { url: string; token: string },
): void {
  const digests = readDigests(root);
  const curl = [`header = "Authorization: Bearer ${token}"`];
  const aria2c: string[] = [];
  for (const name of partNames(root)) {
    const address = `${url}${pathOf(name)}`;
    const path = `parts/${name}`;
    curl.push(`url = "${address}"`, `output = "${path}"`);
    const options = [
      `out=${path}`,
      `checksum=sha-256=${digests.get(path)}`,
      `header=Authorization: Bearer ${token}`,
    ];
    aria2c.push(address, ...options.map((option) => `  ${option}`));
  }
  writeFileSync(join(folder, 'curl.txt'), curl.join('\n'));
  writeFileSync(join(folder, 'aria2c.txt'), aria2c.join('\n'));
  writePaths(folder, 'bare.txt', partPaths(root));
}

const prepareMirror =
  (shapeOf: (short: boolean) => Shape): Race['prepare'] =>
  async (setting) => {
    const { folder, short } = setting;
    const shape = shapeOf(short);
    const root = await exportOf(shape);
    const { url, token } = await openPlane(setting, { root });
    writeDownloadLists(folder, root, { url, token });
    const [mirror, cwd] = [join(folder, 'mirror'), join(folder, 'fetched')];
    const before = emptyFolder(shape, cwd);
    const fetch = 'curl -Z --parallel-max 8 --fail -sS --create-dirs -K ../curl.txt';
    return [
      {
        name: 'drillproof mirror',
        command: cli('mirror', EXPORT_ID, '--project', PROJECT, '--url', url, '--to', mirror, '--quiet'),
        env: { DRILLPROOF_TOKEN: token },
        before: emptyFolder(shape, mirror),
      },
      {
        name: CURL,
        command: shell(`${fetch}; sha256sum --quiet -c "$1"`, `${root}/SHA256SUMS`),
        cwd,
        before,
        needs: ['curl', 'sha256sum'],
      },
      {
        name: 'aria2c with checksums',
        command: ['aria2c', '-q', '-j8', '-x1', '--file-allocation=none', '-i', '../aria2c.txt'],
        cwd,
        before,
        needs: ['aria2c'],
      },
      { name: CURL_ALONE, command: shell(fetch), cwd, before, needs: ['curl'] },
      {
        name: BARE_CLIENT,
        command: shell('"$@" < ../bare.txt', ...program('bare-mirror.ts', url, `${root}/SHA256SUMS`)),
        env: { DRILLPROOF_TOKEN: token },
        cwd,
        before,
      },
    ];
  };

const prepareIngest =
  (shapeOf: (short: boolean) => Shape): Race['prepare'] =>
  async ({ folder, short }) => {
    const shape = shapeOf(short);
    const root = await exportOf(shape);
    const [template, data, cwd] = ['template', 'data', 'copied'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    seed(template, {});
    const emptyData = emptyFolder(shape, data);
    const copy = 'openssl dgst -sha256 "$1"/*.zip; cp "$1"/*.zip .; sync *.zip';
    return [
      {
        name: 'drillproof admin ingest export',
        command: cli('admin', 'ingest', 'export', `${root}/export`, '--data', data, '--quiet'),
        before: () => {
          emptyData();
          cpSync(template, data, { recursive: true });
        },
      },
      {
        name: HASH_AND_COPY,
        command: shell(copy, `${root}/export/parts`),
        cwd,
        before: emptyFolder(shape, cwd),
        needs: ['openssl'],
      },
    ];
  };

type Served = { readonly url: string; readonly pid?: number; readonly token?: string };
type Load = { readonly paths: string; readonly connections?: number; readonly short: boolean };

/** A server under the load of wrk on one core: what wrk prints is the answers per second. */
function serving(
  name: string,
  { url, token = '', ...served }: Served,
  { paths, connections = 16, short }: Load,
  ...more: string[]
): Contender {
  const options = ['-t1', `-c${connections}`, `-d${short ? 1 : 2}s`, '--timeout', '30s'];
  const script = join(import.meta.dirname, 'load.lua');
  return {
    name,
    command: ['wrk', ...options, '-s', script, url, '--', paths, token, ...more],
    ...served,
    needs: ['wrk'],
  };
}

function writePaths(folder: string, name: string, paths: readonly string[]): string {
  const file = join(folder, name);
  writeFileSync(file, `${paths.join('\n')}\n`);
  return file;
}

/** The rows of a control plane on SQLite in the folder, or in PostgreSQL that flushes like in production. */
type StoreKind = 'sqlite' | 'postgres';
async function openRows(kind: StoreKind, resources: AsyncDisposableStack): Promise<Record<string, string>> {
  if (kind === 'sqlite') return {};
  const postgres = await launchPostgres({ durable: true });
  resources.defer(postgres.remove);
  return { DATABASE_URL: await postgres.database() };
}

const STORES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;
const PLAIN = 'plain node:http';
const ONE_QUERY = 'plain node:http with one query';

const prepareRead =
  (kind: StoreKind): Race['prepare'] =>
  async (setting) => {
    const { folder, short, resources } = setting;
    const env = await openRows(kind, resources);
    const plane = await openPlane(setting, { env, sessions: makeSessions(1) });
    const load = { paths: writePaths(folder, 'paths', sessionPaths(0)), short };
    const contenders = [serving(`drillproof serve on ${STORES[kind]}`, plane, load)];
    for (const [name, mode] of [
      [PLAIN, 'json'],
      ['bare Hono', 'hono'],
      [ONE_QUERY, kind],
    ] as const) {
      const server = resources.use(await startServer(mode, join(folder, 'data.json'), env));
      contenders.push(serving(name, server, load));
    }
    return contenders;
  };

const ROUNDS = 5;
const prepareExtend =
  (kind: StoreKind): Race['prepare'] =>
  async (setting) => {
    const { folder, short, resources } = setting;
    const env = await openRows(kind, resources);
    const plane = await openPlane(setting, { env, sessions: makeSessions(ROUNDS) });
    const paths = join(folder, 'paths');
    const file = join(folder, 'bare.sqlite');
    return [
      {
        ...serving(`drillproof serve on ${STORES[kind]}`, plane, { paths, short }, 'extend'),
        // Versions count from 1, so each round has sessions of its own.
        before: (round) =>
          void writePaths(
            folder,
            'paths',
            sessionPaths(round).map((path) => `${path}/extend`),
          ),
      },
      {
        name: `bare ${STORES[kind]}`,
        command: program('bare-store.ts', kind, env['DATABASE_URL'] ?? file),
        before: () => ['', '-wal', '-shm'].forEach((end) => rmSync(`${file}${end}`, { force: true })),
      },
    ];
  };

/** Downloads of whole parts of this size by wrk. */
const preparePart =
  (logBytes: number, connections: number): Race['prepare'] =>
  async (setting) => {
    const { folder, short, resources } = setting;
    const root = await exportOf(stored(4, logBytes));
    const files = `${root}/export/parts`;
    const plane = await openPlane(setting, { root });
    const plain = resources.use(await startServer('files', files));
    const names = partNames(root).map((name) => `/${name}`);
    const ours = { paths: writePaths(folder, 'ours', partPaths(root)), short, connections };
    const theirs = { ...ours, paths: writePaths(folder, 'theirs', names) };
    return [
      serving('drillproof serve', plane, ours),
      serving(PLAIN, plain, theirs),
      missing(['nginx']).length === 0
        ? serving('nginx', resources.use(await startNginx(folder, files)), theirs)
        : { name: 'nginx', command: ['nginx'] as const, needs: ['nginx'] as const },
    ];
  };

const BUCKET = 'the bucket itself';
const mayRead = (Bucket: string): string =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Principal: '*', Action: ['s3:GetObject'], Resource: [`arn:aws:s3:::${Bucket}/*`] },
    ],
  });

/** The same downloads, of parts that are stored in S3: through our control plane, and from the bucket. */
const prepareS3Part =
  (logBytes: number, connections: number): Race['prepare'] =>
  async (setting) => {
    const { folder, short, resources } = setting;
    const names = ['drillproof serve', BUCKET] as const;
    if (missing(['radosgw']).length > 0)
      return names.map((name) => ({ name, command: ['radosgw'], needs: ['radosgw'] }));
    const root = await exportOf(stored(4, logBytes));
    const { endpoint, stop, client, env, url: urlOf } = await launchS3();
    resources.defer(async () => {
      client.destroy();
      await stop();
    });
    const Bucket = `bench-${randomUUID()}`;
    await client.send(new CreateBucketCommand({ Bucket }));
    await client.send(new PutBucketPolicyCommand({ Bucket, Policy: mayRead(Bucket) }));
    const plane = await openPlane(setting, { env: { ...env, BLOBS_URL: urlOf(Bucket) }, root });
    const digests = Array.from(readDigests(root).values());
    const blobs = digests.map((digest) => `/${Bucket}/blobs/${digest.slice(0, 2)}/${digest.slice(2)}`);
    const ours = { paths: writePaths(folder, 'ours', partPaths(root)), connections, short };
    const theirs = { ...ours, paths: writePaths(folder, 'theirs', blobs) };
    return [serving(names[0], plane, ours), serving(BUCKET, { url: endpoint }, theirs)];
  };

const DOWNLOADS = [
  ['small', '16 KiB', { logBytes: 14 * 1024, connections: 16, target: 0.8 }],
  ['large', '16 MiB', { logBytes: 16 * MIB, connections: 4, target: 0.9 }],
] as const;

/** The races of mirrors, ingestion and the control plane. */
export const REMOTE_RACES: readonly Race[] = [
  {
    name: 'mirror-small',
    title: '`mirror` of 1,000 parts of 3.7 kB',
    target: 0.85,
    yardstick: BARE_CLIENT,
    limit: BARE_CLIENT,
    prepare: prepareMirror((short) => small(short ? 300 : 1000)),
  },
  {
    name: 'mirror-large',
    title: '`mirror` of 64 parts of 16 MiB',
    target: 1.2,
    yardstick: CURL,
    limit: CURL_ALONE,
    prepare: prepareMirror((short) => stored(short ? 16 : 64, 16 * MIB)),
  },
  {
    name: 'ingest-large',
    title: '`admin ingest export` of 64 parts of 16 MiB',
    target: 0.5,
    yardstick: HASH_AND_COPY,
    limit: HASH_AND_COPY,
    prepare: prepareIngest((short) => stored(short ? 16 : 64, 16 * MIB)),
  },
  {
    name: 'ingest-small',
    title: '`admin ingest export` of 1,000 parts of 3.7 kB',
    maxSeconds: 1.5,
    yardstick: HASH_AND_COPY,
    limit: HASH_AND_COPY,
    prepare: prepareIngest((short) => small(short ? 300 : 1000)),
  },
  ...(['sqlite', 'postgres'] as const).map((kind): Race => ({
    name: `serve-read-${kind}`,
    title: `JSON read by id, on ${STORES[kind]}`,
    target: kind === 'postgres' ? 0.15 : 0.25,
    yardstick: PLAIN,
    limit: ONE_QUERY,
    prepare: prepareRead(kind),
  })),
  ...(['sqlite', 'postgres'] as const).map((kind): Race => ({
    name: `serve-extend-${kind}`,
    title: `Session extended, on ${STORES[kind]}`,
    target: 0.4,
    yardstick: `bare ${STORES[kind]}`,
    limit: `bare ${STORES[kind]}`,
    prepare: prepareExtend(kind),
  })),
  ...DOWNLOADS.map(([name, size, { target, logBytes, connections }]): Race => ({
    name: `serve-part-${name}`,
    title: `Part of ${size} downloaded, from a folder`,
    target,
    yardstick: PLAIN,
    limit: 'nginx',
    prepare: preparePart(logBytes, connections),
  })),
  ...DOWNLOADS.map(([name, size, { logBytes, connections }]): Race => ({
    name: `serve-part-${name}-s3`,
    title: `Part of ${size} downloaded, from S3`,
    target: 0.5,
    yardstick: BUCKET,
    limit: BUCKET,
    prepare: prepareS3Part(logBytes, connections),
  })),
];
