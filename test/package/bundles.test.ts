import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from '../../src/bytes/index.ts';
import { verifyDirectory } from '../../src/node.ts';
import { secondOpinion } from '../../src/node/second-opinion/index.ts';
import { trustStoreJwks } from '../../src/trust/index.ts';
import { makeBundleInput, makeExport, makeObject, makeTrust, NOW } from '../support/evidence.ts';
import manifest from '../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../..');
const project = mkdtempSync(join(tmpdir(), 'drillproof-bundles-'));
afterAll(() => rmSync(project, { recursive: true }));

// A project with the built package and what it depends on, without the optional packages.
beforeAll(() => {
  const modules = join(project, 'node_modules');
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  cpSync(join(root, 'dist'), join(modules, 'drillproof/dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(modules, 'drillproof/package.json'));
});

/** Bundles a program of the project. */
async function bundle(contents: string, options: BuildOptions): Promise<Uint8Array> {
  const stdin = { contents, resolveDir: project };
  const outdir = join(project, 'out');
  const result = await build({ stdin, bundle: true, format: 'esm', logLevel: 'silent', outdir, ...options });
  expect(result.warnings).toEqual([]);
  return result.outputFiles?.[0]?.contents ?? new Uint8Array();
}

const PACKAGES = ['zod', '@noble/*'];

it.each<[string, BuildOptions, number, number]>([
  ['canonicalJson', { platform: 'neutral' }, 2_200, 1_200],
  ['canonicalJson', { platform: 'node' }, 2_200, 1_200],
  ['verifyAttestation', { platform: 'neutral', external: PACKAGES }, 47_600, 17_430],
  ['verifyAttestation', { platform: 'node', external: PACKAGES }, 47_600, 17_430],
  ['verifyAttestation', { platform: 'node' }, 68_500, 23_990],
  ['verifyAttestation', { platform: 'browser' }, 109_200, 39_200],
])(
  'a bundle that imports one name of drillproof has only what %s needs, with %j in at most %i bytes, %i with gzip',
  async (name, options, bytes, gzipped) => {
    const code = await bundle(`export { ${name} } from 'drillproof';`, {
      ...options,
      mainFields: ['module', 'main'],
      minify: true,
      write: false,
      legalComments: 'none',
    });
    expect(code.length).toBeLessThanOrEqual(bytes);
    expect(gzipSync(code).length).toBeLessThanOrEqual(gzipped);
  },
);

const PROGRAM = `
import { readFileSync } from 'node:fs';
import { parseTrustStore } from 'drillproof';
import { secondOpinion, verifyDirectory } from 'drillproof/node';
let workers = 0;
process.on('worker', () => workers++);
const trust = parseTrustStore(readFileSync('trust.json'));
const options = { asOfMs: ${NOW}, trust, secondOpinion };
Promise.all([2, 1].map((jobs) => verifyDirectory('export', { ...options, jobs }))).then((reports) =>
  process.stdout.write(JSON.stringify({ workers, reports })),
);
`;

describe('a program that is bundled with drillproof/node', () => {
  let expected = '';
  beforeAll(async () => {
    const half = randomBytes(9 * 2 ** 20); // threads start above 16 MiB
    const big = makeObject('files/big.bin', '', { role: 'file', open: () => once(half) });
    const { objects } = makeBundleInput(1);
    const { files, signer } = await makeExport({ parts: 2, bundle: { objects: [...objects, big] } });
    const folder = join(project, 'export');
    for (const [path, bytes] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
    const trust = makeTrust(signer);
    writeFileSync(join(project, 'trust.json'), JSON.stringify(trustStoreJwks(trust)));
    const report = await verifyDirectory(folder, { asOfMs: NOW, trust, secondOpinion });
    expect(report.verdict).toBe('verified');
    expected = JSON.stringify(report);
  });

  it.each<[string, BuildOptions]>([
    ['as one module', {}],
    ['as split modules', { splitting: true }],
    ['as CommonJS', { format: 'cjs' }],
    ['from the files for Node.js', { conditions: ['node'] }],
  ])('verifies in threads %s, with both opinions', async (_how, options) => {
    const file = `main.${options.format ?? 'mjs'}`;
    await bundle(PROGRAM, {
      platform: 'node',
      entryNames: 'main',
      outExtension: { '.js': extname(file) },
      ...options,
    });
    const run = { cwd: project, encoding: 'utf8' } as const;
    const { workers, reports } = JSON.parse(execFileSync(process.execPath, [join('out', file)], run)) as {
      workers: number;
      reports: unknown[];
    };
    expect(workers).toBe(2);
    expect(reports.map((report) => JSON.stringify(report))).toEqual([expected, expected]);
  });
});
