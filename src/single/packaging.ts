import manifest from '../../package.json' with { type: 'json' };
import type { Packaging } from '../node/index.ts';

/** As a single file, which is also the module of its threads and has nothing beside it. */
export const packaging: Packaging = {
  version: () => Promise.resolve(manifest.version),
  verifyWorker: () => Promise.resolve(new URL(import.meta.url)),
};
