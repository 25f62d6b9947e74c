import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, it } from 'vitest';
import { exportRef, makeExport } from '../../faults/export-source.ts';
import { cleanUp, newFolder, source } from '../../mirror/make.ts';
import { startS3 } from '../../support/s3.ts';
import { objectsIn, store, uploadsIn } from '../../node/s3/make.ts';
import * as evidence from '../../support/evidence.ts';
import { drillproof, expectResult, start } from '../make.ts';

const s3 = await startS3();
afterEach(cleanUp);

const testExport = makeExport();
const env = { ...s3.env, DRILLPROOF_TOKEN: 'a-token' };
const lineFor = (url: string, to: string, options = ''): string =>
  `mirror ${exportRef.evidenceExportId} --project ${exportRef.projectId} --url ${url} --to ${to} ${options}`;

describe('drillproof with S3', () => {
  it('mirror copies into a bucket twice, and never prints or stores the secret', async () => {
    const bucket = await s3.bucket();
    const server = await source(testExport);
    const address = s3.url(bucket, 'a');
    const first = await drillproof(lineFor(server.url, address), { env });
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.stdout).toMatch(/^bucket +s3:\/\//m);
    expect(first.stdout).not.toContain('sha256sum');
    const again = await drillproof(lineFor(server.url, address, '--json'), { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ outcome: 'complete' });
    expect(first.stdout + again.stdout).not.toContain(s3.env['AWS_SECRET_ACCESS_KEY']);
    const objects = await objectsIn(s3, bucket);
    for (const path of testExport.files.keys()) expect(objects.has(`a/${path}`), path).toBe(true);
    for (const bytes of objects.values()) {
      expect(Buffer.from(bytes).includes(s3.env['AWS_SECRET_ACCESS_KEY']!)).toBe(false);
    }
  });

  it('mirror --list copies each export as a bag below the prefix, and --check checks it there', async () => {
    const bucket = await s3.bucket();
    const server = await source(testExport);
    const { evidenceExportId: id } = exportRef;
    const line = lineFor(server.url, s3.url(bucket, 'many'), '--list - --bagit').replace(`${id} `, '');
    const { code, stdout } = await drillproof(line, { env, input: `${id}\n` });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^exports +1: 1 complete, 0 failed, 0 untried$/m);
    const objects = [...(await objectsIn(s3, bucket)).keys()];
    expect(objects).toContain(`many/${id}/bagit.txt`);
    for (const path of testExport.files.keys()) expect(objects).toContain(`many/${id}/data/${path}`);
    const below = s3.url(bucket, `many/${id}`);
    const checked = await drillproof(lineFor(server.url, below, '--bagit --check'), { env });
    expect([checked.code, checked.stdout.split(' ')[0]]).toEqual([0, 'complete']);
    expect([...(await objectsIn(s3, bucket)).keys()]).toEqual(objects);
  });

  it('mirror needs only the rights that the documents name', async () => {
    const bucket = await s3.bucket();
    const text = await readFile(new URL('../../../docs/archive/mirror.md', import.meta.url), 'utf8');
    const [block = ''] = /^ {4}\{\n {6}"Version"[\s\S]*?\n {4}\}$/m.exec(text) ?? [];
    const policy = JSON.parse(block.replaceAll(':::archive', `:::${bucket}`));
    for (const statement of policy.Statement) statement.Principal = { AWS: ['arn:aws:iam:::user/stranger'] };
    await s3.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: JSON.stringify(policy) }));
    const large = makeExport({ parts: 1, bytes: 9 * 1024 * 1024 });
    const server = await source(large);
    const address = s3.url(bucket, 'a');
    const strangerEnv = { ...s3.strangerEnv, DRILLPROOF_TOKEN: 'a-token' };
    const mirrored = await drillproof(lineFor(server.url, address), { env: strangerEnv });
    const notes = mirrored.stderr.replaceAll(/^mirrored .*%\n/gm, ''); // a slow machine gets lines of progress
    expect([mirrored.code, notes]).toEqual([0, '']);
    expect((await drillproof(`inspect ${address}`, { env: strangerEnv })).code).toBe(0);
  });

  it('an interrupted mirror releases its lease and its uploads', async () => {
    const bucket = await s3.bucket();
    const server = await source(testExport, ({ path }) => path.startsWith('parts/'));
    const child = start(lineFor(server.url, s3.url(bucket, 'a')), { env });
    await expect.poll(() => server.seen.length).toBeGreaterThan(2);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([130, null]);
    const keys = [...(await objectsIn(s3, bucket)).keys()];
    expect(keys.filter((key) => key.includes('/lease/'))).toEqual([]);
    expect(await uploadsIn(s3, bucket)).toEqual([]);
  });

  it.each([
    ['of a folder with a legal hold', '--s3-legal-hold', './x'],
    ['with a mode and no time', '--s3-lock-mode compliance', 's3://bucket/a'],
    ['until a past time', '--s3-retain-until 2001-01-01', 's3://bucket/a'],
    ['to an invalid address', '', 's3://Bucket/a'],
    ['to an address with a secret', '', 's3://key:hunter2@bucket/a'],
  ])('refuses a mirror %s', async (_, options, to) => {
    const result = drillproof(lineFor('http://127.0.0.1:1', to, options), { env });
    expect(await expectResult(result, 2, 'usage.INVALID')).not.toContain('hunter2');
  });

  it('verify and inspect read a mirror in S3', async () => {
    const bucket = await s3.bucket();
    const { files } = await evidence.makeExport();
    for (const [path, bytes] of Object.entries(files)) await store(s3, bucket, `a/${path}`, bytes);
    const address = s3.url(bucket, 'a');
    const folder = await newFolder();
    const verdict = await drillproof(`verify ${address} --accept intact --json`, { env });
    expect([verdict.code, JSON.parse(verdict.stdout).verdict]).toEqual([0, 'intact']);
    const shown = await drillproof(`inspect ${address} --json`, { env });
    expect(JSON.parse(shown.stdout)).toMatchObject({ kind: 'export-contents' });
    const signature = `inspect ${address} --export-signature --out ${folder}/sig`;
    expect((await drillproof(signature, { env })).stdout).toContain('openssl dgst -sha256 -verify');
    await expectResult(drillproof(`verify ${s3.url(bucket, 'absent')}`, { env }), 2, 'export.NOT_AN_EXPORT');
    const stranger = drillproof(`verify ${address}`, { env: s3.strangerEnv });
    expect(await expectResult(stranger, 3, 'io.UNREADABLE')).toContain('lack the right');
  });
});

it('a local mirror does not load the S3 client', async () => {
  const folder = await mkdtemp(join(tmpdir(), 's3-'));
  try {
    const hook = join(folder, 'hook.mjs');
    await writeFile(
      hook,
      `import { registerHooks } from 'node:module';
       registerHooks({ resolve(name, context, next) {
         if (name.includes('@aws-sdk')) process.exit(99);
         return next(name, context);
       } });`,
    );
    const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
    const runs = ['--import', hook, main, 'verify'];
    const exits = [join(folder, 'absent'), 's3://bucket/a'].map(async (path) => {
      const [code] = await once(spawn(process.execPath, [...runs, path], { env: s3.env }), 'exit');
      return code as unknown;
    });
    expect(await Promise.all(exits)).toEqual([2, 99]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
