import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isDeep } from '../../support/deep.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startS3 } from '../../support/s3.ts';
import { localReport } from '../../server/make.ts';
import { call, type CliResult, expectResult, start, useScratch } from '../make.ts';

const dir = useScratch();

type Env = Readonly<Record<string, string>>;
const admin = (line: string, env: Env = {}): Promise<CliResult> =>
  call(`admin ${line} --data ${dir.path('data')}`, { env });
const adminJson = async (line: string, env: Env = {}): Promise<unknown> => {
  const { code, stdout, stderr } = await admin(`${line} --json`, env);
  expect([code, stderr.includes('drillproof:')]).toEqual([0, false]);
  return JSON.parse(stdout);
};

async function blobFiles(): Promise<string[]> {
  const entries = await readdir(dir.path('data/blobs'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Makes a control plane with one local report, which is one blob. */
async function writeBlob(env: Env = {}): Promise<void> {
  await adminJson('org create --name n --id org_000000000001', env);
  await adminJson('project create --organization org_000000000001 --name n --id prj_000000000001', env);
  await writeFile(dir.path('report.zip'), 'an opaque archive');
  await writeFile(dir.path('meta.json'), JSON.stringify(localReport(1).metadata));
  const [report, meta] = [dir.path('report.zip'), dir.path('meta.json')];
  await adminJson(`ingest local-report ${report} --project prj_000000000001 --metadata ${meta}`, env);
}

describe('admin check', () => {
  it('admin check passes when every blob exists', async () => {
    await writeBlob();
    expect(await adminJson('check')).toMatchObject({ kind: 'check', blobs: 1, intact: 1, findings: [] });
  });

  it('admin check ends with 1 and a code for a damaged blob, and for a missing one', async () => {
    await writeBlob();
    const [file] = await blobFiles();
    await writeFile(file!, 'another archive..');
    expect(await expectResult(admin('check'), 1)).toMatch(/server\.BLOB_CORRUPT +sha256:/);
    await rm(file!);
    const { code, stdout } = await admin('check --json');
    const report = { intact: 0, findings: [{ code: 'server.BLOB_MISSING' }] };
    expect([code, JSON.parse(stdout)]).toMatchObject([1, report]);
  });

  it('admin check reports an orphan blob and ends with 0', async () => {
    await writeBlob();
    const hex = 'ab'.repeat(32);
    const [file] = await blobFiles();
    const folder = dir.path('data/blobs/ab');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, hex.slice(2)), 'an orphan');
    await expectResult(admin('check'), 0, `server.BLOB_ORPHAN  sha256:${hex}`);
    expect(await readFile(file!, 'utf8')).toBe('an opaque archive');
  });

  it('admin check does not create a missing folder', async () => {
    expect((await admin('check')).stderr).toContain('io.NOT_FOUND');
    expect(await readdir(dir.root)).toEqual([]);
  });
});

it('admin migrate prints the schema of the store', async () => {
  await writeBlob();
  const { schema } = (await adminJson('migrate')) as { schema: { version: number; known: number } };
  expect(schema.version).toBe(schema.known);
});

it('admin migrate does not create a missing store', async () => {
  expect((await admin('migrate')).stderr).toContain('io.NOT_FOUND');
});

describe('admin backup', () => {
  it('admin backup writes a file from which the control plane can be restored', async () => {
    await writeBlob();
    const product = await adminJson(`backup --out ${dir.path('copy.sqlite')}`);
    expect(product).toMatchObject({ kind: 'backup', store: dir.path('copy.sqlite') });
    await rm(dir.path('data/store.sqlite'));
    await rename(dir.path('copy.sqlite'), dir.path('data/store.sqlite'));
    expect(await adminJson('check')).toMatchObject({ blobs: 1, intact: 1 });
  });

  it('admin backup writes store.sqlite into a folder, and prints how to copy the blobs', async () => {
    await writeBlob();
    await expectResult(admin(`backup --out ${dir.root}`), 0, `rsync -a ${dir.path('data/blobs')}/`);
    expect((await stat(dir.path('store.sqlite'))).mode & 0o077).toBe(0);
  });

  it('admin backup never replaces a file', async () => {
    await writeBlob();
    await writeFile(dir.path('copy'), 'precious');
    expect((await admin(`backup --out ${dir.path('copy')}`)).stderr).toContain('io.EXISTS');
    expect(await readFile(dir.path('copy'), 'utf8')).toBe('precious');
  });

  it('admin backup names the tool for PostgreSQL, and never the password', async () => {
    const env = {
      DATABASE_URL: 'postgres://user:hunter2@db/x',
      BLOBS_URL: 's3://bucket/p?endpoint=http://127.0.0.1:1',
    };
    const text = await expectResult(admin(`backup --out ${dir.path('copy')}`, env), 2);
    for (const command of [
      'pg_dump --format=custom --file=store.dump "$DATABASE_URL"',
      'aws s3 sync s3://bucket/p/ TARGET --endpoint-url http://127.0.0.1:1',
    ])
      expect(text).toContain(command);
    expect(text).not.toContain('hunter2');
  });
});

const serve = (env: Env, port = 0): Promise<CliResult> =>
  call(`serve --data ${dir.path('data')} --port ${port}`, { env });

describe('serve with a bad configuration', () => {
  it.each([
    [{ DATABASE_URL: 'mysql://user:hunter2@host/db' }],
    [{ DATABASE_URL: '' }],
    [{ DRILLPROOF_REQUEST_RAT: '5' }],
    [{ DRILLPROOF_REQUEST_RATE: 'fast' }],
    [{ BLOBS_URL: 'gs://bucket' }],
    [{ BLOBS_URL: 's3://key:hunter2@bucket' }],
    [{ BLOBS_URL: 's3://bucket?region=x&colour=red' }],
  ])('ends with 2 for %j, with one line and one of advice', async (env) => {
    const { code, stdout, stderr } = await serve(env);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^drillproof: server\.CONFIG_INVALID: [^\n]+\n {2}[^\n]+\n$/);
    expect(stderr).not.toContain('hunter2');
  });

  it.each([
    [{ DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/db' }, 'ECONNREFUSED'],
    [
      {
        BLOBS_URL: 's3://bucket?endpoint=http://127.0.0.1:1',
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'hunter2',
      },
      's3://bucket/ cannot be used: it cannot be reached (ECONNREFUSED)',
    ],
  ])('ends with 3 for %j, which is away, after a line of the log for each try', async (env, missing) => {
    const { code, stdout, stderr } = await call(`serve --data ${dir.path('data')} --port 0 --wait-for 1s`, {
      env,
    });
    expect([code, stdout]).toEqual([3, '']);
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    expect(lines).not.toEqual([]);
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({
        level: 'warn',
        event: 'start.waiting',
        code: 'control.UNAVAILABLE',
        missing: expect.stringContaining(missing),
      });
    expect(stderr).toContain('drillproof: control.UNAVAILABLE: ');
    expect(stderr).not.toContain('hunter2');
  });

  it('with --wait-for 0s, a database that is away is tried once', async () => {
    const env = { DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/db' };
    const { code, stderr } = await call(`serve --data ${dir.path('data')} --wait-for 0s`, { env });
    expect([code, stderr.includes('start.waiting')]).toEqual([3, false]);
  });

  it('a signal ends the wait with 130', async () => {
    const env = { DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/db' };
    const signal = AbortSignal.timeout(200);
    expect((await call(`worker --data ${dir.path('data')}`, { env, signal })).code).toBe(130);
  });

  it.each([
    ['serve', 'DRILLPROOF_REQUEST_RAT', 'Did you mean DRILLPROOF_REQUEST_RATE'],
    ['worker', 'DRILLPROOF_STORAGE_TIMOUT', 'Did you mean DRILLPROOF_STORAGE_TIMEOUT?'],
    ['admin check', 'DRILLPROOF_AUDITLOG', 'Did you mean DRILLPROOF_AUDIT_LOG?'],
    ['serve', 'DRILLPROOF_XYZZY', 'Remove it, or correct its name.'],
  ])('%s refuses the unknown variable %s, and suggests a near one', async (command, name, hint) => {
    const { code, stderr } = await call(`${command} --data ${dir.path('data')}`, { env: { [name]: '5' } });
    expect(code).toBe(2);
    expect(stderr).toContain(
      `drillproof: server.CONFIG_INVALID: no command knows the variable ${name}\n  ${hint}`,
    );
    expect(await readdir(dir.root)).not.toContain('data');
  });

  it('serve accepts the variables of other commands', async () => {
    const env = { DRILLPROOF_TOKEN: 'dp_x', DRILLPROOF_DEBUG: '0', DATABASE_URL: 'mysql://x' };
    expect((await serve(env)).stderr).toContain('DATABASE_URL is not of the form');
  });

  it('ends with 2 for a port that is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const text = await expectResult(serve({}, (server.address() as AddressInfo).port), 2);
    server.close();
    expect(text).toMatch(/^drillproof: server\.CONFIG_INVALID: [^\n]*EADDRINUSE[^\n]*\n/);
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
      await writeBlob(env);
      const serving = start(`serve --data ${dir.path('data')} --port 0 --json`, { env });
      try {
        let [text, stderr] = ['', ''];
        serving.stderr.on('data', (chunk) => (stderr += String(chunk)));
        for await (const chunk of serving.stdout) {
          text += String(chunk);
          if (text.includes('}\n')) break;
        }
        const { url, store, blobs } = JSON.parse(text) as { url: string; store: string; blobs: string };
        expect([store, blobs]).toEqual(['PostgreSQL', expect.stringMatching(/^s3:\/\/test-.*\/prefix\/$/)]);
        expect((await fetch(`${url}/healthz`)).status).toBe(200);
        await expect.poll(() => stderr).toContain('"event":"serve.unaudited"');
        expect(await adminJson('check', env)).toMatchObject({ blobs: 1, intact: 1, findings: [] });
        expect(await adminJson('migrate', env)).toMatchObject({ store: 'PostgreSQL' });
      } finally {
        serving.kill('SIGTERM');
        await once(serving, 'close');
      }
      expect(await readdir(dir.root)).not.toContain('data');
    });
  });
}
