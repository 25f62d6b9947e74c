import { type Plugin, transformSync } from 'esbuild';

const IMPORT = /^import \{([^}]*)\} from '(node:[^']*)';$/gm;
/** Modules that take milliseconds to load. Each is loaded on first use. */
const SLOW = /^node:(child_process|crypto|dns|fs\/promises|https?|net|readline|tls|v8|worker_threads|zlib)\b/;

/** Compiles a module to JavaScript, and replaces each name of a module of Node.js by a member of one value. */
export function importBuiltinsAsValues(source: string): string {
  const define: Record<string, string> = {};
  const code = source.replaceAll(IMPORT, (_, names: string, from: string) => {
    const local = `__${from.replaceAll(/\W/g, '_')}`;
    for (const name of names.split(',').map((text) => text.trim())) {
      const [original = '', renamed = original] = name.split(' as ');
      if (name !== '' && !name.startsWith('type ')) define[renamed] = `${local}.${original}`;
    }
    return `import { builtin as ${local} } from '${from}';`;
  });
  return transformSync(code, { loader: 'ts', define, target: 'node22' }).code;
}

function formatValue(load: string, path: string): string {
  const call = `${load}(${JSON.stringify(path)})`;
  return SLOW.test(path)
    ? `new Proxy({}, { get: (members, name) => (members[name] ??= ${call}[name]) })`
    : call;
}

/**
 * Replaces imports of modules of Node.js by values. An import reads every export, and some exports load rarely needed
 * modules. Also, an old Node.js refuses a file that imports a missing name, with the exit code of bad evidence, before the
 * file can print the version that it needs.
 * @param load the function that loads a module by its name
 */
export const replaceBuiltins = (load: string): Plugin => ({
  name: 'builtins-as-values',
  setup(build) {
    // Packages also omit "node:".
    build.onResolve({ filter: /^(?:node:.*|process|buffer)$/ }, ({ path, kind, namespace, importer }) => {
      if (namespace !== 'file' || kind === 'dynamic-import') return { path, external: true };
      return { path, namespace: importer.endsWith('.ts') ? 'builtin' : 'builtin-of-package' };
    });
    build.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `export const builtin = ${formatValue(load, path)};`,
    }));
    build.onLoad({ filter: /./, namespace: 'builtin-of-package' }, ({ path }) => ({
      contents: `module.exports = ${formatValue(load, path)};`,
    }));
  },
});
