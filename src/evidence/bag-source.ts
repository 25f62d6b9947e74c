import { BAG_DECLARATION, BAG_PAYLOAD } from './bag-tags.ts';
import type { EvidenceSource, SourceFile } from './source.ts';

/** Whether files, by their paths, are those of a BagIt bag: it has its declaration and a payload. */
export function isBag(files: readonly Pick<SourceFile, 'path'>[]): boolean {
  return (
    files.some(({ path }) => path === BAG_DECLARATION) &&
    files.some(({ path }) => path.startsWith(BAG_PAYLOAD))
  );
}

/** The tree of an export that lies under `data/` in a bag (formats §1, Export). */
export function bagSource(bag: EvidenceSource): EvidenceSource {
  return {
    kind: bag.kind,
    bag,
    async files() {
      const all = await bag.files();
      return all
        .filter(({ path }) => path.startsWith(BAG_PAYLOAD))
        .map((file) => ({ ...file, path: file.path.slice(BAG_PAYLOAD.length) }));
    },
    open: (path) => bag.open(`${BAG_PAYLOAD}${path}`),
    ...(bag.checkContainer !== undefined && {
      checkContainer: (signal?: AbortSignal) => bag.checkContainer!(signal),
    }),
  };
}
