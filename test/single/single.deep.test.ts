import { execFile, execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { trustStoreJwks } from '../../src/trust/store.ts';
import { startS3 } from '../support/s3.ts';
import { flipBit, makeLargeExport, makeTrust } from '../support/evidence.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';

const root = resolve(import.meta.dirname, '../..');
const s3 = await startS3();

/** Builds the single file into a folder, and returns its path. */
function build(to: string): string {
  execFileSync(process.execPath, ['scripts/build.ts', 'single', to], { cwd: root });
  return join(to, 'drillproof.mjs');
}

const folder = await makeFolder();
const file = build(join(folder, 'first'));

type Result = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs it in a folder without packages and with an empty environment. */
const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Result> =>
  new Promise((done) => {
    execFile(process.execPath, [file, ...args], { cwd: folder, env }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });

async function write(name: string, files: Readonly<Record<string, Uint8Array>>): Promise<string> {
  await writeFiles(join(folder, name), files);
  return name;
}

describe('the single file', () => {
  it('has the same bytes in every build', async () => {
    const again = await readFile(build(join(folder, 'second')));
    expect(digestOf(again)).toBe(digestOf(await readFile(file)));
  });

  it('includes the licence of every package in it', async () => {
    const text = await readFile(join(folder, 'first/NOTICES.txt'), 'utf8');
    for (const name of ['@noble/curves', '@aws-sdk/client-s3', 'commander', 'pg', 'undici', 'yauzl', 'zod'])
      expect(text).toMatch(new RegExp(`^== ${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)$`, 'm'));
    const short = text
      .split(/^== /m)
      .slice(1)
      .filter((section) => section.length < 500);
    expect(short.map((section) => section.split('\n')[0])).toEqual([]);
  });

  it('prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('verifies an export in threads, and finds one flipped bit', async () => {
    const { files, signer } = await makeLargeExport();
    const [path = ''] = Object.keys(files);
    const good = await write('good', files);
    const bad = await write('bad', { ...files, [path]: flipBit(files[path]!, 100) });
    await writeFile(join(folder, 'trust.json'), JSON.stringify(trustStoreJwks(makeTrust(signer))));
    const verify = ['verify', '--trust', 'trust.json', '--jobs', '2', '--second-opinion', '--json'];
    const passed = await run([...verify, good]);
    expect([passed.code, passed.stderr]).toEqual([0, '']);
    expect(JSON.parse(passed.stdout)).toMatchObject({ verdict: 'verified', completeness: 'attested' });
    const failed = await run([...verify, bad]);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({ verdict: 'failed' });
  });

  it('reads from S3 without a package next to it', async () => {
    const bucket = await s3.bucket();
    const { code, stderr } = await run(['verify', s3.url(bucket, 'nothing')], s3.env);
    expect(stderr).not.toContain('io.PACKAGE_MISSING');
    expect([code, stderr]).toEqual([2, expect.stringContaining('export.NOT_AN_EXPORT')]);
  });

  it('names the package of plots, which is not inside', async () => {
    await run(['verify', 'good', '--format', 'json=good.json']);
    const { code, stderr } = await run(['report', 'show', 'good.json', '--format', 'html=page.html']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/io\.PACKAGE_MISSING.*npm install echarts/)]);
  });

  it.each(['vectors', 'dist/vectors.zip'])('runs the vectors of %s when the path is given', async (path) => {
    const vectors = ['selftest', '--kind', 'hex', '--vectors', join(root, path)];
    expect(await run(vectors)).toMatchObject({ code: 0 });
    expect(await run(['selftest'])).toMatchObject({ code: 2 });
  });
});
