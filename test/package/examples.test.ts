import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import * as client from '../../src/client.ts';
import * as contract from '../../src/contract.ts';
import * as main from '../../src/index.ts';
import * as node from '../../src/node.ts';
import * as server from '../../src/server.ts';
import * as web from '../../src/web.ts';
import { docstringOf, PUBLIC } from './public-names.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const VALUES: Readonly<Record<string, unknown>> = {
  ...main,
  ...contract,
  ...client,
  ...node,
  ...server,
  ...web,
};
const isFunction = (value: unknown): boolean =>
  typeof value === 'function' && !String(value).startsWith('class');

/** The code of the `@example` of a docstring. */
const exampleOf = (docstring = ''): string | undefined =>
  /^ \* @example\n((?: \*.*\n)*) \*\/\s*$/m.exec(docstring)?.[1]?.replaceAll(/^ \* ?/gm, '');

const NAMES = PUBLIC.flatMap(({ entry, names }) =>
  names.map((name) => ({ entry, name: name.name, example: exampleOf(docstringOf(name)) })),
);
const EXAMPLES = NAMES.filter(({ example }) => example !== undefined);

test('every public function has an @example in its docstring', () => {
  const bare = NAMES.filter(({ name, example }) => isFunction(VALUES[name]) && example === undefined);
  expect(bare.map(({ name }) => name)).toEqual([]);
});

/** What examples may use without declaring it: values that every reader can imagine. */
const GIVEN: Readonly<Record<string, string>> = {
  bundleInput: 'BundleInput',
  bytes: 'Uint8Array',
  client: 'Client',
  code: 'string',
  decision: 'Decision',
  digest: 'Digest',
  evidenceExportId: 'string',
  dropped: 'DataTransfer',
  exportInput: "Omit<ExportInput, 'parts'>",
  files: 'FileList',
  handle: 'FileSystemDirectoryHandle',
  key: 'TrustedKey',
  manifest: 'Uint8Array',
  organizationId: 'string',
  projectId: 'string',
  report: 'ExportReport',
  scalar: 'Uint8Array',
  signer: 'Signer',
  store: 'TrustStore',
  token: 'string',
  trust: 'Trust',
};

const NODE_NAMES: Readonly<Record<string, string>> = {
  createReadStream: 'node:fs',
  createWriteStream: 'node:fs',
  readFile: 'node:fs/promises',
  Writable: 'node:stream',
  writeFile: 'node:fs/promises',
};

const uses = (text: string, name: string): boolean =>
  new RegExp(`(?:^|[^.\\w]|\\.{3})${name}\\b`, 'm').test(text);
const moduleOf = (entry: string): string => (entry === 'index' ? 'drillproof' : `drillproof/${entry}`);

/** A module that imports what an example uses and runs it in a function. */
function programOf(example: string): string {
  const isDeclared = (name: string): boolean =>
    new RegExp(`(const|import) (\\{[^}]*)?\\b${name}\\b`).test(example);
  const given = Object.entries(GIVEN).filter(([name]) => uses(example, name) && !isDeclared(name));
  const all = `${example}\n${given.map(([, type]) => type).join('\n')}`;
  const modules = [...NAMES.map(({ name, entry }) => [name, moduleOf(entry)]), ...Object.entries(NODE_NAMES)];
  return [
    ...modules
      .filter(([name]) => uses(all, name!))
      .map(([name, from]) => `import { ${isType(name!) ? 'type ' : ''}${name} } from '${from}';`),
    ...given.map(([name, type]) => `declare const ${name}: ${type};`),
    `export async function example(): Promise<void> {\n${example}}`,
  ].join('\n');
}
const isType = (name: string): boolean => !(name in VALUES) && !(name in NODE_NAMES);

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
    types: ['node'],
    noEmit: true,
  },
  include: ['*.ts'],
};

test('every @example compiles against the built package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'drillproof-examples-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(ROOT, join(folder, 'node_modules/drillproof'));
    symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
    for (const { name, example } of EXAMPLES) writeFileSync(join(folder, `${name}.ts`), programOf(example!));
    expect(compile(folder)).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);

function compile(folder: string): string {
  try {
    return execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}
