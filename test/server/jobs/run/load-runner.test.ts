import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkRunner, loadRunner } from '../../../../src/server/index.ts';
import { temporaryFolder } from '../../make.ts';
import { codeOf } from '../../thrown.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

let files = 0;
const load = async (source: string) => {
  const path = join(folder.path, `runner-${files++}.mjs`);
  await writeFile(path, source);
  return loadRunner(path);
};

const GOOD =
  "export const runner = { kinds: ['run.rerun', 'run.rerun'], async run() { return this.kinds; } };";

describe('a runner file', () => {
  it('a runner file exports its runner, whose run keeps its this', async () => {
    const runner = await load(GOOD);
    expect(runner.kinds).toEqual(['run.rerun']);
    expect(await Reflect.apply(runner.run, undefined, [])).toEqual(['run.rerun', 'run.rerun']);
  });

  it.each([
    ['is absent', undefined],
    ['is no module', 'export const = 1'],
    ['throws', "throw new Error('no luck\\nwith\\nlines')"],
    ['imports what is not there', "import 'a-package-that-is-not-there'"],
    ['exports nothing', ''],
    ['exports another name', 'export const ran = {}'],
    ['exports a runner that is no object', 'export const runner = 5'],
    ['exports null', 'export const runner = null'],
    ['has no run', "export const runner = { kinds: ['run.rerun'] }"],
    ['has a run that is no function', "export const runner = { kinds: ['run.rerun'], run: 1 }"],
    ['has no kinds', 'export const runner = { run() {} }'],
    ['has an empty list of kinds', 'export const runner = { kinds: [], run() {} }'],
    [
      'names a kind that nobody knows',
      "export const runner = { kinds: ['run.rerun', 'run.walk'], run() {} }",
    ],
    ['names a kind that is no text', 'export const runner = { kinds: [undefined], run() {} }'],
  ])('is refused in one line when it %s', async (_why, source) => {
    const loading = source === undefined ? loadRunner(join(folder.path, 'none.js')) : load(source);
    const failure = await loading.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'server.CONFIG_INVALID' });
    expect(failure instanceof Error && failure.message).not.toContain('\n');
  });

  it('is refused when it is a folder', async () => {
    expect(await codeOf(loadRunner(folder.path))).toBe('server.CONFIG_INVALID');
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
});
