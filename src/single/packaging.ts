import manifest from '../../package.json' with { type: 'json' };
import type { Packaging } from '../node/packaging.ts';

declare const PAGE: string;

/** As a single file, which is also the module of its threads and has no files next to it. The build inserts the page. */
export const packaging: Packaging = {
  version: () => Promise.resolve(manifest.version),
  page: () => Promise.resolve(PAGE),
  verifyWorker: () => new URL(import.meta.url),
};
