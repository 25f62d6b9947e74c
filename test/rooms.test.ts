import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const sources = globSync('src/**/*.ts');
/** The files that a file imports, types included. */
const imports = new Map(
  sources.map((file) => [
    file,
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
      join(dirname(file), path!),
    ),
  ]),
);

/** The imports between the folders and files that are directly in a folder. */
function mapFolder(folder: string): Map<string, Map<string, string>> {
  const nameOf = (file: string): string => file.slice(folder.length + 1).split('/')[0]!;
  const graph = new Map<string, Map<string, string>>();
  for (const [file, targets] of imports)
    for (const target of file.startsWith(`${folder}/`) ? targets : []) {
      if (!target.startsWith(`${folder}/`) || nameOf(file) === nameOf(target)) continue;
      const row = graph.get(nameOf(file)) ?? new Map<string, string>();
      graph.set(nameOf(file), row.set(nameOf(target), `${file} imports ${target}`));
    }
  return graph;
}

/** The imports of a circle, if there is one. */
function findCircle(graph: Map<string, Map<string, string>>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (
    name: string,
    path: readonly string[],
    steps: readonly string[],
  ): readonly string[] | undefined => {
    if (path.includes(name)) return steps.slice(path.indexOf(name));
    if (done.has(name)) return undefined;
    for (const [next, step] of graph.get(name) ?? []) {
      const circle = visit(next, [...path, name], [...steps, step]);
      if (circle !== undefined) return circle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of graph.keys()) {
    const circle = visit(name, [], []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

const steps = (...pairs: readonly (readonly [string, string])[]) =>
  new Map(pairs.map(([from, to]) => [from, new Map([[to, `${from} imports ${to}`]])]));

it('a circle of two files is found, and imports in one direction are not', () => {
  expect(findCircle(steps(['a', 'b'], ['b', 'c'], ['c', 'b']))).toEqual(['b imports c', 'c imports b']);
  expect(findCircle(steps(['a', 'b'], ['b', 'c']))).toBeUndefined();
});

const folders = new Set(sources.map(dirname).flatMap((folder) => [folder, dirname(folder)]));
it.each([...folders].filter((folder) => folder.startsWith('src/')))(
  'no folder or file directly in %s imports another that imports it, also by others',
  (folder) => expect(findCircle(mapFolder(folder))).toBeUndefined(),
);
