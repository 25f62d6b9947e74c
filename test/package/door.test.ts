import { join } from 'node:path';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as client from '../../src/client.ts';
import * as contract from '../../src/contract.ts';
import * as main from '../../src/index.ts';
import * as node from '../../src/node.ts';
import * as server from '../../src/server.ts';
import * as web from '../../src/web.ts';
import { DrillproofError } from '../../src/errors.ts';
import { docstringOf, PUBLIC, SRC } from './public-names.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

test('the entry points have the names in door.json', async () => {
  const list = PUBLIC.map(({ entry, names }) => [entry, names.map(({ name }) => name).toSorted()]);
  await expect(`${JSON.stringify(Object.fromEntries(list), null, 2)}\n`).toMatchFileSnapshot('door.json');
});

test('the entry points have at most 220 names, and the main one at most 92', () => {
  expect(PUBLIC[0]!.names.length).toBeLessThanOrEqual(92);
  expect(PUBLIC.flatMap(({ names }) => names).length).toBeLessThanOrEqual(220);
});

test('every public name has a docstring', () => {
  const bare = PUBLIC.flatMap(({ names }) => names.filter((name) => docstringOf(name) === undefined));
  expect(bare.map(({ name, from }) => `${name} of ${from.slice(SRC.length)}`)).toEqual([]);
});

const FUNCTIONS = [main, contract, client, node, server, web].flatMap((module) =>
  Object.entries(module).filter(
    (entry): entry is [string, (...args: unknown[]) => unknown] =>
      typeof entry[1] === 'function' && !String(entry[1]).startsWith('class'),
  ),
);
// These take any value, or none.
const TOTAL = ['canonicalBytes', 'canonicalJson', 'codeEntry', 'generateSigningKey', 'isControlCode'];
const ANY = [...TOTAL, 'operationRow', 'httpStatusOf', 'openApiDocument'];
const WRONG = [undefined, null, 1, '', {}, [], Symbol('x'), () => undefined];

test.each(FUNCTIONS.filter(([name]) => !ANY.includes(name)))(
  '%s refuses an argument of the wrong kind',
  async (name, call) => {
    const attempts = WRONG.map(async (value) => call(value));
    const errors = (await Promise.allSettled(attempts)).flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    expect(errors.length, `${name} accepted every kind`).toBeGreaterThan(3);
    for (const error of errors.filter((reason) => !(reason instanceof DrillproofError)))
      expect(String(error)).toMatch(/^TypeError: [a-zA-Z.]+ (is .*\. Pass |has the unknown member)/);
  },
);

// Every cli/<command>/command.ts exports defineCommand, which is loaded by its path.
test('no two exported functions of src share a name, except defineCommand', () => {
  const declared = globSync('**/*.ts', { cwd: SRC }).flatMap((file) => {
    const declarations = read(join(SRC, file)).matchAll(
      /^export (?:async )?(?:function\*? (\w+)|const (\w+) =\s*(?:async )?[(<])/gm,
    );
    // A file declares the overloads of one function under one name.
    return [...new Set(Array.from(declarations, ([, name, constant]) => name ?? constant ?? ''))];
  });
  expect(declared.length).toBeGreaterThan(500);
  const twice = declared.filter((name, at) => declared.indexOf(name) !== at);
  expect(twice.filter((name) => name !== 'defineCommand')).toEqual([]);
});
