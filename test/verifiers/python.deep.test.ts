import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { selftestReportSchema } from '../../docs/make/selftest-report.ts';
import { drillproof, useEvidenceFolder } from '../cli/make.ts';
import { COUNTS } from '../vectors/counts.ts';

/** The kinds that are no evidence, or that only a policy needs. */
const OTHERS = ['challenges', 'cursors', 'policies', 'summaries', 'timestamps', 'tool-sources'];
/** The modules that verify parts and exports. The others are about bags, receipts, warnings, the command and the selftest. */
const CORE = ['archive', 'bundles', 'documents', 'exports', 'trust'];
const MOST_LINES = { core: 910, all: 1_310 };

const PACKAGE = resolve(import.meta.dirname, '../../verifiers/python');
const env = { PYTHONPATH: PACKAGE };
const dir = useEvidenceFolder();

/**
 * A command that starts Python faster: without the shell script that may select a version, without the modules that
 * an installation loads each time, and with compiled modules, also if this folder cannot be written.
 */
function findPython() {
  const script =
    'import cryptography, pathlib, sys; print(sys.executable, pathlib.Path(cryptography.__file__).parents[1], sep="\\n")';
  const [python, packages] = spawnSync('python3', ['-c', script], { encoding: 'utf8' }).stdout.split('\n');
  return {
    python: `'${python}' -S -s`,
    env: { PYTHONPATH: [PACKAGE, packages].join(delimiter), PYTHONPYCACHEPREFIX: dir.path('compiled') },
  };
}

const verify = (...args: string[]) => {
  const command = ['-m', 'drillproof_verify', ...args, '--trust', dir.path('trust.json')];
  const { status, stdout } = spawnSync('python3', command, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, ...(JSON.parse(stdout) as object) };
};

it(
  'the verifier in Python passes every vector of the kinds that it supports',
  { timeout: 1_800_000 },
  async () => {
    const kinds = Object.keys(COUNTS).filter((kind) => !OTHERS.includes(kind));
    const words = kinds.flatMap((kind) => ['--kind', kind]);
    const { python, env: fast } = findPython();
    const command = `${python} -m drillproof_verify.selftest`;
    const args = ['selftest', '--json', '--jobs', '2', '--timeout', '120', '--exec', command, ...words];
    const { code, stdout } = await drillproof(args, { env: fast });
    const report = selftestReportSchema.parse(JSON.parse(stdout));
    expect(report.failures).toEqual([]);
    expect(code).toBe(0);
    const results = report.kinds.map(({ kind, passed, unsupported }) => [kind, { passed, unsupported }]);
    const expected = kinds.map((kind) => [kind, { passed: COUNTS[kind], unsupported: 0 }]);
    expect(Object.fromEntries(results)).toEqual(Object.fromEntries(expected));
  },
);

it('the verifier in Python verifies a part and an export', () => {
  expect(verify(dir.path('part-1.zip'))).toEqual({ status: 0, verdict: 'verified', codes: [] });
  const verified = { status: 0, verdict: 'verified', completeness: 'attested', codes: [] };
  expect(verify(dir.path('export'))).toEqual(verified);
});

it('the verifier in Python fails an export after one byte of a part has changed', () => {
  const [part] = globSync('export/parts/*.zip', { cwd: dir.root });
  const path = dir.path(part!);
  const before = readFileSync(path);
  writeFileSync(
    path,
    before.map((byte, index) => (index === before.length >> 1 ? byte ^ 1 : byte)),
  );
  const failed = {
    status: 1,
    verdict: 'failed',
    codes: expect.arrayContaining(['part.DIGEST_MISMATCH']) as unknown,
  };
  expect(verify(dir.path('export'))).toMatchObject(failed);
  writeFileSync(path, before);
});

it('the verifier in Python refuses a trust store with certificates of time authorities', () => {
  const path = dir.path('trust.json');
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(before) as object), certificates: [] }));
  const command = ['-m', 'drillproof_verify', dir.path('part-1.zip'), '--trust', path];
  const { status, stdout, stderr } = spawnSync('python3', command, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain('trust.STORE_INVALID');
  writeFileSync(path, before);
});

it('the verifier in Python stays short enough to read', () => {
  const files = globSync('drillproof_verify/*.py', { cwd: PACKAGE });
  const countLines = (names: readonly string[]) =>
    names.reduce((sum, name) => sum + readFileSync(resolve(PACKAGE, name), 'utf8').split('\n').length - 1, 0);
  expect(countLines(CORE.map((name) => `drillproof_verify/${name}.py`))).toBeLessThanOrEqual(MOST_LINES.core);
  expect(countLines(files)).toBeLessThanOrEqual(MOST_LINES.all);
});
