import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkArguments, TEXT } from '../../../bytes/arguments.ts';
import { createProgramRunner, readProgram } from './program.ts';
import { configError, isKind, type Runner, runnerKinds } from './runner.ts';

/**
 * Checks what a module exports as `runner`.
 * @param name its name in messages, such as the path of the module
 * @throws DrillproofError `server.CONFIG_INVALID`
 */
export function checkRunner(value: unknown, name: string): Runner {
  if (typeof value !== 'object' || value === null)
    throw configError(`${name} does not export an object named "runner"`);
  const run: unknown = 'run' in value ? value.run : undefined;
  if (typeof run !== 'function') throw configError(`the runner of ${name} has no function "run"`);
  const kinds: unknown = 'kinds' in value ? value.kinds : undefined;
  if (!Array.isArray(kinds) || kinds.length === 0)
    throw configError(`the runner of ${name} has no list of "kinds"`);
  const unknown = kinds.findIndex((kind) => !isKind(kind));
  if (unknown >= 0) {
    const kind = JSON.stringify(kinds[unknown]) ?? 'undefined';
    throw configError(
      `the runner of ${name} names the kind ${kind}; the known kinds are ${runnerKinds.join(', ')}`,
    );
  }
  return {
    kinds: [...new Set(kinds.filter(isKind))],
    run: async (job, context) => run.call(value, job, context),
  };
}

async function importModule(path: string): Promise<object> {
  try {
    return await import(pathToFileURL(resolve(path)).href);
  } catch (cause) {
    const reason =
      cause instanceof Error ? `${cause.name}: ${cause.message.split('\n')[0] ?? ''}` : 'unknown';
    throw configError(`the runner ${path} cannot be loaded: ${reason}`, cause);
  }
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
  if (stats === undefined) throw configError(`the runner ${path} does not exist`);
  if (stats.isDirectory()) return createProgramRunner(await readProgram(path, env));
  const module = await importModule(path);
  return checkRunner('runner' in module ? module.runner : undefined, path);
}
