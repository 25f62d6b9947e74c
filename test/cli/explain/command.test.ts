import { describe, expect, it } from 'vitest';
import { catalogue } from '../../../src/codes/index.ts';
import { CHECK_IDS, CHECK_TEXTS } from '../../../src/verify/index.ts';
import { call } from '../make.ts';

const json = async (...args: string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await call(['explain', ...args, '--json'])).stdout) as Record<string, unknown>;

describe('explain', () => {
  it('prints meaning, action, class, severity, checks, clause and exit code of a code', async () => {
    const { code, stdout } = await call(['explain', 'part.DIGEST_MISMATCH']);
    expect(code).toBe(0);
    for (const word of [
      'SHA-256',
      'Mirror the export again',
      'error',
      'mismatch',
      'part.bytes',
      'formats §1',
      '1 (the',
    ])
      expect(stdout).toContain(word);
  });

  it('prints no exit code for a code that is not an error', async () => {
    expect((await call(['explain', 'bundle.UNSIGNED'])).stdout).not.toContain('exit code');
    expect(await json('bundle.UNSIGNED')).not.toHaveProperty('exitCode');
  });

  it('prints what a check proves, and what it can find', async () => {
    const { code, stdout } = await call(['explain', 'part.bytes']);
    expect(code).toBe(0);
    expect(stdout).toContain(CHECK_TEXTS['part.bytes'].sentence);
    expect(stdout).toContain('part.MISSING');
    expect(await json('part.bytes')).toMatchObject({ kind: 'check', check: 'part.bytes' });
  });

  it.each(Object.keys(catalogue))('explains %s', async (name) => {
    const { code, stdout } = await call(['explain', name]);
    expect(code).toBe(0);
    expect(stdout.startsWith(`${name}\n`)).toBe(true);
  });

  it.each(CHECK_IDS)('explains %s', async (name) => {
    const { code, stdout } = await call(['explain', name]);
    expect(code).toBe(0);
    expect(stdout.startsWith(`${name}\n`)).toBe(true);
  });

  it.each(['verified', 'intact', 'incomplete', 'failed', 'pinned', 'attested', 'claimed', 'INTACT'])(
    'explains %s, a word of reports',
    async (name) => {
      const { code, stdout } = await call(['explain', name]);
      expect([code, stdout.split('\n')[0]]).toEqual([0, name.toLowerCase()]);
    },
  );

  it('finds a code by its name alone where only one code has it', async () => {
    expect((await call(['explain', 'KEY_UNKNOWN'])).stdout).toMatch(/^trust\.KEY_UNKNOWN\n/);
    expect((await call(['explain', 'toString'])).code).toBe(2);
  });

  it.each([
    ['part.DIGEST_MISMACH', 'part.DIGEST_MISMATCH'],
    ['part.digest-mismatch', 'part.DIGEST_MISMATCH'],
    ['DIGEST_MISMATCH', 'DIGEST_MISMATCH'],
    ['part.bytse', 'part.bytes'],
  ])('names the near one for %s', async (given, near) => {
    const { code, stderr } = await call(['explain', given]);
    expect(code).toBe(2);
    expect(stderr).toContain(near);
  });

  it('lists every code', async () => {
    expect((await json())['codes']).toHaveLength(Object.keys(catalogue).length);
    expect((await json())['checks']).toHaveLength(CHECK_IDS.length);
    expect((await call(['explain'])).stdout).toContain('zip.SIZE_EXCEEDED');
  });

  it('lists every check', async () => {
    const { stdout } = await call(['explain', '--checks']);
    for (const name of CHECK_IDS) expect(stdout).toContain(`${name}\n`);
  });

  it.each([
    [['part.bytes', '--checks'], 'usage.INVALID'],
    [['constructor'], 'usage.INVALID'],
    [['\u001B[31mred'], String.raw`\u{1b}`],
  ])('refuses %j', async (args, word) => {
    const { code, stderr } = await call(['explain', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(word);
  });
});
