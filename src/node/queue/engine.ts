import { DrillproofError } from '../../errors.ts';
import { errnoOf } from '../fs-errors.ts';

/** The package that keeps the queue, which only those who share work through it need. */
export type Engine = typeof import('pg-boss');
export type LoadEngine = () => Promise<Engine>;

const ABSENT = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/** Loads pg-boss, an optional dependency. @throws DrillproofError `io.PACKAGE_MISSING` */
export async function loadEngine(load: LoadEngine = () => import('pg-boss')): Promise<Engine> {
  try {
    return await load();
  } catch (cause) {
    if (!ABSENT.has(errnoOf(cause) ?? '')) throw cause;
    const message = 'a queue needs the package pg-boss, which is not installed';
    throw new DrillproofError('io.PACKAGE_MISSING', message, { cause });
  }
}
