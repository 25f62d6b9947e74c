import manifest from '../../package.json' with { type: 'json' };
import type { Packaging } from '../node/index.ts';

// Node.js drops the fragment from the address of a thread, but not from that of an import.
const thread = `import ${JSON.stringify(`${import.meta.url}#thread`)}`;

/** As a single file, which is also the module of its threads and has no files next to it. */
export const packaging: Packaging = {
  version: () => Promise.resolve(manifest.version),
  page: async () => (await import('./page.ts')).page,
  verifyWorker: () => Promise.resolve(new URL(`data:text/javascript,${encodeURIComponent(thread)}`)),
};
