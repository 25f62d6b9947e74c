import { DrillproofError } from '../../errors.ts';
import { errnoOf } from '../fs-errors.ts';

/** The package that keeps the queue, which only those who share work through it need. */
export type Engine = typeof import('pg-boss');
export type LoadEngine = () => Promise<Engine>;

const ABSENT = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);
const LEAST: readonly [number, number] = [22, 12];

/**
 * Loads pg-boss, an optional dependency. `version` is that of Node.js, such as `22.12.0`.
 * @throws DrillproofError `io.PACKAGE_MISSING`, `queue.ENGINE_UNSUPPORTED`
 */
export async function loadEngine(
  load: LoadEngine = () => import('pg-boss'),
  version: string = process.versions.node,
): Promise<Engine> {
  if (isOlder(version))
    throw new DrillproofError(
      'queue.ENGINE_UNSUPPORTED',
      `the queue needs Node.js ${LEAST.join('.')} or newer; this is ${version}`,
    );
  try {
    return await load();
  } catch (cause) {
    if (!ABSENT.has(errnoOf(cause) ?? '')) throw cause;
    const message = 'a queue needs the package pg-boss, which is not installed';
    throw new DrillproofError('io.PACKAGE_MISSING', message, { cause });
  }
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1]);
}
