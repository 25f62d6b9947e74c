import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { makeFolder } from '../support/folder.ts';

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
  return [...text.matchAll(/(?:from\s*|import\s*\(?\s*)["']([^"']+)["']/g)].map((match) => match[1]!);
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

/** The digest of the package as npm publishes it. */
const packPackage = (): string => {
  const folder = mkdtempSync(join(packs, 'pack-'));
  const name = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  return digestOf(readFileSync(join(folder, name)));
};

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

test('the package has the same bytes when it is packed twice', () => {
  expect(packPackage()).toBe(packPackage());
});
