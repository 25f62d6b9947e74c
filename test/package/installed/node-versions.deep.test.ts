import { execFile, spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { trustStoreJwks } from '../../../src/trust/store.ts';
import { flipBit, makeExport, makeTrust, NOW } from '../../support/evidence.ts';
import { makeFolder, writeFiles } from '../../support/folder.ts';
import { makeProject } from '../../support/project.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

/** The oldest supported version and the newest one. The other tests run on the version between them, Node.js 24. */
const VERSIONS = ['22.13.0', '26.10.0'];
/** It cannot parse what newer versions can. */
const TOO_OLD = '18.20.8';

const folder = await makeFolder();
beforeAll(async () => {
  const packages = [...VERSIONS, TOO_OLD].map(
    (version) => `v${version}@npm:node-linux-${process.arch}@${version}`,
  );
  await run('npm', ['install', '--no-save', '--prefix', folder, ...packages, 'bun@1.4.5', 'deno@2.9.6'], {
    cwd: folder,
  });
}, 300_000);
const runNode = (version: string, ...args: string[]) =>
  run(join(folder, `node_modules/v${version}/bin/node`), args, { cwd: root, maxBuffer: 2 ** 26 });

describe.each(VERSIONS)('Node.js %s', (version) => {
  it(`Node.js ${version} runs, and the engines of the package begin with the oldest version`, async () => {
    expect(manifest.engines.node).toBe(`>=${VERSIONS[0]!.replace(/\.0$/, '')}`);
    expect((await runNode(version, '--version')).stdout.trim()).toBe(`v${version}`);
  });

  it(`every vector passes with the built command and native primitives on Node.js ${version}`, async () => {
    const main = join(root, 'dist/cli/main.js');
    const { stdout } = await runNode(version, main, 'selftest', '--json');
    const report = JSON.parse(stdout) as { readonly failures: unknown };
    expect(report.failures).toEqual([]);
  }, 120_000);

  it(`the demo passes on Node.js ${version}`, async () => {
    const flags = ['--experimental-strip-types', '--no-warnings'];
    const { stdout } = await runNode(version, ...flags, 'scripts/demo/main.ts', join(folder, version));
    expect(stdout.match(/^ {3}ok {5}/gm)).toHaveLength(10);
    expect(stdout).not.toMatch(/FAILED|not found/);
  }, 180_000);
});

const project = await makeProject();
describe.each([
  ['Bun', 'bun', []],
  ['Deno', 'deno', ['run', '--quiet', '--allow-all']],
])('%s', (name, program, words) => {
  const LIBRARY = `
    import { readFileSync } from 'node:fs';
    import { parseTrustStore } from 'drillproof';
    import { verifyDirectory } from 'drillproof/node';
    const trust = parseTrustStore(readFileSync('trust.json'));
    const { verdict } = await verifyDirectory('export', { trust, asOfMs: ${NOW}, jobs: 1 });
    const damaged = await verifyDirectory('damaged', { trust, asOfMs: ${NOW}, jobs: 1 });
    console.log(verdict, damaged.verdict);
  `;
  const start = (...args: readonly string[]) =>
    spawnSync(join(folder, 'node_modules/.bin', program), [...words, ...args], {
      cwd: project,
      encoding: 'utf8',
    });

  it(`the library verifies a folder on ${name} and refuses a damaged one`, () => {
    const { stdout, stderr } = start(join(project, 'library.mjs'));
    expect([stdout, stderr]).toEqual(['verified failed\n', '']);
  });

  it(`the command verifies a folder on ${name} and refuses a damaged one`, () => {
    const options = ['--trust', 'trust.json', '--as-of', new Date(NOW).toISOString(), '--json'];
    const reports = ['export', 'damaged'].map((path) => {
      const { status, stdout } = start(join(root, 'dist/cli/main.js'), 'verify', path, ...options);
      return [status, JSON.parse(stdout).verdict];
    });
    expect(reports).toEqual([
      [0, 'verified'],
      [1, 'failed'],
    ]);
  });

  beforeAll(async () => {
    const { files, signer } = await makeExport();
    const [path, bytes] = Object.entries(files).find(([file]) => file.startsWith('parts/'))!;
    await writeFiles(join(project, 'export'), files);
    await writeFiles(join(project, 'damaged'), { ...files, [path]: flipBit(bytes, bytes.length >> 1) });
    await writeFiles(project, {
      'library.mjs': LIBRARY,
      'trust.json': JSON.stringify(trustStoreJwks(makeTrust(signer))),
    });
  });
});

describe(`Node.js ${TOO_OLD}`, () => {
  it.each(['dist/cli/main.js', 'single'])(
    `%s refuses Node.js ${TOO_OLD} with exit code 2`,
    async (program) => {
      const file = program === 'single' ? join(folder, 'single/drillproof.mjs') : program;
      if (program === 'single') await runNode(VERSIONS[1]!, 'scripts/build.ts', 'single', dirname(file));
      await expect(runNode(TOO_OLD, file, 'gate', 'export')).rejects.toMatchObject({
        code: 2,
        stderr: `drillproof: usage.INVALID: Node.js ${TOO_OLD} is too old\n  Install Node.js 22.13 or later.\n`,
      });
    },
  );
});
