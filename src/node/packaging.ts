import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The places of the other files of this program; `#packaging` in package.json selects how it is packaged. */
export type Packaging = {
  version(): Promise<string>;
  /** The module of a worker thread that verifies parts. */
  verifyWorker(): Promise<URL>;
  /** The page that verifies in a browser, as HTML; `undefined` if it was not built. */
  page(): Promise<string | undefined>;
  /** What a selftest needs in addition: the folder of the vectors, and the module that starts the program where `#platform` is portable. */
  readonly selftest?: { readonly vectors: string; readonly main: string };
};

// A bundle in CommonJS has no address.
const base: string | undefined = import.meta.url;
const at = (path: string): URL => new URL(path, base ?? 'file:///');
/** A module at the path it has in `src/`, with the same layout before and after the build. */
const moduleAt = (path: string): URL => at(`../${path}${base?.endsWith('.ts') ? '.ts' : '.js'}`);

/** As a package, with every file next to it. */
export const packaging: Packaging = {
  async version() {
    const { version } = JSON.parse(readFileSync(at('../../package.json'), 'utf8')) as { version: string };
    return version;
  },
  async verifyWorker() {
    const file = moduleAt('node/verify-worker');
    if (existsSync(file)) return file;
    // Another program was bundled with this library. It has the thread inside.
    const { code } = await import('#verify-worker-code');
    return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  },
  async page() {
    const file = at(base?.endsWith('.ts') ? '../../dist/page/drillproof.html' : '../page/drillproof.html');
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  },
  selftest: {
    vectors: fileURLToPath(at('../../vectors/')),
    // The built command has the primitives of Node.js inside, so there is one with the portable ones.
    main: fileURLToPath(base?.endsWith('.ts') ? moduleAt('cli/main') : at('../portable/main.js')),
  },
};
