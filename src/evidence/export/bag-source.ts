import { defined } from '../../bytes/index.ts';
import { BAG_DECLARATION, BAG_PAYLOAD } from './bag-tags.ts';
import { EXPORT_MANIFEST } from './pack-export.ts';
import type { EvidenceSource } from '../source.ts';

/** Whether the files of a tree, by their paths, are a BagIt bag: a declaration and a payload, and no export itself. */
export function isBag(paths: Iterable<string>): boolean {
  const all = [...paths];
  const declared = all.includes(BAG_DECLARATION) && all.some((path) => path.startsWith(BAG_PAYLOAD));
  return declared && !all.includes(EXPORT_MANIFEST);
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
    ...defined({
      container: bag.container,
      checkContainer:
        bag.checkContainer &&
        ((signal?: AbortSignal, except: ReadonlySet<string> = new Set()) =>
          bag.checkContainer!(signal, new Set([...except].map((path) => BAG_PAYLOAD + path)))),
    }),
  };
}
