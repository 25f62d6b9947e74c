import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod/mini';
import { checkArguments, TEXT } from '../../../bytes/arguments.ts';
import { typeValue } from '../../../contract/type-value.ts';
import { createProgramRunner, readProgram, runnerError } from './program.ts';
import { describeFirst, kindsSchema, type Runner } from './runner.ts';

const CODE = 'server.CONFIG_INVALID';

const moduleSchema = z.looseObject({
  kinds: kindsSchema,
  run: z.custom<Runner['run']>((value) => typeof value === 'function', 'must be a function'),
});

/**
 * Checks what a module exports as `runner`.
 * @param name its name in messages, such as the path of the module
 */
export function checkRunner(value: unknown, name: string): Runner {
  const { data, error } = typeValue(moduleSchema, value);
  if (error !== undefined) throw runnerError(CODE, `the export "runner" of ${name}: ${describeFirst(error)}`);
  const { kinds, run } = data;
  return { kinds: [...new Set(kinds)], run: async (job, context) => run.call(value, job, context) };
}

/**
 * Loads the runner of a host (docs/server/runners.md): an ECMAScript module that exports it as `runner`, or a folder whose
 * `runner.json` names a program, which is started to hear its kinds of work. A module runs with all permissions of the
 * worker.
 * @param env the variables from which `runner.json` selects; default those of this process
 * @throws DrillproofError `server.CONFIG_INVALID` for a file that is absent, does not load, or exports no runner, or for an
 *   invalid `runner.json`; `runner.NOT_STARTED`, `runner.HELLO_INVALID`, `runner.EXIT`, `runner.TOO_LARGE`
 * @example
 * const { store, blobs } = await openEmbedded('data');
 * const worker = createWorker({ store, blobs, runner: await loadRunner('./runner.js') });
 */
export async function loadRunner(
  path: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Runner> {
  checkArguments({ path: TEXT }, { path });
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) throw runnerError(CODE, `the runner ${path} does not exist`);
  if (stats.isDirectory()) return createProgramRunner(await readProgram(path, env));
  const module: object = await import(pathToFileURL(resolve(path)).href).catch((cause: unknown) => {
    throw runnerError(CODE, `the runner ${path} cannot be loaded`, cause);
  });
  return checkRunner('runner' in module ? module.runner : undefined, path);
}
