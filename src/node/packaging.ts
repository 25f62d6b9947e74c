import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The locations of the other files of this program. `#packaging` in package.json selects the implementation. */
export type Packaging = {
  version(): Promise<string>;
  /** The module of a worker thread that verifies parts; `undefined` in a program that was bundled without it. */
  verifyWorker(): URL | undefined;
  /** The page that verifies in a browser, as HTML; `undefined` if it was not built. */
  page(): Promise<string | undefined>;
  /** The folder or archive of the vectors; absent in a program without them. */
  readonly vectors?: string;
};

// A program that was bundled as CommonJS has no address.
const base: string | undefined = import.meta.url;
const at = (path: string): URL => new URL(path, base ?? 'file:///');
const isSource = base?.endsWith('.ts') ?? false;
/** Resolves a module by its path in `src/`, before and after the build. */
const moduleAt = (path: string): URL => at(`../${path}${isSource ? '.ts' : '.js'}`);

/** The package, in which every file is separate. */
export const packaging: Packaging = {
  async version() {
    const { version } = JSON.parse(readFileSync(at('../../package.json'), 'utf8')) as { version: string };
    return version;
  },
  verifyWorker() {
    const file = moduleAt('node/verify-worker');
    return existsSync(file) ? file : undefined;
  },
  async page() {
    const file = at(isSource ? '../../dist/page/drillproof.html' : '../page/drillproof.html');
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  },
  vectors: fileURLToPath(at(isSource ? '../../vectors/' : '../vectors.zip')),
};
