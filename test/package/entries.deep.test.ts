import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { makeFolder } from '../support/folder.ts';
import { compile, makeProject } from '../support/project.ts';

const root = resolve(import.meta.dirname, '../..');
const packs = await makeFolder();
type Entry = { types: string; module: string; node: string; default: string };
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | Entry>;
  imports: Record<string, { node?: string; default: string }>;
};

/** The specifiers of the imports of a built module. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:^|[\s}*])(?:from\s*|import\s*\(?\s*)["']([^"']+)["']/g)].map(
    (match) => match[1]!,
  );
}

/** The modules that a built entry loads, with `#` names resolved by the condition `default`. */
function walkImports(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const pending = [entry];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const specifier of importsOf(file)) {
      if (specifier.startsWith('.')) pending.push(resolve(dirname(file), specifier));
      else if (specifier.startsWith('#')) pending.push(join(root, manifest.imports[specifier]!.default));
      else packages.add(specifier);
    }
  }
  return { files, packages };
}

const entries = Object.entries(manifest.exports).filter(
  (entry): entry is [string, Entry] => typeof entry[1] === 'object',
);
const PORTABLE = ['.', './contract', './client'];

test.each(entries)('the built package has code and types at %s', async (_name, { types, ...files }) => {
  expect(existsSync(join(root, types))).toBe(true);
  const names = async (file: string) => Object.keys((await import(join(root, file))) as object);
  const expected = await names(files.default);
  expect(expected.length).toBeGreaterThan(0);
  for (const file of Object.values(files)) expect(await names(file)).toEqual(expected);
});

test.each(PORTABLE)('the portable entry %s loads no module of Node.js and no unexpected package', (name) => {
  const [, { default: code }] = entries.find(([entry]) => entry === name)!;
  const { files, packages } = walkImports(join(root, code));
  expect(files.size).toBeGreaterThan(1);
  const others = [...packages].filter((path) => !/^(?:@noble\/(?:curves|hashes)|yaml|zod)\b/.test(path));
  expect(others).toEqual([]);
});

test('an import of a module of Node.js is found, so the test above can fail', () => {
  const { packages } = walkImports(join(root, 'dist/node.js'));
  expect([...packages].some((path) => path.startsWith('node:'))).toBe(true);
});

/** Clones the files of the repository into a folder, and packs them as npm publishes them; returns the digest. */
function packClone(folder: string, umask: string, TZ: string): string {
  const script = `umask ${umask} && mkdir -p ${folder} && git ls-files -z | xargs -0 cp --parents --no-dereference --no-preserve=mode -t ${folder}
    cp -al node_modules ${folder}/node_modules && cd ${folder} && npm pack --silent`;
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, TZ } } as const;
  const name = execFileSync('/bin/sh', ['-ec', script], options).trim().split('\n').at(-1)!;
  return digestOf(readFileSync(join(folder, name)));
}

test('two clones in other folders and time zones, under umask 022 and 077, give the same package', () => {
  const first = packClone(join(packs, 'clone'), '022', 'UTC');
  expect(packClone(join(packs, 'a/deeper/clone'), '077', 'Asia/Tokyo')).toBe(first);
}, 240_000);

type Packed = { readonly unpackedSize: number; readonly files: readonly { readonly path: string }[] };

test('the package has at most 800 files in 5.9 MB, and no file of the library without a source', () => {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const [packed] = JSON.parse(output) as [Packed];
  expect(packed.files.length).toBeLessThanOrEqual(800);
  expect(packed.unpackedSize).toBeLessThanOrEqual(5_900_000);
  const library = packed.files
    .map(({ path }) => path)
    .filter(
      (path) => /^dist\/(?!cli\/|page\/|node\/verify-worker)/.test(path) && !/\.(?:zip|txt)$/.test(path),
    );
  expect(library.length).toBeGreaterThan(400);
  const sources = library.map((path) => path.replace('dist', 'src').replace(/(?:\.d\.ts|\.js)$/, '.ts'));
  expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('SOURCES.txt names the published files of every source, and every file of code', () => {
  const rows = readFileSync(join(root, 'dist/SOURCES.txt'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  expect(rows.map(([source]) => source)).toEqual(globSync('src/**/*.ts', { cwd: root }).toSorted());
  const listed = new Set(rows.flatMap(([, ...published]) => published));
  expect([...listed].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const others = globSync('dist/**/*.{js,html}', { cwd: root }).filter((path) => !listed.has(path));
  // The bundler adds small files, which only import and export others or hold its own helpers.
  const large = others.filter((path) => statSync(join(root, path)).size > 2_000);
  expect(large).toEqual([]);
});

test('every declaration imports only declarations that the package has', () => {
  const declarations = globSync(join(root, 'dist/**/*.d.ts'));
  expect(declarations.length).toBeGreaterThan(150);
  const broken = declarations.flatMap((file) =>
    importsOf(file)
      .filter((path) => path.startsWith('.'))
      .map((path) => resolve(dirname(file), path.replace(/\.[jt]s$/, '.d.ts')))
      .filter((path) => !existsSync(path)),
  );
  expect(broken).toEqual([]);
});

const project = await makeProject();
const compilerOptions = { skipLibCheck: false, lib: ['es2023'] };

const PROGRAM = `
import { verifyAttestation } from 'drillproof';
import { createClient } from 'drillproof/client';
import { operations } from 'drillproof/contract';
import { verifyDirectory } from 'drillproof/node';
import { createServer } from 'drillproof/server';
const trust = { key: 'pem', issuer: 'https://drills.example' };
export const verdict: string = verifyAttestation('{}', { asOfMs: new Date(), trust }).verdict;
export const all = [operations, createClient, verifyDirectory, createServer];
`;

test('a project with skipLibCheck off compiles against every entry point without the optional packages', () => {
  expect(compile(project, { 'main.ts': PROGRAM }, compilerOptions)).toBe('');
}, 120_000);

test('a project that uses an internal name does not compile', () => {
  const program = `import { checkKey } from 'drillproof';\nexport default checkKey;`;
  expect(compile(project, { 'main.ts': program }, compilerOptions)).toContain('TS2305');
}, 120_000);

const wrong = (program: string) => compile(project, { 'main.ts': program }, compilerOptions);

test('a project with a wrong argument or a wrong member of a report does not compile', () => {
  const names = `import { verifyAttestation } from 'drillproof';\nimport { verifyDirectory } from 'drillproof/node';\n`;
  expect(wrong(`${names}verifyAttestation(42, { asOfMs: 1 });`)).toContain('TS2345');
  expect(wrong(`${names}verifyAttestation('{}', { asOfMs: 1 }).verdit;`)).toContain('TS2551');
  expect(
    wrong(`${names}export const count: string = (await verifyDirectory('.', { asOfMs: 1 })).parts;`),
  ).toContain('TS2322');
}, 120_000);
