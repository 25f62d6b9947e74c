import { checkArguments, defined, TEXT } from '../../../bytes/index.ts';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DrillproofError } from '../../../errors.ts';
import { runnerKinds, type Runner, type RunnerKind } from './runner.ts';

const invalid = (message: string, cause?: unknown): DrillproofError =>
  new DrillproofError('server.CONFIG_INVALID', message, defined({ cause }));

const isKind = (kind: unknown): kind is RunnerKind => runnerKinds.some((each) => each === kind);

/**
 * Checks what a module exports as `runner`.
 * @param name what messages call it, such as the path of the module
 * @throws DrillproofError `server.CONFIG_INVALID`
 */
export function checkRunner(value: unknown, name: string): Runner {
  if (typeof value !== 'object' || value === null)
    throw invalid(`${name} does not export an object named "runner"`);
  const run: unknown = 'run' in value ? value.run : undefined;
  if (typeof run !== 'function') throw invalid(`the runner of ${name} has no function "run"`);
  const kinds: unknown = 'kinds' in value ? value.kinds : undefined;
  if (!Array.isArray(kinds) || kinds.length === 0)
    throw invalid(`the runner of ${name} has no list of "kinds"`);
  const unknown = kinds.findIndex((kind) => !isKind(kind));
  if (unknown >= 0) {
    const what = JSON.stringify(kinds[unknown]) ?? 'undefined';
    throw invalid(
      `the runner of ${name} names the kind ${what}; the known kinds are ${runnerKinds.join(', ')}`,
    );
  }
  return {
    kinds: [...new Set(kinds.filter(isKind))],
    run: async (job, context) => run.call(value, job, context),
  };
}

async function importModule(path: string): Promise<object> {
  const file = resolve(path);
  const isFile = await stat(file).then(
    (stats) => stats.isFile(),
    () => false,
  );
  if (!isFile) throw invalid(`runner file ${path} does not exist`);
  try {
    return await import(pathToFileURL(file).href);
  } catch (cause) {
    const why = cause instanceof Error ? `${cause.name}: ${cause.message.split('\n')[0] ?? ''}` : 'unknown';
    throw invalid(`the runner ${path} cannot be loaded: ${why}`, cause);
  }
}

/**
 * Loads the runner of a host: an ECMAScript module that exports it as `runner` (docs/server/server.md, Runners). The module is
 * trusted: it runs with all permissions of the worker.
 * @throws DrillproofError `server.CONFIG_INVALID` for a file that is absent, does not load, or exports no runner
 * @example
 * const { store, blobs } = await openEmbedded('data');
 * const worker = createWorker({ store, blobs, runner: await loadRunner('./runner.js') });
 */
export async function loadRunner(path: string): Promise<Runner> {
  checkArguments({ path: TEXT }, { path });
  const module = await importModule(path);
  return checkRunner('runner' in module ? module.runner : undefined, path);
}
