import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import { importBuiltinsAsValues } from './builtins.ts';

const STATEMENT = /^(import|export) \{([^}]*)\} from '(\.[^']*)';/gm;
const ALL_OF = /^export \* from '(\.[^']*)';/gm;
const DECLARED = /^export (?:async )?(?:const|function\*?|class) (\w+)/gm;

const indexes = new Map<string, ReadonlyMap<string, string>>();

/** Finds the file that declares each value that a module exports. */
function readExports(path: string): ReadonlyMap<string, string> {
  const earlier = indexes.get(path);
  if (earlier !== undefined) return earlier;
  const files = new Map<string, string>();
  indexes.set(path, files);
  const source = readFileSync(path, 'utf8');
  const fileOf = (from = ''): string => resolve(dirname(path), from);
  for (const [, name = ''] of source.matchAll(DECLARED)) files.set(name, path);
  for (const [, from] of source.matchAll(ALL_OF))
    for (const [name, file] of readExports(fileOf(from))) files.set(name, file);
  for (const [, verb, names = '', from] of source.matchAll(STATEMENT))
    if (verb === 'export') for (const name of listNames(names)) files.set(name, fileOf(from));
  return files;
}

const listNames = (names: string): string[] =>
  names.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));

/**
 * Reads a module, and imports each name from the file that declares it instead of the index.ts of its room. Programs load
 * less, because esbuild counts every file of an index.ts as used by an import of one name.
 */
export function importDirectly(path: string): string {
  const folder = resolve(dirname(path));
  return readFileSync(path, 'utf8').replaceAll(
    STATEMENT,
    (statement, verb: string, names: string, from: string) => {
      const index = resolve(folder, from);
      if (!index.endsWith('/index.ts') || !existsSync(index)) return statement;
      return listNames(names)
        .filter((name) => !name.startsWith('type '))
        .map((name) => {
          const file = readExports(index).get(name.replace(/ as .*/, '')) ?? index;
          return `${verb} { ${name} } from './${relative(folder, file)}';`;
        })
        .join(' ');
    },
  );
}

/** The name and the value of a constant at the top of a module, where the value is a call, has calls in its members, or is a pattern with classes of Unicode. */
const CALL =
  /^((?:export )?const \w+(?:: [^\n=]*)? =)\s+((?:(?!async|await)(?:new )?[\w.]+\s*[.(<[]|\{|\[.*\(|\/.*\\p)[^]*?);$(?=\n*(?:[^\s})\]]|$(?!\n)))/gm;

/** Lets bundlers remove the constants of a module that a program does not use, such as the schemas of other documents. */
export const markPure = (source: string): string =>
  source.replaceAll(CALL, '$1 /* @__PURE__ */ (() => ($2))();');

/** Reads a module as JavaScript to bundle. */
export const readForBundle = (path: string): string => importBuiltinsAsValues(markPure(importDirectly(path)));

/** Applies `readForBundle` to every module. */
export const directImports: Plugin = {
  name: 'direct-imports',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      contents: readForBundle(path),
      loader: 'js',
    }));
  },
};
