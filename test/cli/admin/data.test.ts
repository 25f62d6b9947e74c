import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isDeep } from '../../support/deep.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startS3 } from '../../support/s3.ts';
import { call, scratch, start, type CliResult } from '../make.ts';

let dir: Awaited<ReturnType<typeof scratch>>;
beforeEach(async () => {
  dir = await scratch();
});
afterEach(() => dir[Symbol.asyncDispose]());

type Env = Readonly<Record<string, string>>;
const admin = (line: string, env: Env = {}): Promise<CliResult> =>
  call(['admin', ...line.split(' '), '--data', dir.path('data')], { env });
const must = async (line: string, env: Env = {}): Promise<unknown> => {
  const { code, stdout, stderr } = await admin(`${line} --json`, env);
  expect([code, stderr.includes('drillproof:')]).toEqual([0, false]);
  return JSON.parse(stdout);
};

async function blobFiles(): Promise<string[]> {
  const entries = await readdir(dir.path('data/blobs'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Gives the control plane one local report, which is one blob. */
async function withBlob(env: Env = {}): Promise<void> {
  await must('org create --name n --id org_000000000001', env);
  await must('project create --organization org_000000000001 --name n --id prj_000000000001', env);
  await writeFile(dir.path('report.zip'), 'an opaque archive');
  const digest = `sha256:${'4f'.repeat(32)}`;
  const summary = {
    runId: 'run_local-1',
    drillId: 'check-package',
    targetId: 'web',
    reportedBuildHash: digest,
    reportedPackageLockHash: digest,
    seed: '1',
    reportedStatus: 'completed',
    artifactCount: 3,
    expandedBytes: 1024,
    redacted: false,
  };
  const metadata = { manifestDigest: digest, uploadedBy: 'somebody', createdAtMs: 1, summary };
  await writeFile(dir.path('meta.json'), JSON.stringify(metadata));
  const [report, meta] = [dir.path('report.zip'), dir.path('meta.json')];
  await must(`ingest local-report ${report} --project prj_000000000001 --metadata ${meta}`, env);
}

describe('admin check', () => {
  it('passes when every blob exists', async () => {
    await withBlob();
    expect(await must('check')).toMatchObject({ kind: 'check', blobs: 1, intact: 1, findings: [] });
  });

  it('ends with 1 and a code for a blob that is damaged, and for one that is gone', async () => {
    await withBlob();
    const [file] = await blobFiles();
    await writeFile(file!, 'another archive..');
    const damaged = await admin('check');
    expect([damaged.code, damaged.stdout]).toEqual([
      1,
      expect.stringMatching(/server\.BLOB_CORRUPT +sha256:/),
    ]);
    await rm(file!);
    const gone = await admin('check --json');
    expect(gone.code).toBe(1);
    expect(JSON.parse(gone.stdout)).toMatchObject({ intact: 0, findings: [{ code: 'server.BLOB_MISSING' }] });
  });

  it('admin check reports an orphan blob and ends with 0', async () => {
    await withBlob();
    const hex = 'ab'.repeat(32);
    const [file] = await blobFiles();
    const folder = dir.path('data/blobs/ab');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, hex.slice(2)), 'nobody names me');
    const { code, stdout } = await admin('check');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`server.BLOB_ORPHAN  sha256:${hex}`)]);
    expect(await readFile(file!, 'utf8')).toBe('an opaque archive');
  });

  it('does not create a missing folder', async () => {
    expect((await admin('check')).stderr).toContain('io.NOT_FOUND');
    expect(await readdir(dir.root)).toEqual([]);
  });
});

it('admin migrate prints the schema of the store', async () => {
  await withBlob();
  const { schema } = (await must('migrate')) as { schema: { version: number; known: number } };
  expect(schema.version).toBe(schema.known);
});

it('admin migrate does not create a missing store', async () => {
  expect((await admin('migrate')).stderr).toContain('io.NOT_FOUND');
});

