import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Options } from 'tsup';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const STATEMENT = /^(import|export) \{([^}]*)\} from '(\.[^']*)';/gm;

/** The file that declares each name which an index.ts lists. */
function readIndex(path: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [, , names = '', from = ''] of readFileSync(path, 'utf8').matchAll(STATEMENT))
    for (const name of listNames(names)) files.set(name, resolve(dirname(path), from));
  return files;
}

const listNames = (names: string): string[] =>
  names.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim().replace(/^type /, '')]));

/**
 * Lets a bundle import each name from the file that declares it instead of from the index.ts of its room. esbuild counts
 * all files that an index.ts lists as used by everyone who imports one name: a command would load all of them.
 */
export const directImports: Plugin = {
  name: 'direct-imports',
  setup(build) {
    const indexes = new Map<string, ReadonlyMap<string, string>>();
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const contents = source.replaceAll(
        STATEMENT,
        (statement, verb: string, names: string, from: string) => {
          const index = resolve(dirname(path), from);
          if (!index.endsWith('/index.ts') || !existsSync(index)) return statement;
          if (!indexes.has(index)) indexes.set(index, readIndex(index));
          return names
            .split(',')
            .map((name) => name.trim())
            .filter((name) => name !== '' && !name.startsWith('type '))
            .map((name) => {
              const file = indexes.get(index)?.get(name.replace(/ as .*/, '')) ?? index;
              return `${verb} { ${name} } from './${relative(dirname(path), file)}';`;
            })
            .join(' ');
        },
      );
      return { contents, loader: 'ts' };
    });
  },
};
