import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { drillproof } from '../cli/make.ts';
import { makeFolder } from '../support/folder.ts';

const run = promisify(execFile);
const DEMO = resolve(import.meta.dirname, '../../scripts/demo/main.ts');

const folder = await makeFolder();
const out = join(folder, 'out');
const { stdout } = await run(process.execPath, [DEMO, out]);

it('the demo meets all ten expectations and names the finding of each damage', () => {
  expect(stdout.match(/^ {3}ok {5}/gm)).toHaveLength(10);
  expect(stdout).not.toMatch(/FAILED|not found/);
  expect(stdout.match(/^ {11}[a-z]+\.[A-Z_]+(?=: )/gm)?.map((line) => line.trim())).toEqual([
    'part.DIGEST_MISMATCH',
    'part.MISSING',
    'attestation.SUBJECT_MISMATCH',
    'export.ATTESTATION_SUBJECT_MISMATCH',
    'trust.KEY_REVOKED',
  ]);
});

it('the demo packs at most 100 packages and 120 MB', async () => {
  const parts = await readdir(join(out, 'mirror/parts'));
  const sizes = await Promise.all(
    parts.map(async (name) => (await stat(join(out, 'mirror/parts', name))).size),
  );
  expect(parts.length).toBeGreaterThan(50);
  expect(parts.length).toBeLessThanOrEqual(100);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(120_000_000);
});

it('the demo leaves a mirror that verifies against its trust store, and no working files', async () => {
  expect((await readdir(out)).toSorted()).toEqual(['.drillproof-demo', 'mirror', 'public.pem', 'trust.json']);
  const { code } = await drillproof(['verify', join(out, 'mirror'), '--trust', join(out, 'trust.json')]);
  expect(code).toBe(0);
});

it('the demo refuses to replace a folder that it did not create', async () => {
  await rm(join(out, '.drillproof-demo'));
  await expect(run(process.execPath, [DEMO, out])).rejects.toMatchObject({ code: 1 });
  expect(await readFile(join(out, 'trust.json'), 'utf8')).toContain('drillproof-demo');
});