describe('admin backup', () => {
  it('writes a file from which the control plane can be had again', async () => {
    await withBlob();
    const product = await must(`backup --out ${dir.path('copy.sqlite')}`);
    expect(product).toMatchObject({ kind: 'backup', store: dir.path('copy.sqlite') });
    await rm(dir.path('data/store.sqlite'));
    await rename(dir.path('copy.sqlite'), dir.path('data/store.sqlite'));
    expect(await must('check')).toMatchObject({ blobs: 1, intact: 1 });
  });

  it('writes store.sqlite into a folder, and prints how to copy the blobs', async () => {
    await withBlob();
    const { code, stderr } = await admin(`backup --out ${dir.root}`);
    expect(code).toBe(0);
    expect((await stat(dir.path('store.sqlite'))).mode & 0o077).toBe(0);
    expect(stderr).toContain(`rsync -a ${dir.path('data/blobs')}/`);
  });

  it('never replaces a file', async () => {
    await withBlob();
    await writeFile(dir.path('copy'), 'precious');
    expect((await admin(`backup --out ${dir.path('copy')}`)).stderr).toContain('io.EXISTS');
    expect(await readFile(dir.path('copy'), 'utf8')).toBe('precious');
  });

  it('names the tool for PostgreSQL, and never the password', async () => {
    const env = {
      DATABASE_URL: 'postgres://user:hunter2@db/x',
      BLOBS_URL: 's3://bucket/p?endpoint=http://127.0.0.1:1',
    };
    const { code, stderr } = await admin(`backup --out ${dir.path('copy')}`, env);
    expect(code).toBe(2);
    expect(stderr).toContain('pg_dump --format=custom --file=store.dump "$DATABASE_URL"');
    expect(stderr).toContain('aws s3 sync s3://bucket/p/ TARGET --endpoint-url http://127.0.0.1:1');
    expect(stderr).not.toContain('hunter2');
  });
});

const serve = (env: Env, ...more: string[]): Promise<CliResult> =>
  call(['serve', '--data', dir.path('data'), '--port', '0', ...more], { env });

describe('a start with a bad configuration', () => {
  it.each([
    [{ DATABASE_URL: 'mysql://user:hunter2@host/db' }],
    [{ DATABASE_URL: '' }],
    [{ DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/db' }],
    [{ BLOBS_URL: 'gs://bucket' }],
    [{ BLOBS_URL: 's3://key:hunter2@bucket' }],
    [{ BLOBS_URL: 's3://bucket?region=x&colour=red' }],
    [
      {
        BLOBS_URL: 's3://bucket?endpoint=http://127.0.0.1:1',
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'hunter2',
      },
    ],
  ])('ends at %j with one line and its action', async (env) => {
    const { code, stdout, stderr } = await serve(env);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^drillproof: server\.CONFIG_INVALID: [^\n]+\n {2}[^\n]+\n$/);
    expect(stderr).not.toContain('hunter2');
  });

  it('ends at a port that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { code, stderr } = await serve({}, '--port', String(port));
    taken.close();
    expect(code).toBe(2);
    expect(stderr).toMatch(/^drillproof: server\.CONFIG_INVALID: [^\n]*EADDRINUSE[^\n]*\n/);
  });
});

if (isDeep) {
  const [postgres, s3] = [await startPostgres(), await startS3()];

  describe('on PostgreSQL and S3', () => {
    it('serves, administers and checks without a folder on this machine', async () => {
      const env = {
        ...s3.env,
        DATABASE_URL: await postgres.database(),
        BLOBS_URL: s3.url(await s3.bucket(), 'prefix'),
      };
      await withBlob(env);
      const serving = start(['serve', '--data', dir.path('data'), '--port', '0', '--json'], { env });
      try {
        let said = '';
        for await (const chunk of serving.stdout) {
          said += String(chunk);
          if (said.includes('}\n')) break;
        }
        const { url, store, blobs } = JSON.parse(said) as { url: string; store: string; blobs: string };
        expect([store, blobs]).toEqual(['PostgreSQL', expect.stringMatching(/^s3:\/\/test-.*\/prefix\/$/)]);
        expect((await fetch(`${url}/healthz`)).status).toBe(200);
        expect(await must('check', env)).toMatchObject({ blobs: 1, intact: 1, findings: [] });
        expect(await must('migrate', env)).toMatchObject({ store: 'PostgreSQL' });
      } finally {
        serving.kill('SIGTERM');
        await once(serving, 'close');
      }
      expect(await readdir(dir.root)).not.toContain('data');
    });
  });
}
