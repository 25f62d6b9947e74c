import { expect, test } from 'vitest';
import * as client from '../../src/client.ts';
import * as contract from '../../src/contract.ts';
import * as main from '../../src/index.ts';
import * as node from '../../src/node.ts';
import * as server from '../../src/server.ts';
import * as web from '../../src/web.ts';
import { compile, makeProject } from '../support/project.ts';
import { docstringOf, PUBLIC } from './public-names.ts';

const VALUES: Record<string, unknown> = { ...main, ...contract, ...client, ...node, ...server, ...web };
const isFunction = (value: unknown): boolean =>
  typeof value === 'function' && !String(value).startsWith('class');

/** The code of the `@example` of a docstring. */
const exampleOf = (docstring = ''): string | undefined =>
  /^ \* @example\n((?: \*.*\n)*) \*\/\s*$/m.exec(docstring)?.[1]?.replaceAll(/^ \* ?/gm, '');

const NAMES = PUBLIC.flatMap(({ entry, names }) =>
  names.map((name) => ({ entry, name: name.name, example: exampleOf(docstringOf(name)) })),
);
test('every public function has an @example in its docstring', () => {
  const bare = NAMES.filter(({ name, example }) => isFunction(VALUES[name]) && example === undefined);
  expect(bare.map(({ name }) => name)).toEqual([]);
});

/** The types of the values that examples may use without declaring them. */
const SAMPLE_VALUES: Readonly<Record<string, string>> = {
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
  const values = Object.entries(SAMPLE_VALUES).filter(([name]) => uses(example, name) && !isDeclared(name));
  const all = `${example}\n${values.map(([, type]) => type).join('\n')}`;
  const modules = [...NAMES.map(({ name, entry }) => [name, moduleOf(entry)]), ...Object.entries(NODE_NAMES)];
  return [
    ...modules
      .filter(([name]) => uses(all, name!))
      .map(([name, from]) => `import { ${isType(name!) ? 'type ' : ''}${name} } from '${from}';`),
    ...values.map(([name, type]) => `declare const ${name}: ${type};`),
    `export async function example(): Promise<void> {\n${example}}`,
  ].join('\n');
}
const isType = (name: string): boolean => !(name in VALUES) && !(name in NODE_NAMES);

const project = await makeProject();

test('every @example compiles against the built package', () => {
  const examples = NAMES.flatMap(({ name, example }) =>
    example === undefined ? [] : [[`${name}.ts`, programOf(example)] as const],
  );
  const lib = ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'];
  const options = { exactOptionalPropertyTypes: true, skipLibCheck: true, lib };
  expect(compile(project, Object.fromEntries(examples), options)).toBe('');
}, 120_000);
