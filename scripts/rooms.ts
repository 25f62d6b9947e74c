/**
 * Checks that the folders and files of each folder in `src` have an order: none imports another that imports it, directly
 * or by others. Then prints the weight of each room: its characters that are not white space, so that formatting cannot
 * change it. New features are paid for with old lines. Usage: node scripts/rooms.ts
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

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

function printWeight(folder: string): void {
  const texts = globSync(`${folder}/**/*.*`).map((path) => readFileSync(path, 'utf8').replaceAll(/\s/g, ''));
  const weight = texts.reduce((sum, { length }) => sum + length, 0);
  console.log(weight.toLocaleString('en-US').padStart(11), folder);
}

const folders = new Set(sources.map(dirname).flatMap((folder) => [folder, dirname(folder)]));
for (const folder of folders) {
  const circle = folder.startsWith('src/') ? findCircle(mapFolder(folder)) : undefined;
  if (circle === undefined) continue;
  console.error(
    `The folders and files in ${folder} import each other in a circle:\n  ${circle.join('\n  ')}`,
  );
  process.exitCode = 1;
}
for (const room of globSync('src/*').toSorted()) if (!room.endsWith('.ts')) printWeight(room);
for (const folder of ['src', 'test']) printWeight(folder);
