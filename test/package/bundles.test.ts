import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { build, type BuildOptions, transform } from 'esbuild';
import { rollup } from 'rollup';
import { build as viteBuild } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { verifyDirectory } from '../../src/node.ts';
import { secondOpinion } from '../../src/node/second-opinion/second-opinion.ts';
import { trustStoreJwks } from '../../src/trust/store.ts';
import { makeLargeExport, makeTrust, NOW } from '../support/evidence.ts';
import { writeFiles } from '../support/folder.ts';
import { makeProject } from '../support/project.ts';

const project = await makeProject();
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
  ['verifyAttestation', { platform: 'neutral', external: PACKAGES }, 60_000, 21_500],
  ['verifyAttestation', { platform: 'node', external: PACKAGES }, 57_000, 20_500],
  ['verifyAttestation', { platform: 'node' }, 82_000, 28_600],
  ['verifyAttestation', { platform: 'browser' }, 125_000, 44_800],
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

it.each<[string, (entry: string, out: string) => Promise<unknown>]>([
  [
    'rollup',
    async (input, file) => {
      const plugins = [nodeResolve({ browser: true })];
      await (await rollup({ input, plugins, logLevel: 'silent' })).write({ file, format: 'es' });
    },
  ],
  [
    'vite',
    (entry, file) =>
      viteBuild({
        configFile: false,
        logLevel: 'silent',
        build: {
          lib: { entry, formats: ['es'], fileName: () => basename(file) },
          outDir: dirname(file),
          emptyOutDir: false,
        },
      }),
  ],
])(
  '%s bundles verifyAttestation for browsers without settings, in at most 127 kB minified',
  async (name, bundleWith) => {
    await writeFiles(project, { [`${name}/main.js`]: `export { verifyAttestation } from 'drillproof';` });
    const file = join(project, name, 'bundle.mjs');
    await bundleWith(join(project, name, 'main.js'), file);
    const { code } = await transform(readFileSync(file, 'utf8'), { minify: true, legalComments: 'none' });
    expect(code.length).toBeLessThanOrEqual(127_000);
    const { verifyAttestation } = (await import(file)) as typeof import('drillproof');
    expect(verifyAttestation('{}', { asOfMs: NOW }).verdict).toBe('invalid');
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

describe('a program bundled with drillproof/node', () => {
  let expected = '';
  beforeAll(async () => {
    const { files, signer } = await makeLargeExport();
    const folder = join(project, 'export');
    const trust = makeTrust(signer);
    await writeFiles(folder, files);
    await writeFiles(project, { 'trust.json': JSON.stringify(trustStoreJwks(trust)) });
    const report = await verifyDirectory(folder, { asOfMs: NOW, trust, secondOpinion });
    expect(report.verdict).toBe('verified');
    expected = JSON.stringify(report);
  });

  it.each<[string, BuildOptions]>([
    ['as one module', {}],
    ['as split modules', { splitting: true }],
    ['as CommonJS', { format: 'cjs' }],
  ])(
    '%s verifies in one thread, without the module of the others, with a second opinion',
    async (_how, options) => {
      const file = `main.${options.format ?? 'mjs'}`;
      await bundle(PROGRAM, {
        platform: 'node',
        external: ['yauzl'], // written for require(), which a bundled module does not have
        entryNames: 'main',
        outExtension: { '.js': extname(file) },
        ...options,
      });
      const run = { cwd: project, encoding: 'utf8' } as const;
      const output = execFileSync(process.execPath, [join('out', file)], run);
      expect(output).toBe(`{"workers":0,"reports":[${expected},${expected}]}`);
    },
  );
});
