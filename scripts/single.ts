import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';

/** A module in CommonJS, and the path at which esbuild would write it. */
type Module = { readonly path: string; readonly code: string };

/** Packages in CommonJS. esbuild cannot remove their unused exports. */
export const PACKED = ['undici', 'pg', 'yauzl', 'yazl', '@aws-sdk/client-s3', '@aws-sdk/lib-storage'];
/** The files in them. */
export const packedInputs = new Set<string>();

/** Bundles one of them in CommonJS, compressed. */
async function packPackage(name: string): Promise<[name: string, text: string]> {
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
  Object.fromEntries(await Promise.all(PACKED.map(packPackage)));

// The first module to run is a program or one of its threads.
const RUN = `
const nodeRequire = createRequire(import.meta.url);
const modules = new Map();
let packed;
function readPacked() {
  const file = nodeRequire('node:fs').readFileSync(nodeRequire('node:url').fileURLToPath(import.meta.url), 'latin1');
  return JSON.parse(file.slice(file.lastIndexOf('\\n//') + 3));
}
function unpack(name) {
  packed ??= readPacked();
  const code = nodeRequire('node:zlib').brotliDecompressSync(Buffer.from(packed[name], 'base64')).toString();
  return nodeRequire('node:vm').compileFunction(code, ['require', 'module', 'exports', '__url']);
}
function load(name) {
  const module = modules.get(name) ?? { exports: {} };
  if (modules.has(name)) return module.exports;
  const run = plain[name] ?? (names.has(name) ? unpack(name) : undefined);
  if (run === undefined) return nodeRequire(name);
  modules.set(name, module);
  run(load, module, module.exports, import.meta.url);
  return module.exports;
}
load(import.meta.url.endsWith('#thread') ? './thread.js' : './main.js');
`;

/**
 * Writes modules and packages as one file. Code that `verify` and its threads do not need is compressed, in a comment,
 * which V8 skips. The other modules are functions in parentheses, which V8 compiles at once instead of parsing them
 * twice.
 */
export function writeSingle(
  file: string,
  modules: readonly Module[],
  packages: Readonly<Record<string, string>>,
  { outputs }: Metafile,
): void {
  const common = listCommon(outputs);
  const plain: string[] = [];
  const packed: Record<string, string> = { ...packages };
  for (const { path, code } of modules) {
    const name = `./${basename(path)}`;
    if (common.has(basename(path)))
      plain.push(
        `${JSON.stringify(name)}: (function (require, module, exports, __url) {${code.replace(/^#!.*/, '')}\n}),\n`,
      );
    else packed[name] = compress(code);
  }
  mkdirSync(dirname(file), { recursive: true });
  const head = "#!/usr/bin/env node\nimport { createRequire } from 'node:module';";
  const tables = `const plain = {\n${plain.join('')}};\nconst names = new Set(${JSON.stringify(Object.keys(packed))});`;
  writeFileSync(file, `${head}\n${tables}${RUN}//${JSON.stringify(packed)}`, { mode: 0o755 });
}

/** Lists the files that `verify` and its threads load. */
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
