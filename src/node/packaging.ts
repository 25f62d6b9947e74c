import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The locations of the other files of this program. `#packaging` in package.json selects the implementation. */
export type Packaging = {
  version(): Promise<string>;
  /** The module of a worker thread that verifies parts. */
  verifyWorker(): Promise<URL>;
  /** The page that verifies in a browser, as HTML; `undefined` if it was not built. */
  page(): Promise<string | undefined>;
  /** For a selftest: the folder of the vectors, and the module that starts the program with the portable `#platform`. */
  readonly selftest?: { readonly vectors: string; readonly main: string };
};

// A bundle in CommonJS has no address.
const base: string | undefined = import.meta.url;
const at = (path: string): URL => new URL(path, base ?? 'file:///');
/** Resolves a module by its path in `src/`, before and after the build. */
const moduleAt = (path: string): URL => at(`../${path}${base?.endsWith('.ts') ? '.ts' : '.js'}`);

/** The package, in which every file is separate. */
export const packaging: Packaging = {
  async version() {
    const { version } = JSON.parse(readFileSync(at('../../package.json'), 'utf8')) as { version: string };
    return version;
  },
  async verifyWorker() {
    const file = moduleAt('node/verify-worker');
    if (existsSync(file)) return file;
    // A program that was bundled with this library contains the code of the thread.
    const { code } = await import('#verify-worker-code');
    return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  },
  async page() {
    const file = at(base?.endsWith('.ts') ? '../../dist/page/drillproof.html' : '../page/drillproof.html');
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  },
  selftest: {
    vectors: fileURLToPath(at('../../vectors/')),
    // The built command contains the primitives of Node.js, so there is another with the portable ones.
    main: fileURLToPath(base?.endsWith('.ts') ? moduleAt('cli/main') : at('../portable/main.js')),
  },
};
