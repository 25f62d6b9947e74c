import { compareUtf8 } from '../../bytes/index.ts';
import { EXPORT_MANIFEST } from './pack-export.ts';
import { isReceiptFile } from './receipt.ts';
import type { EvidenceSource, SourceFile } from '../source.ts';

/** A mirror in a tree: its prefix there, empty or with a slash at its end, and of its files what receipts are about. */
export type MirrorInTree = { readonly prefix: string; readonly source: EvidenceSource };

/**
 * The mirrors in a tree, sorted: every folder with a `manifest.json` or with receipts, whatever its depth, those in
 * BagIt bags included. Their sources list the manifest and the receipts.
 * @throws DrillproofError `io.UNREADABLE` when a folder cannot be read
 */
export async function mirrorsIn(tree: EvidenceSource): Promise<readonly MirrorInTree[]> {
  const found = new Map<string, SourceFile[]>();
  for (const file of await tree.files()) {
    const prefix = prefixOf(file.path);
    if (prefix === undefined) continue;
    const files = found.get(prefix) ?? [];
    files.push({ ...file, path: file.path.slice(prefix.length) });
    found.set(prefix, files);
  }
  const sorted = [...found].toSorted(([a], [b]) => compareUtf8(a, b));
  return sorted.map(([prefix, files]) => ({ prefix, source: part(tree, prefix, files) }));
}

function prefixOf(path: string): string | undefined {
  const [, folder, file] = /^((?:.*\/)?)([^/]+)$/.exec(path) ?? [];
  if (file === EXPORT_MANIFEST) return folder;
  const [, mirror, receipt = ''] = /^((?:.*\/)?)(receipts\/[^/]+)$/.exec(path) ?? [];
  return isReceiptFile(receipt) ? mirror : undefined;
}

const part = (tree: EvidenceSource, prefix: string, files: readonly SourceFile[]): EvidenceSource => ({
  kind: tree.kind,
  files: () => Promise.resolve(files),
  open: (path) => tree.open(`${prefix}${path}`),
});
