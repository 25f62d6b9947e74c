import manifest from '../../package.json' with { type: 'json' };
import type { Packaging } from '../node/index.ts';

declare const PAGE: string;

/** As a single file, which is also the module of its threads and has nothing beside it. */
export const packaging: Packaging = {
  version: () => Promise.resolve(manifest.version),
  page: () => Promise.resolve(PAGE),
  verifyWorker: () => Promise.resolve(new URL(import.meta.url)),
};
