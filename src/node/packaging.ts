import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The places of the other files of this program; `#packaging` in package.json selects how it is packaged. */
export type Packaging = {
  version(): Promise<string>;
  /** The module of a worker thread that verifies parts. */
  readonly verifyWorker: URL;
  /** What a selftest needs in addition to the program: the folder of the vectors and the module that starts the program. */
  readonly selftest?: { readonly vectors: string; readonly main: string };
};

const at = (path: string): URL => new URL(path, import.meta.url);
const extension = extname(import.meta.url); // the same layout before and after the build

/** As a package, with every file next to it. */
export const packaging: Packaging = {
  async version() {
    const { version } = JSON.parse(await readFile(at('../../package.json'), 'utf8')) as { version: string };
    return version;
  },
  verifyWorker: at(`./verify-worker${extension}`),
  selftest: {
    vectors: fileURLToPath(at('../../vectors/')),
    main: fileURLToPath(at(`../cli/main${extension}`)),
  },
};
