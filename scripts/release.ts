/**
 * Makes the files of a release. Usage: node scripts/release.ts [--dry-run] [--tests REPORT.json] [FOLDER]
 *
 * The folder gets the package, the single file, the page, the licences, a bill of materials, SHA256SUMS, and the evidence of
 * drillproof about itself: the report of the tests and SHA256SUMS in a part that the release key signed, in an export that the
 * new single file verifies. Without --dry-run the key comes from DRILLPROOF_RELEASE_KEY (PEM), and the tag and the
 * changelog must name the version. With --dry-run a new key signs. --tests takes the JSON report of an earlier run of the tests.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };

const ISSUER = 'drillproof-release';
const { version } = manifest;
const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false }, tests: { type: 'string' } },
  allowPositionals: true,
});
const isDryRun = values['dry-run'];
const out = resolve(positionals[0] ?? 'release');
const steps: string[] = [];

/** Runs a command line with further words, prints it, and returns its output. */
function run(line: string, ...further: readonly string[]): string {
  const [program = '', ...words] = [...line.split(' '), ...further];
  steps.push([program, ...words].join(' '));
  console.log(`$ ${steps.at(-1)}`);
  return execFileSync(program, words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });
}
const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
const writeJson = (path: string, value: unknown): void =>
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

function checkVersion(): void {
  const { GITHUB_REF_NAME: tag } = process.env;
  if (tag !== `v${version}`)
    throw new Error(`the tag is ${tag}, but package.json has the version ${version}`);
  if (!readFileSync('CHANGELOG.md', 'utf8').includes(`\n## [${version}]`))
    throw new Error(`CHANGELOG.md has no section [${version}]`);
}

/** Runs the tests, unless a report is given, and returns the path of their report. */
function runTests(work: string): string {
  if (values.tests !== undefined) return resolve(values.tests);
  const report = join(work, 'tests.json');
  run('npm test -- --reporter=default --reporter=json', `--outputFile.json=${report}`);
  return report;
}

/** Makes what users download, and returns the path of the package. */
function makeFiles(): string {
  const name = run('npm pack --silent --pack-destination', out).trim().split('\n').at(-1)!;
  run('node scripts/build.ts single', join(out, 'single'));
  for (const file of readdirSync(join(out, 'single'))) cpSync(join(out, 'single', file), join(out, file));
  rmSync(join(out, 'single'), { recursive: true });
  cpSync('dist/page/drillproof.html', join(out, 'drillproof.html'));
  return join(out, name);
}

/** Lists what a user gets who installs the package. In the clone, npm would also list what only its development needs. */
function listPackages(work: string, archive: string): void {
  const folder = join(work, 'installed');
  mkdirSync(folder);
  writeJson(join(folder, 'package.json'), { name: 'installed', version, private: true });
  run('npm install --omit=dev --ignore-scripts --no-audit --no-fund --prefix', folder, archive);
  const bill = run('npm sbom --sbom-format cyclonedx --sbom-type application --prefix', folder);
  writeFileSync(join(out, 'sbom.cdx.json'), bill);
}

/** On a release, the action downloads the single file and compares it with this digest, so the build must give it again. */
function checkSingleFile(): void {
  const [expected] = readFileSync('ci/drillproof.mjs.sha256', 'utf8').split(' ');
  const actual = hash(join(out, 'drillproof.mjs'));
  if (actual !== expected)
    throw new Error(`ci/drillproof.mjs.sha256 has ${expected}, but the single file has ${actual}`);
}

function writeSums(): void {
  const names = readdirSync(out)
    .filter((name) => name !== 'SHA256SUMS')
    .toSorted();
  writeFileSync(join(out, 'SHA256SUMS'), names.map((name) => `${hash(join(out, name))}  ${name}\n`).join(''));
}

type TestReport = {
  readonly startTime: number;
  readonly numTotalTests: number;
  readonly numPassedTests: number;
  readonly success: boolean;
};

