import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { selftestReportSchema } from '../../../docs/make/selftest-report.ts';
import { call, drillproof, expectExit, expectResult, useScratch } from '../make.ts';

const dir = useScratch();

const readReport = async (args: readonly string[]) => {
  const { code, stdout } = await call(['selftest', '--json', ...args]);
  return { code, ...selftestReportSchema.parse(JSON.parse(stdout)) };
};
/** Tests a program with vectors; by default those of the kind hex. */
const testProgram = (command: string, words = '--kind hex') =>
  readReport(['--exec', command, ...words.split(' ')]);

it('selftest --kind --case runs one case and reports one run', async () => {
  const text = await expectExit('selftest --kind hex --case uppercase', 0);
  expect(text).toMatch(/^ *kind +cases[^]*hex +1 +1 +1 +0[^]*passed: 1 case in 1 run, 1 passed, 0 failed\n$/);
});

it.each([
  ['--kind', 'hexx', 'Did you mean hex?'],
  ['--case', 'uppercas', 'Did you mean uppercase or'],
])('selftest refuses an unknown value of %s and suggests a near one', async (option, name, hint) => {
  await expectExit(`selftest ${option} ${name}`, 2, hint);
});

const at = (name: string): string => dir.path(name);
const testFolder = () => readReport(['--vectors', at('')]);

describe('selftest with vectors of a folder', () => {
  it('selftest exits with 3 when the folder has no vectors for the kind', async () => {
    expect(await testFolder()).toMatchObject({ code: 3, verdict: 'not_checked', total: { cases: 0 } });
  });

  it('selftest exits with 3 when every kind is unsupported', async () => {
    const file = JSON.parse(await readFile('vectors/hex.json', 'utf8')) as object;
    await writeFile(at('other.json'), JSON.stringify({ ...file, kind: 'other' }));
    expect(await testFolder()).toMatchObject({ code: 3, verdict: 'not_checked', total: { unsupported: 14 } });
  });

  it('selftest fails and shows the expected result when it differs', async () => {
    const text = await readFile('vectors/hex.json', 'utf8');
    await writeFile(at('hex.json'), text.replace('"code": "encoding.HEX_INVALID"', '"code": "json.INVALID"'));
    const { code, stdout } = await call(`selftest --vectors ${at('')}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /failed {2}hex\/uppercase[^]*bug +LetterCase[^]*expected[^]*actual[^]*failed: 14 cases/,
    );
    const both = { code: 1, total: { cases: 14, passed: 13, failed: 1 } };
    expect(await readReport(['--vectors', at('')])).toMatchObject(both);
  });

  it('selftest refuses a vector file with a missing case', async () => {
    const file = JSON.parse(await readFile('vectors/hex.json', 'utf8')) as { cases: unknown[] };
    await writeFile(at('hex.json'), JSON.stringify({ ...file, cases: file.cases.slice(1) }));
    await expectExit(`selftest --vectors ${at('')}`, 2, 'selftest.VECTORS_INVALID');
  });

  it('selftest reports a missing folder of vectors', async () => {
    await expectExit(`selftest --vectors ${at('absent')}`, 2, 'absent');
  });
});

describe('selftest --exec detects a verifier that', () => {
  it.each([
    ['always says yes', 'true #', 4, 10],
    ['always says no', 'false #', 10, 4],
    ['crashes', 'kill -SEGV $$ #', 0, 14],
    ['ends with an undefined exit code', 'exit 42 #', 0, 14],
    ['names a wrong code', `echo '{"code":"json.INVALID"}'; exit 1 #`, 0, 14],
    ['prints text that is not JSON', 'echo encoding.HEX_INVALID; exit 1 #', 0, 14],
    ['writes endlessly', 'yes #', 0, 14],
  ])('%s', async (_, command, passed, failed) => {
    const total = { cases: 14, passed, failed };
    expect(await testProgram(command)).toMatchObject({ code: 1, verdict: 'failed', total });
  });

  it.each([
    ['hangs', 'sleep 61.37 #'],
    ['leaves a process that keeps its output open', 'sleep 61.37 & true #'],
  ])('%s, and ends that process', async (_, command) => {
    const failures = [{ id: 'empty', reason: 'no answer within 1 s' }];
    const report = await testProgram(command, '--kind hex --case empty --timeout 1');
    expect(report).toMatchObject({ code: 1, failures });
    expect(execFileSync('ps', ['-eo', 'args']).toString()).not.toContain('sleep 61.37');
  });

  it('selftest --exec exits with 3 when the verifier cannot start', async () => {
    const total = { notRun: 14, failed: 0 };
    const report = await testProgram(dir.path('absent'));
    expect(report).toMatchObject({ code: 3, verdict: 'not_checked', total });
  });

  it('selftest --exec exits with 3 when the verifier supports no kind', async () => {
    const total = { unsupported: 14, passed: 0 };
    expect(await testProgram('exit 77 #')).toMatchObject({ code: 3, total });
  });
});

describe('selftest --exec', () => {
  it('selftest --exec counts answers without details as verdict only', async () => {
    const command = `exit $(grep -c '"kind": "hex"' "$1"/case.json) #`;
    const report = await testProgram(command, '--kind hex --case prefix');
    expect(report).toMatchObject({ code: 0, total: { passed: 1, verdictOnly: 1 } });
  });

  it('selftest --exec removes its temporary folders', async () => {
    await mkdir(dir.path('tmp'));
    const env = { TMPDIR: dir.path('tmp') };
    await expectResult(drillproof(['selftest', '--exec', 'true #', '--kind', 'hex'], { env }), 1);
    expect(await readdir(dir.path('tmp'))).toEqual([]);
  });

  it('selftest --exec passes for the Python example and counts its unsupported kinds', async () => {
    const kinds = ['hex', 'identifiers', 'paths'].map((kind) => `--kind ${kind}`);
    const cases = 'empty uppercase fullwidth digest-uppercase projectId-short semver-plain file deep'
      .split(' ')
      .map((id) => `--case ${id}`);
    const words = [...kinds, ...cases].join(' ');
    const report = await testProgram('python3 docs/examples/verifier.py', words);
    expect(report).toMatchObject({ code: 0, verdict: 'passed' });
    expect(report.kinds).toMatchObject([
      { kind: 'hex', cases: 3, passed: 3 },
      { kind: 'identifiers', cases: 3, passed: 2, unsupported: 1 },
      { kind: 'paths', passed: 0, unsupported: 3 },
    ]);
  });
});
