/** Sources of evidence with one fault, for tests. */
import type { Code } from '../../src/codes/catalogue.ts';
import { DrillproofError } from '../../src/errors.ts';
import type { EvidenceSource } from '../../src/evidence/source.ts';

/** The source, in which the file at a path is a link. */
export const replaceByLink = (source: EvidenceSource, path: string): EvidenceSource => ({
  ...source,
  files: async () =>
    (await source.files()).map((file) => (file.path === path ? { ...file, regular: false } : file)),
});

const fail = (): never => {
  throw new DrillproofError('io.UNREADABLE', 'the disk fails');
};

/** The source, in which the file at a path cannot be opened, or opened but not read. */
export const failReads = (source: EvidenceSource, path: string, at = 'open'): EvidenceSource => ({
  ...source,
  async open(name) {
    if (name !== path) return source.open(name);
    return at === 'open' ? fail() : { ...(await source.open(name)), read: fail };
  },
});

/** The source, but its files cannot be listed. */
export const failListing = (source: EvidenceSource, code: Code = 'io.UNREADABLE'): EvidenceSource => ({
  ...source,
  files: () => Promise.reject(new DrillproofError(code, 'the disk fails')),
});

/** The source, and the files that were opened and closed. */
export function countOpens(source: EvidenceSource) {
  const counts = { opened: [] as string[], closed: 0 };
  const open: EvidenceSource['open'] = async (path) => {
    const file = await source.open(path);
    counts.opened.push(path);
    return { ...file, close: () => (counts.closed++, file.close()) };
  };
  return { counts, source: { ...source, open } };
}

/** The files without those at these paths. */
export const omitFiles = (
  files: Record<string, Uint8Array>,
  ...paths: readonly string[]
): Record<string, Uint8Array> =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !paths.includes(path)));
