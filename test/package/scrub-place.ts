import { memorySource, type EvidenceSource } from '../../src/evidence/source.ts';
import type { ScrubPlace } from '../../src/scrub/options.ts';

/** A mirror to scrub, in memory, that cannot be repaired. */
export const makePlace = (source: EvidenceSource = memorySource({})): ScrubPlace => ({
  name: 'evexp_000000000001',
  place: 'memory',
  journal: {
    find: async () => undefined,
    names: async () => [],
    save: async () => undefined,
    flush: async () => undefined,
  },
  stamp: async () => 'a',
  async look() {
    const files = (await source.files()).map((file) => [file.path, { ...file, identity: 'a' }] as const);
    return { source, files: new Map(files), unfinished: false };
  },
  sink: () => Promise.reject(new Error('nothing is written')),
  close: async () => undefined,
});
