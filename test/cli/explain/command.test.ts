import { describe, expect, it } from 'vitest';
import { catalogue } from '../../../src/codes/catalogue.ts';
import { CHECK_IDS } from '../../../src/verify/checks.ts';
import { CHECK_TEXTS } from '../../../src/verify/check-texts.ts';
import { call, callJson, expectResult } from '../make.ts';

const explain = (words = '') => call(`explain ${words}`);
const explainJson = (words = '') => callJson(`explain ${words}`);

describe('explain', () => {
  it('prints meaning, action, class, severity, checks, clause and exit code of a code', async () => {
    const text = await expectResult(explain('part.DIGEST_MISMATCH'), 0);
    for (const word of 'SHA-256|Get the part from another copy|error|mismatch|part.bytes|formats §1|1 (the'.split(
      '|',
    ))
      expect(text).toContain(word);
  });

  it('prints no exit code for a code that is not an error', async () => {
    expect((await explain('bundle.UNSIGNED')).stdout).not.toContain('exit code');
    expect(await explainJson('bundle.UNSIGNED')).not.toHaveProperty('exitCode');
  });

  it('prints what a check proves, and what it can find', async () => {
    const text = await expectResult(explain('part.bytes'), 0, 'part.MISSING');
    expect(text).toContain(CHECK_TEXTS['part.bytes'].sentence);
    expect(await explainJson('part.bytes')).toMatchObject({ kind: 'check', check: 'part.bytes' });
  });

  it.each([...Object.keys(catalogue), ...CHECK_IDS])('explains %s', async (name) => {
    const { code, stdout } = await explain(name);
    expect([code, stdout.split('\n')[0]]).toEqual([0, name]);
  });

  it.each(['verified', 'intact', 'incomplete', 'failed', 'pinned', 'attested', 'claimed', 'INTACT'])(
    'explains %s, a word of reports',
    async (name) => {
      const { code, stdout } = await explain(name);
      expect([code, stdout.split('\n')[0]]).toEqual([0, name.toLowerCase()]);
    },
  );

  it('accepts the last part of a code if only one code has it', async () => {
    expect((await explain('KEY_UNKNOWN')).stdout).toMatch(/^trust\.KEY_UNKNOWN\n/);
    expect((await explain('toString')).code).toBe(2);
  });

  it.each([
    ['part.DIGEST_MISMACH', 'part.DIGEST_MISMATCH'],
    ['part.digest-mismatch', 'part.DIGEST_MISMATCH'],
    ['DIGEST_MISMATCH', 'DIGEST_MISMATCH'],
    ['part.bytse', 'part.bytes'],
  ])('suggests a code for the misspelt %s', async (name, near) => {
    await expectResult(explain(name), 2, near);
  });

  it('lists every code', async () => {
    expect((await explainJson())['codes']).toHaveLength(Object.keys(catalogue).length);
    expect((await explainJson())['checks']).toHaveLength(CHECK_IDS.length);
    expect((await explain()).stdout).toContain('zip.SIZE_EXCEEDED');
  });

  it('lists every check', async () => {
    const { stdout } = await explain();
    for (const name of CHECK_IDS) expect(stdout).toContain(`  ${name}\n`);
  });

  it.each([
    ['constructor', 'usage.INVALID'],
    ['\u001B[31mred', String.raw`\u{1b}`],
  ])('refuses %j', async (words, word) => {
    await expectResult(explain(words), 2, word);
  });
});
