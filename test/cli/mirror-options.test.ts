import { execFileSync } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { servedExports } from './served-exports.ts';

const VALIDATOR = join(import.meta.dirname, '../support/bagit-check.py');

let served: Awaited<ReturnType<typeof servedExports>>;
let id: string;
beforeAll(async () => {
  served = await servedExports();
  [id] = served.ids;
});
afterAll(() => served[Symbol.asyncDispose]());

const mirror = (words: string) => served.call(`mirror ${id} ${words}`);

describe('mirror --bagit', () => {
  it('makes a bag that a validator of RFC 8493, sha256sum and verify accept', async () => {
    const { code, stdout, stderr } = await mirror('--to bag --bagit');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('(cd bag && sha256sum -c manifest-sha256.txt)');
    execFileSync('sha256sum', ['--quiet', '-c', 'manifest-sha256.txt'], { cwd: served.path('bag') });
    expect(execFileSync('python3', [VALIDATOR, served.path('bag')], { encoding: 'utf8' })).toBe('valid\n');
    const verified = await served.run('verify bag --trust trust.json --jobs 1');
    expect([verified.code, verified.stdout.split(' ')[0]]).toEqual([0, 'VERIFIED']);
  });

  it('of a bag whose payload lost a file makes it valid again', async () => {
    await mirror('--to torn --bagit');
    await rm(served.path('torn/data/parts/evidence_000000000001.zip'));
    expect((await served.run('verify torn --trust trust.json --jobs 1')).code).toBe(1);
    expect((await mirror('--to torn --bagit')).code).toBe(0);
    expect(execFileSync('python3', [VALIDATOR, served.path('torn')], { encoding: 'utf8' })).toBe('valid\n');
  });

  it.each([
    ['into a plain mirror', '', ' --bagit'],
    ['left out for a bag', ' --bagit', ''],
  ])('%s is refused and changes nothing', async (what, first, then) => {
    const to = `--to ${what.replaceAll(' ', '-')}`;
    expect((await mirror(to + first)).code).toBe(0);
    const before = await readdir(served.path(to.slice(5)), { recursive: true });
    const { code, stderr } = await mirror(to + then);
    expect([code, stderr.split(': ')[1]]).toEqual([2, 'mirror.TARGET_FOREIGN']);
    expect(await readdir(served.path(to.slice(5)), { recursive: true })).toEqual(before);
  });
});
