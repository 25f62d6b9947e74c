import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkRunner, loadRunner } from '../../../../src/server/jobs/run/load.ts';
import { makeFolder } from '../../../support/folder.ts';
import { codeOf, thrownBy } from '../../thrown.ts';

const folder = await makeFolder();

let files = 0;
const load = async (source: string) => {
  const path = join(folder, `runner-${files++}.mjs`);
  await writeFile(path, source);
  return loadRunner(path);
};

const GOOD =
  "export const runner = { kinds: ['run.rerun', 'run.rerun'], async run() { return this.kinds; } };";

it('a runner file exports its runner, whose run keeps its this', async () => {
  const runner = await load(GOOD);
  expect(runner.kinds).toEqual(['run.rerun']);
  expect(await Reflect.apply(runner.run, undefined, [])).toEqual(['run.rerun', 'run.rerun']);
});

it.each([
  ['is absent', undefined],
  ['is not a module', 'export const = 1'],
  ['throws', "throw new Error('no luck\\nwith\\nlines')"],
  ['imports a missing package', "import 'a-package-that-is-not-there'"],
  ['exports nothing', ''],
  ['exports another name', 'export const ran = {}'],
  ['exports a runner that is not an object', 'export const runner = 5'],
  ['exports null', 'export const runner = null'],
  ['has no run', "export const runner = { kinds: ['run.rerun'] }"],
  ['has a run that is not a function', "export const runner = { kinds: ['run.rerun'], run: 1 }"],
  ['has no kinds', 'export const runner = { run() {} }'],
  ['has an empty list of kinds', 'export const runner = { kinds: [], run() {} }'],
  ['names an unknown kind', "export const runner = { kinds: ['run.rerun', 'run.walk'], run() {} }"],
  ['names a kind that is not a string', 'export const runner = { kinds: [undefined], run() {} }'],
])('a runner file is refused in one line when it %s', async (_why, source) => {
  const loading = source === undefined ? loadRunner(join(folder, 'none.js')) : load(source);
  const { code, message } = await thrownBy(loading);
  expect(code).toBe('server.CONFIG_INVALID');
  expect(message).not.toContain('\n');
});

it('a folder in place of a runner file is refused', async () => {
  expect(await codeOf(loadRunner(folder))).toBe('server.CONFIG_INVALID');
});

it('an error thrown synchronously by a runner becomes a rejection', async () => {
  const thrower = {
    kinds: ['run.rerun'],
    run: () => {
      throw new Error('at once');
    },
  };
  const runner = checkRunner(thrower, 'a test');
  await expect(Reflect.apply(runner.run, undefined, [])).rejects.toThrow('at once');
});
