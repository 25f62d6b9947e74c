import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readReport } from '../../../src/report/many/reports.ts';
import { run } from '../../../src/cli/run.ts';
import { call, callJson, expectPass, recorder, useEvidenceFolder, world } from '../make.ts';
import { writeDamaged } from './make.ts';

const home = process.cwd();
useEvidenceFolder(async () => {
  for (const path of ['unsigned-list', 'stray'])
    await expectPass(`export part-1.zip part-2.zip --through 2100-01-01 --out ${path}`);
  await writeFile('stray/notes.txt', 'hello');
  await writeDamaged();
});

const TRUST = '--trust trust.json';
const verify = (words: string) => call(`verify ${words} --jobs 1`);

type Verdict = { verdict: string; run: { exitCode: number; unmet: { requirement: string }[] } };

/** The exit code and the verdict of text and JSON, which must agree. */
async function verifyTwice(words: string) {
  const { code, stdout } = await verify(words);
  const json = await verify(`${words} --json`);
  const {
    verdict,
    run: { exitCode, unmet },
  } = JSON.parse(json.stdout) as Verdict;
  expect([json.code, exitCode, stdout.split(' ')[0]]).toEqual([code, code, verdict.toUpperCase()]);
  return { code, verdict, unmet: unmet.map(({ requirement }) => requirement) };
}

describe('the first line, the JSON verdict and the exit code of verify agree', () => {
  it.each<[string, number, string, string[]]>([
    [`export ${TRUST} --require-list --require-coverage`, 0, 'verified', []],
    [`unsigned-list ${TRUST}`, 0, 'verified', []],
    [`unsigned-list ${TRUST} --require-list`, 1, 'failed', ['--require-list']],
    [`stray ${TRUST} --require-coverage`, 1, 'failed', ['--require-coverage']],
    [
      `stray ${TRUST} --require-list --require-coverage`,
      1,
      'failed',
      ['--require-coverage', '--require-list'],
    ],
    ['export', 1, 'intact', ['--accept intact']],
    ['export --accept intact', 0, 'intact', []],
    ['export --accept intact --require-list', 1, 'failed', ['--require-list']],
    [`damaged ${TRUST}`, 1, 'failed', []],
  ])('%s ends with %i, %s', async (words, code, verdict, unmet) => {
    expect(await verifyTwice(words)).toEqual({ code, verdict, unmet });
  });

  it('a pinned manifest meets --require-list', async () => {
    const { manifestDigest } = await callJson(`verify unsigned-list ${TRUST}`);
    const pinned = `verify unsigned-list ${TRUST} --require-list --expect-manifest ${manifestDigest}`;
    expect(await expectPass(pinned)).toMatch(/^VERIFIED .*; list pinned(?:; drills: .*)?\n/);
  });

  it('a list that is only claimed is never VERIFIED without that in the same line', async () => {
    const { stdout } = await verify(`unsigned-list ${TRUST}`);
    expect(stdout.split('\n')[0]).toMatch(
      /^VERIFIED .*completeness not attested \(list claimed\)(?:; drills: .*)?$/,
    );
  });
});

it('a saved report of verify has the tool, the path, the options and the exit code, and can be read', async () => {
  await expectPass(`verify export ${TRUST} --expect-bundles 2 --format json=saved.json`);
  const { version } = JSON.parse(await readFile(`${home}/package.json`, 'utf8'));
  expect(readReport(await readFile('saved.json'))).toMatchObject({
    run: {
      tool: { name: 'drillproof', version },
      path: 'export',
      options: { trust: ['trust.json'], 'expect-bundles': 2, depth: 'full' },
      exitCode: 0,
      unmet: [],
    },
  });
});

it('a saved report of verify without these members, as older versions wrote it, equals the new one', async () => {
  const saved = await callJson(`verify export ${TRUST} --as-of 2100-01-01`);
  await writeFile('new.json', JSON.stringify(saved));
  await writeFile('old.json', JSON.stringify({ ...saved, run: undefined }));
  await expectPass('diff old.json new.json');
});

it('a saved report of verify as text names the options', async () => {
  await expectPass(`verify export ${TRUST} --format text=saved.txt`);
  expect(await readFile('saved.txt', 'utf8')).toMatch(
    /run +drillproof verify export .*--trust trust\.json.*, version [\d.]+, exit code 0\n/,
  );
});

describe('the screen of verify', () => {
  it('has at most 16 lines for a good export at 80 columns, the verdict first and last', async () => {
    const stdout = recorder({ isTTY: true, columns: 80 });
    const cli = { ...world({ env: { NO_COLOR: '1' } }), stdout };
    expect(await run(`verify export ${TRUST} --jobs 1`.split(' '), cli)).toBe(0);
    const lines = stdout.text().trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(16);
    expect(lines[0]).toMatch(/^VERIFIED evexp_/);
    expect(lines.filter((line) => line.startsWith('VERIFIED'))).toHaveLength(2);
    expect(lines.findIndex((line) => /key sha256:[0-9a-f]{64}$/.test(line))).toBeGreaterThan(0);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
  });

  it.each([
    ['export', /^VERIFIED [^\n]+\n$/],
    ['damaged', /^FAILED [^\n]+: 1 of 2 parts: part\.DIGEST_MISMATCH, [^\n]+\n$/],
  ])('with --quiet is the verdict line alone: %s', async (path, line) => {
    expect((await verify(`${path} ${TRUST} --quiet`)).stdout).toMatch(line);
  });

  it('with --quiet is the total alone for many paths', async () => {
    const { stdout } = await verify(`export damaged ${TRUST} --quiet`);
    expect(stdout).toBe('TOTAL 1 of 2 paths passed, 1 did not; drills: 2 failed, 1 passed\n');
  });

  it('lists passed checks with --verbose only', async () => {
    expect((await verify(`export ${TRUST}`)).stdout).not.toContain('Checked of');
    expect((await verify(`export ${TRUST} --verbose`)).stdout).toContain('Checked of 2 parts');
  });
});