/** Describes the run of the tests as the run of a drill, as `pack` reads it. */
function describeRun(tests: TestReport, archive: string): unknown {
  const { numPassedTests: actual, numTotalTests: expected, startTime } = tests;
  const verdict = tests.success && actual === expected && expected > 0 ? 'passed' : 'failed';
  const runId = `run_release-${version.replaceAll('.', '-')}`;
  const id = hash(archive).slice(0, 24);
  const identity = {
    runId,
    worldInstanceId: `node-${process.versions.node}-${process.platform}-${process.arch}`.replaceAll('.', '-'),
    drillId: 'tests',
    targetId: 'drillproof',
    buildHash: `sha256:${hash(archive)}`,
    packageLockHash: `sha256:${hash('package-lock.json')}`,
    seed: '1',
    trial: 1,
    trialCount: 1,
    attempt: 1,
    attemptLimit: 1,
  };
  const gate = { assertionId: 'every-test-passed', kind: 'output', gate: true };
  const runResult = {
    schemaVersion: 1,
    identity,
    startedAtVirtualUs: 0,
    finishedAtVirtualUs: (Date.now() - startTime) * 1000,
    bindingEvidence: 'complete',
    worldConsistency: 'consistent',
    interactions: [],
    checkpoints: [],
    budgetUsage: {
      toolCalls: { limit: 0, attempted: 0, rejected: 0 },
      scheduledEvents: { limit: 0, processed: 0, exhausted: false },
    },
    status: 'completed',
    verdict,
    assertionResults: [{ schemaVersion: 1, ...gate, status: verdict, expected, actual }],
    evidenceRange: { fromSequence: 1, toSequence: 1 },
  };
  return {
    evidenceBundleId: `evidence_${id}`,
    organizationId: 'org_drillproof00',
    projectId: 'prj_drillproof00',
    hostedRunId: `hrun_${id}`,
    runId,
    createdAtMs: Date.now(),
    runResult,
  };
}

/** Signs the report of the tests and SHA256SUMS with the release key, and verifies the result with the new single file. */
function signEvidence(work: string, report: string, archive: string): void {
  const drillproof = (...words: readonly string[]): string =>
    run('node', join(out, 'drillproof.mjs'), ...words);
  const key = join(work, 'key.pem');
  if (isDryRun) drillproof('keys', 'generate', '--out', key);
  else writeFileSync(key, process.env['DRILLPROOF_RELEASE_KEY'] ?? '', { mode: 0o600 });
  const publicKey = join(out, 'release.pub.pem');
  writeFileSync(publicKey, run('openssl pkey -pubout -in', key));

  const files = join(work, 'files');
  mkdirSync(files);
  cpSync(report, join(files, 'tests.json'));
  cpSync(join(out, 'SHA256SUMS'), join(files, 'SHA256SUMS'));
  writeFileSync(join(files, 'steps.txt'), `${steps.join('\n')}\n`);
  writeJson(
    join(work, 'run.json'),
    describeRun(JSON.parse(readFileSync(report, 'utf8')) as TestReport, archive),
  );
  const signer = ['--key', key, '--issuer', ISSUER];
  const roles = ['tests.json=evidence', 'SHA256SUMS=state', 'steps.txt=trajectory'].flatMap((role) => [
    '--role',
    role,
  ]);
  const part = join(work, 'part.zip');
  drillproof('pack', files, '--run', join(work, 'run.json'), ...roles, ...signer, '--out', part);
  const evidence = join(out, 'evidence.zip');
  drillproof('export', part, ...signer, '--out', evidence);
  const trust = ['--key', `${publicKey},issuer=${ISSUER}`];
  console.log(drillproof('verify', evidence, ...trust, '--require-list', '--expect-bundles', '1'));
  console.log(drillproof('gate', evidence, ...trust, '--quiet'));
}

if (!isDryRun) checkVersion();
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'drillproof-release-'));
try {
  const report = runTests(work);
  const archive = makeFiles();
  listPackages(work, archive);
  if (!isDryRun) checkSingleFile();
  writeSums();
  signEvidence(work, report, archive);
} finally {
  rmSync(work, { recursive: true });
}
