import { execFile } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from '@aws-sdk/client-s3';

/** A real S3 server, with the environment of two users; the stranger has no permission for our buckets. */
export type TestS3 = {
  readonly endpoint: string;
  readonly env: Readonly<Record<string, string>>;
  readonly strangerEnv: Readonly<Record<string, string>>;
  readonly client: S3Client;
  /** Creates a bucket, with versions of its objects on request, and returns its name. */
  bucket(options?: { readonly versions?: boolean }): Promise<string>;
  /** The value of BLOBS_URL for a bucket and a prefix. */
  url(bucket: string, prefix?: string, endpoint?: string): string;
};

const SCRIPT = fileURLToPath(new URL('s3-up.sh', import.meta.url));
const run = promisify(execFile);
const OWNER = { AWS_ACCESS_KEY_ID: 'drillproof-test', AWS_SECRET_ACCESS_KEY: 'drillproof-secret' };
const STRANGER = { AWS_ACCESS_KEY_ID: 'stranger', AWS_SECRET_ACCESS_KEY: 'stranger-secret' };

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = await new Promise<boolean>((resolve) =>
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
  );
  server.close();
  return listening;
}

/** Finds three free ports in a row, below those that the system uses for connections. */
async function findFreePorts(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const free = await Promise.all([port, port + 1, port + 2].map(isFree));
    if (free.every(Boolean)) return port;
  }
}

type RunningS3 = { readonly endpoint: string; readonly stop: () => Promise<void> | undefined };

async function start(): Promise<RunningS3> {
  const home = await mkdtemp(join(tmpdir(), 'drillproof-s3-'));
  const stop = async (): Promise<void> => {
    await run(SCRIPT, ['stop', home]);
    await rm(home, { recursive: true, force: true });
  };
  try {
    const { stdout } = await run(SCRIPT, ['start', home, String(await findFreePorts())], {
      timeout: 120_000,
    });
    return { endpoint: stdout.trim().split('\n').at(-1) ?? '', stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The S3 server of DRILLPROOF_TEST_S3, or one that the caller stops, with a client of its owner. */
export async function launchS3(): Promise<RunningS3 & Pick<TestS3, 'client' | 'env' | 'url'>> {
  const running = process.env['DRILLPROOF_TEST_S3'];
  const { endpoint, stop } =
    running === undefined ? await start() : { endpoint: running, stop: () => undefined };
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: OWNER.AWS_ACCESS_KEY_ID, secretAccessKey: OWNER.AWS_SECRET_ACCESS_KEY },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const url: TestS3['url'] = (bucket, prefix = '', at = endpoint) =>
    `s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(at)}`;
  return { endpoint, stop, client, env: OWNER, url };
}

/**
 * The S3 server of DRILLPROOF_TEST_S3, or one started for the test file that calls this while it is collected (about
 * 15 s, as root, with Ceph installed) and stopped after its tests.
 */
export async function startS3(): Promise<TestS3> {
  const { afterAll } = await import('vitest');
  const { stop, client, ...server } = await launchS3();
  afterAll(async () => {
    client.destroy();
    await stop();
  });
  return {
    ...server,
    client,
    strangerEnv: STRANGER,
    async bucket({ versions = false } = {}) {
      const Bucket = `test-${randomUUID()}`;
      await client.send(new CreateBucketCommand({ Bucket }));
      const VersioningConfiguration = { Status: 'Enabled' } as const;
      if (versions) await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
      return Bucket;
    },
  };
}
