import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/** The oldest supported version and the newest one. The other tests run on the version between them, Node.js 24. */
const VERSIONS = ['22.13.0', '26.10.0'];
/** It cannot parse what newer versions can. */
const TOO_OLD = '18.20.8';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'drillproof-node-'));
  const packages = [...VERSIONS, TOO_OLD].map(
    (version) => `v${version}@npm:node-linux-${process.arch}@${version}`,
  );
  await run('npm', ['install', '--no-save', '--prefix', folder, ...packages], { cwd: folder });
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const runNode = (version: string, ...args: string[]) =>
  run(join(folder, `node_modules/v${version}/bin/node`), args, { cwd: root, maxBuffer: 2 ** 26 });

describe.each(VERSIONS)('Node.js %s', (version) => {
  it('is allowed by the engines of the package, and is the version that runs', async () => {
    const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    expect(engines.node).toBe(`>=${VERSIONS[0]!.replace(/\.0$/, '')}`);
    expect((await runNode(version, '--version')).stdout.trim()).toBe(`v${version}`);
  });

  it('passes every vector with the built command and the primitives of Node', async () => {
    const main = join(root, 'dist/cli/main.js');
    const { stdout } = await runNode(version, main, 'selftest', '--platform', 'native', '--json');
    const report = JSON.parse(stdout) as { readonly failures: unknown };
    expect(report.failures).toEqual([]);
  }, 120_000);

  it('packs, serves, mirrors and verifies the demo', async () => {
    const demo = join(root, 'scripts/demo/main.ts');
    const { stdout } = await runNode(
      version,
      '--experimental-strip-types',
      '--no-warnings',
      demo,
      join(folder, version),
    );
    expect(stdout.match(/^ {3}ok {5}/gm)).toHaveLength(10);
    expect(stdout).not.toMatch(/FAILED|not found/);
  }, 180_000);
});

describe(`Node.js ${TOO_OLD}`, () => {
  it.each(['dist/cli/main.js', 'single'])('is refused with exit code 2 by %s', async (program) => {
    const file = program === 'single' ? join(folder, 'single/drillproof.mjs') : program;
    if (program === 'single') await runNode(VERSIONS[1]!, 'scripts/build.ts', 'single', dirname(file));
    await expect(runNode(TOO_OLD, file, 'gate', 'export')).rejects.toMatchObject({
      code: 2,
      stderr: `drillproof: usage.INVALID: Node.js ${TOO_OLD} is too old\n  Install Node.js 22.13 or later.\n`,
    });
  });
});
