import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/bytes/index.ts';

const root = resolve(import.meta.dirname, '../..');
type Entry = { types: string; module: string; node: string; default: string };
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | Entry>;
  imports: Record<string, { node?: string; default: string }>;
};

/** What a built module imports, by its specifiers. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from\s*|import\s*\(?\s*)["']([^"']+)["']/g)].map((match) => match[1]!);
}

/** Every module that a built entry pulls in, with `#` names resolved by the condition `default`. */
function graph(entry: string): { files: Set<string>; packages: Set<string> } {
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

/** The digest of the package as it would be published. */
const pack = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'drillproof-pack-'));
  const name = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  return digestOf(readFileSync(join(folder, name)));
};

describe('the built package', () => {
  test.each(entries)('has code and types at %s', async (_name, { types, ...files }) => {
    expect(existsSync(join(root, types))).toBe(true);
    const names = async (file: string) => Object.keys((await import(join(root, file))) as object);
    const expected = await names(files.default);
    expect(expected.length).toBeGreaterThan(0);
    for (const file of Object.values(files)) expect(await names(file)).toEqual(expected);
  });

  test.each(PORTABLE)('pulls nothing from node: into %s', (name) => {
    const [, { default: code }] = entries.find(([entry]) => entry === name)!;
    const { files, packages } = graph(join(root, code));
    expect(files.size).toBeGreaterThan(1);
    expect([...packages].filter((one) => one.startsWith('node:'))).toEqual([]);
    const names = [...packages].map((one) =>
      one
        .split('/')
        .slice(0, one.startsWith('@') ? 2 : 1)
        .join('/'),
    );
    expect(names.filter((one) => !['@noble/curves', '@noble/hashes', 'yaml', 'zod'].includes(one))).toEqual(
      [],
    );
  });

  test('finds a module of Node when one is imported, so that the test above can fail', () => {
    const { packages } = graph(join(root, 'dist/node.js'));
    expect([...packages].some((one) => one.startsWith('node:'))).toBe(true);
  });

  test('is the same file when it is packed twice', () => {
    expect(pack()).toBe(pack());
  });
});
