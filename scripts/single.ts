import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';

/** A module in CommonJS, and the path at which esbuild would write it. */
type Module = { readonly path: string; readonly code: string };

/** Packages that were written for `require()`. With the others, esbuild would only export them as a whole. */
export const PACKED = ['undici', 'pg', 'yauzl', 'yazl', '@aws-sdk/client-s3', '@aws-sdk/lib-storage'];
/** The files in them. */
export const packedInputs = new Set<string>();

/** One of them in CommonJS, compressed. */
async function pack(name: string): Promise<[name: string, text: string]> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `module.exports = require(${JSON.stringify(name)});`, resolveDir: '.' },
    bundle: true,
    format: 'cjs',
    target: 'node22',
    platform: 'node',
    minify: true,
    legalComments: 'none',
    supported: { 'dynamic-import': false },
    external: ['pg-native', ...PACKED.filter((other) => other !== name)],
    logLevel: 'warning',
    write: false,
    metafile: true,
  });
  for (const path of Object.keys(metafile.inputs)) packedInputs.add(path);
  return [name, compress(outputFiles[0]!.text)];
}

const compress = (code: string): string => brotliCompressSync(code).toString('base64');

export const packPackages = async (): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(await Promise.all(PACKED.map(pack)));

// The first module to run is a program or one of its threads.
const RUN = `
const nodeRequire = createRequire(import.meta.url);
const modules = new Map();
const unpack = (text) => nodeRequire('node:zlib').brotliDecompressSync(Buffer.from(text, 'base64')).toString();
function load(name) {
  const code = plain[name] ?? (name in packed ? unpack(packed[name]) : undefined);
  if (code === undefined) return nodeRequire(name);
  const module = modules.get(name) ?? { exports: {} };
  if (modules.has(name)) return module.exports;
  modules.set(name, module);
  const run = nodeRequire('node:vm').compileFunction(code, ['require', 'module', 'exports', '__url']);
  run(load, module, module.exports, import.meta.url);
  return module.exports;
}
load(import.meta.url.endsWith('#thread') ? './thread.js' : './main.js');
`;

/**
 * Writes modules and packages as one file. Each is text that Node.js compiles when it is first used; what neither the
 * program nor its threads need to verify is compressed.
 */
export function writeSingle(
  file: string,
  modules: readonly Module[],
  packages: Readonly<Record<string, string>>,
  { outputs }: Metafile,
): void {
  const common = listCommon(outputs);
  const plain: Record<string, string> = {};
  const packed: Record<string, string> = { ...packages };
  for (const { path, code } of modules) {
    const name = `./${basename(path)}`;
    if (common.has(basename(path))) plain[name] = code;
    else packed[name] = compress(code);
  }
  mkdirSync(dirname(file), { recursive: true });
  const head = "#!/usr/bin/env node\nimport { createRequire } from 'node:module';";
  const tables = `const plain = ${JSON.stringify(plain)};\nconst packed = ${JSON.stringify(packed)};`;
  writeFileSync(file, `${head}\n${tables}${RUN}`, { mode: 0o755 });
}

/** The names of the files that the program loads to verify, and its threads. */
function listCommon(outputs: Metafile['outputs']): ReadonlySet<string> {
  const paths = Object.keys(outputs).filter((path) =>
    /^src\/(cli\/(main|process|run|verify\/\w+)|node\/verify-worker)\.ts$/.test(
      outputs[path]?.entryPoint ?? '',
    ),
  );
  for (const path of paths)
    for (const { path: imported, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && imported in outputs && !paths.includes(imported))
        paths.push(imported);
  return new Set(paths.map((path) => basename(path)));
}
