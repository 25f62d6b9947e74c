import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readReport } from '../../../src/report/merge/reports.ts';
import { call, scratch, writeEvidence, type CliResult } from '../make.ts';

let dir: Awaited<ReturnType<typeof scratch>>;
const home = process.cwd();
beforeAll(async () => {
  dir = await scratch();
  await writeEvidence(dir.root);
  process.chdir(dir.root);
  const parts = ['part-1.zip', 'part-2.zip', '--through', '2100-01-01'];
  await call(['export', ...parts, '--out', 'unsigned-list']);
  for (const n of [1, 2]) {
    const signer = ['--key', 'key.pem', '--issuer', 'acme-ci'];
    await call(['export', `part-${n}.zip`, ...signer, '--id', 'evexp_000000000077', '--out', `twin-${n}`]);
  }
  await call(['export', ...parts, '--out', 'stray']);
  await writeFile('stray/notes.txt', 'hello');
  await call(['export', ...parts, '--out', 'damaged']);
  const part = await readFile(DAMAGED_PART);
  part[100]! ^= 1;
  await writeFile(DAMAGED_PART, part);
});
afterAll(async () => {
  process.chdir(home);
  await dir[Symbol.asyncDispose]();
});

const DAMAGED_PART = 'damaged/parts/evidence_000000000001.zip';
const verify = (...args: readonly string[]): Promise<CliResult> => call(['verify', ...args, '--jobs', '1']);
const TRUST = ['--trust', 'trust.json'];

type Verdict = { verdict: string; run: { exitCode: number; unmet: { requirement: string }[] } };

/** The exit code, the first word on the screen, and what the JSON says of both. */
async function answersOf(...args: readonly string[]) {
  const text = await verify(...args);
  const json = await verify(...args, '--json');
  const { verdict, run } = JSON.parse(json.stdout) as Verdict;
  const word = text.stdout.split(' ')[0];
  expect([json.code, run.exitCode, word]).toEqual([text.code, text.code, verdict.toUpperCase()]);
  return { code: text.code, verdict, unmet: run.unmet.map(({ requirement }) => requirement), text };
}

describe('the first line, the JSON verdict and the exit code of verify agree', () => {
  it.each([
    [['export', ...TRUST, '--require-list', '--require-coverage'], 0, 'verified', []],
    [['unsigned-list', ...TRUST], 0, 'verified', []],
    [['unsigned-list', ...TRUST, '--require-list'], 1, 'failed', ['--require-list']],
    [['stray', ...TRUST, '--require-coverage'], 1, 'failed', ['--require-coverage']],
    [
      ['stray', ...TRUST, '--require-list', '--require-coverage'],
      1,
      'failed',
      ['--require-coverage', '--require-list'],
    ],
    [['export'], 1, 'intact', ['--accept intact']],
    [['export', '--accept', 'intact'], 0, 'intact', []],
    [['export', '--accept', 'intact', '--require-list'], 1, 'failed', ['--require-list']],
    [['damaged', ...TRUST], 1, 'failed', []],
  ] as const)('%j is %i, %s', async (args, code, verdict, unmet) => {
    expect(await answersOf(...args)).toMatchObject({ code, verdict, unmet });
  });

  it('a pinned manifest meets --require-list', async () => {
    const { manifestDigest } = JSON.parse((await verify('unsigned-list', ...TRUST, '--json')).stdout) as {
      manifestDigest: string;
    };
    const pinned = await verify(
      'unsigned-list',
      ...TRUST,
      '--require-list',
      '--expect-manifest',
      manifestDigest,
    );
    expect(pinned.code).toBe(0);
    expect(pinned.stdout).toMatch(/^VERIFIED .*; list pinned\n/);
  });

  it('a list that is only claimed is never VERIFIED without that in the same line', async () => {
    const { stdout } = await verify('unsigned-list', ...TRUST);
    expect(stdout.split('\n')[0]).toMatch(/^VERIFIED .*completeness not attested \(list claimed\)$/);
  });

  it('two manifests under one id make the report of the run say so', async () => {
    const text = await verify('twin-1', 'twin-2', ...TRUST);
    expect(text.stdout.trimEnd().split('\n').at(-1)).toBe(
      'TOTAL 2 of 2 paths passed; 1 export with different manifests',
    );
    const json = await verify('twin-1', 'twin-2', ...TRUST, '--json');
    expect([text.code, json.code]).toEqual([1, 1]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      run: { exitCode: 1, unmet: [{ requirement: 'one manifest for each export' }] },
    });
  });
});

it('a saved report of verify states the tool, the path, what was asked and the exit code, and is read again', async () => {
  await verify('export', ...TRUST, '--expect-bundles', '2', '--format', 'json=saved.json', '--force');
  const bytes = await readFile('saved.json');
  const { version } = JSON.parse(await readFile(`${home}/package.json`, 'utf8')) as { version: string };
  expect(readReport(bytes)).toMatchObject({
    run: {
      tool: { name: 'drillproof', version },
      path: 'export',
      options: { trust: ['trust.json'], 'expect-bundles': 2, depth: 'full' },
      exitCode: 0,
      unmet: [],
    },
  });
});

it('a saved report of verify without these members, as older versions wrote it, is read and equals the new one', async () => {
  const saved = JSON.parse(
    (await verify('export', ...TRUST, '--as-of', '2100-01-01', '--json')).stdout,
  ) as object;
  await writeFile('new.json', JSON.stringify(saved));
  await writeFile('old.json', JSON.stringify({ ...saved, run: undefined }));
  expect(await call(['diff', 'old.json', 'new.json'])).toMatchObject({ code: 0 });
});

it('a saved report of verify as text names the options, too', async () => {
  await verify('export', ...TRUST, '--format', 'text=saved.txt', '--force');
  expect(await readFile('saved.txt', 'utf8')).toMatch(
    /run +drillproof verify export .*--trust trust\.json.*, version [\d.]+, exit code 0\n/,
  );
});

describe('the screen of verify', () => {
  it('has at most 12 lines for a good export at 80 columns, the verdict first and last', async () => {
    const { recorder, world } = await import('../make.ts');
    const { run } = await import('../../../src/cli/run.ts');
    const stdout = recorder({ isTTY: true, columns: 80 });
    const cli = { ...world({ env: { NO_COLOR: '1' } }), stdout };
    expect(await run(['verify', 'export', ...TRUST, '--jobs', '1'], cli)).toBe(0);
    const lines = stdout.text().trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(12);
    expect(lines[0]).toMatch(/^VERIFIED evexp_/);
    expect(lines.filter((line) => line.startsWith('VERIFIED'))).toHaveLength(2);
    expect(lines.findIndex((line) => /key sha256:[0-9a-f]{64}$/.test(line))).toBeGreaterThan(0);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
  });

  it.each([
    ['export', /^VERIFIED [^\n]+\n$/],
    ['damaged', /^FAILED [^\n]+: 1 of 2 parts: part\.DIGEST_MISMATCH, [^\n]+\n$/],
  ])('with --quiet is the verdict line alone: %s', async (path, line) => {
    expect((await verify(path, ...TRUST, '--quiet')).stdout).toMatch(line);
  });

  it('with --quiet is the total alone for many paths', async () => {
    const { stdout } = await verify('export', 'damaged', ...TRUST, '--quiet');
    expect(stdout).toBe('TOTAL 1 of 2 paths passed, 1 did not\n');
  });

  it('lists passed checks with --verbose only', async () => {
    expect((await verify('export', ...TRUST)).stdout).not.toContain('Checked of');
    expect((await verify('export', ...TRUST, '--verbose')).stdout).toContain('Checked of 2 parts');
  });
});
