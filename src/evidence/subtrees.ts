import { compareUtf8 } from '../bytes/text/encoding.ts';
import { defined } from '../bytes/arguments.ts';
import type { EvidenceSource, SourceFile } from './source.ts';
import { BAG_DECLARATION, BAG_PAYLOAD } from './export/checksums.ts';
import { EXPORT_MANIFEST } from './export/pack-export.ts';
import { isReceiptFile } from './export/receipt.ts';

/** True for the paths of a BagIt bag: a declaration and a payload, but no manifest of an export. */
export function isBag(paths: Iterable<string>): boolean {
  const all = [...paths];
  const declared = all.includes(BAG_DECLARATION) && all.some((path) => path.startsWith(BAG_PAYLOAD));
  return declared && !all.includes(EXPORT_MANIFEST);
}

/** The tree of an export that is under `data/` in a bag (formats §1, Export). */
export function bagSource(bag: EvidenceSource): EvidenceSource {
  return {
    kind: bag.kind,
    bag,
    async files() {
      const payload = (await bag.files()).filter(({ path }) => path.startsWith(BAG_PAYLOAD));
      return payload.map((file) => ({ ...file, path: file.path.slice(BAG_PAYLOAD.length) }));
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

/** A mirror in a tree: its prefix, empty or with a slash at its end, and a source of its manifest and receipts. */
export type MirrorInTree = { readonly prefix: string; readonly source: EvidenceSource };

/**
 * The mirrors in a tree, sorted: every folder with a `manifest.json` or with receipts at any depth, BagIt bags included.
 * @throws DrillproofError `io.UNREADABLE` when a folder cannot be read
 */
export async function listMirrors(tree: EvidenceSource): Promise<readonly MirrorInTree[]> {
  const byPrefix = new Map<string, SourceFile[]>();
  for (const file of await tree.files()) {
    const prefix = findMirrorPrefix(file.path);
    if (prefix === undefined) continue;
    const files = byPrefix.get(prefix) ?? [];
    files.push({ ...file, path: file.path.slice(prefix.length) });
    byPrefix.set(prefix, files);
  }
  const sorted = [...byPrefix].toSorted(([a], [b]) => compareUtf8(a, b));
  return sorted.map(([prefix, files]) => ({ prefix, source: openSubtree(tree, prefix, files) }));
}

function findMirrorPrefix(path: string): string | undefined {
  const [, folder, file] = /^((?:.*\/)?)([^/]+)$/.exec(path) ?? [];
  if (file === EXPORT_MANIFEST) return folder;
  const [, mirror, receipt = ''] = /^((?:.*\/)?)(receipts\/[^/]+)$/.exec(path) ?? [];
  return isReceiptFile(receipt) ? mirror : undefined;
}

const openSubtree = (tree: EvidenceSource, prefix: string, files: readonly SourceFile[]): EvidenceSource => ({
  kind: tree.kind,
  files: () => Promise.resolve(files),
  open: (path) => tree.open(`${prefix}${path}`),
});
