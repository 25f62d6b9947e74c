import { brotliCompressSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';

/** What few calls need, as it is imported. */
const RARE = /^(undici|pg|yauzl|yazl|@aws-sdk\/client-s3|@aws-sdk\/lib-storage|\.\/charts\.ts)$/;
/** What one of them needs of another. */
const SHARED = '@aws-sdk/client-s3';
/** The files that were packed. */
export const packedInputs = new Set<string>();

const EVALUATE = `export const evaluate = (text, require) => {
  const code = require('node:zlib').brotliDecompressSync(Buffer.from(text, 'base64')).toString();
  const module = { exports: {} };
  require('node:vm').compileFunction(code, ['require', 'module', 'exports'])(require, module, module.exports);
  return module.exports;
};`;

/** One of them as a function body in CommonJS. */
async function pack(name: string, resolveDir: string): Promise<string> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `module.exports = require(${JSON.stringify(name)});`, resolveDir },
    bundle: true,
    format: 'cjs',
    target: 'node22',
    platform: 'node',
    minify: true,
    legalComments: 'none',
    supported: { 'dynamic-import': false },
    external: ['pg-native', ...(name === SHARED ? [] : [SHARED])],
    logLevel: 'warning',
    write: false,
    metafile: true,
  });
  for (const path of Object.keys(metafile.inputs)) packedInputs.add(path);
  return brotliCompressSync(outputFiles[0]!.contents).toString('base64');
}

/** Keeps what few calls need as compressed text, which Node.js does not have to parse before it is used. */
export const packed: Plugin = {
  name: 'packed',
  setup(bundler) {
    bundler.onResolve({ filter: RARE }, ({ path, kind, resolveDir }) =>
      kind === 'dynamic-import' || kind === 'require-call'
        ? { path, namespace: 'packed', pluginData: resolveDir }
        : undefined,
    );
    bundler.onLoad({ filter: RARE, namespace: 'packed' }, async ({ path, pluginData }) => ({
      contents: `import { evaluate } from 'packed:evaluate';
        const text = ${JSON.stringify(await pack(path, String(pluginData)))};
        module.exports = evaluate(text, (name) => (name === '${SHARED}' ? require('${SHARED}') : nodeRequire(name)));`,
      resolveDir: String(pluginData),
    }));
    bundler.onResolve({ filter: /^packed:/ }, ({ path }) => ({ path, namespace: 'evaluate' }));
    bundler.onLoad({ filter: /./, namespace: 'evaluate' }, () => ({ contents: EVALUATE }));
  },
};
