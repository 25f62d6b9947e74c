import { dirname, join, resolve } from 'node:path';
import { readFileSync } from 'node:fs';

export const SRC = resolve(import.meta.dirname, '../../src');
const ENTRIES = ['index', 'contract', 'client', 'node', 'server', 'web'] as const;
const read = (file: string): string => readFileSync(file, 'utf8');

type Name = { readonly name: string; readonly from: string };

/** The names that a module re-exports; `export *` is only for rooms. */
function exportsOf(file: string): readonly Name[] {
  const text = read(file).replaceAll(/\/\*[^]*?\*\/|^\/\/.*$/gm, '');
  return [...text.matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(([, names, from]) =>
    names!
      .split(',')
      .map((name) => name.replace(/\btype\b/, '').trim())
      .filter((name) => name !== '')
      .map((name) => ({ name, from: join(dirname(file), from!) })),
  );
}

const DECLARATION = String.raw`export (?:async )?(?:abstract )?(?:function\*?|const|type|class|interface) `;

/** The docstring of a name where it is declared, followed through the rooms. */
export function docstringOf({ name, from }: Name): string | undefined {
  const text = read(from);
  const declared = new RegExp(`${DECLARATION}${name}\\b`).exec(text);
  if (declared !== null) return /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(text.slice(0, declared.index))?.[0];
  const next = exportsOf(from).find((entry) => entry.name === name);
  if (next !== undefined) return docstringOf(next);
  for (const [, star] of text.matchAll(/export \* from '([^']+)'/g)) {
    const target = join(dirname(from), star!);
    if (new RegExp(`${DECLARATION}${name}\\b`).test(read(target))) return docstringOf({ name, from: target });
  }
  throw new Error(`${name} is not declared below ${from}`);
}

/** The public entry points with the names that they export. */
export const PUBLIC = ENTRIES.map((entry) => ({ entry, names: exportsOf(join(SRC, `${entry}.ts`)) }));
