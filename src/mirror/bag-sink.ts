import { defined } from '../bytes/arguments.ts';
import { digestOf, digestStream } from '../bytes/hash.ts';
import { sumSizes } from '../bytes/async.ts';
import {
  BAG_DECLARATION,
  BAG_INFO,
  BAG_MANIFEST,
  BAG_PAYLOAD,
  BAG_TAG_MANIFEST,
  formatBagDeclaration,
  formatBagInfo,
  formatBagManifest,
  CHECKSUMS,
} from '../evidence/export/checksums.ts';
import { isReceiptPath } from '../evidence/export/receipt.ts';
import { DrillproofError } from '../errors.ts';
import { hasExportFiles } from './claim.ts';
import { writeOnce } from './finish.ts';
import {
  type Expected,
  lookWith,
  type MirrorSink,
  type MirrorTarget,
  type MirrorView,
  type ListedFile,
} from './sink.ts';

export type BagOptions = {
  /** Name and version of the program, for `Bag-Software-Agent`. */
  readonly tool: string;
  /** The id of the export, for `External-Identifier`. */
  readonly evidenceExportId: string;
};

/**
 * A sink that writes the tree of the export as the payload of a BagIt 1.0 bag (RFC 8493, formats §1, Export): under
 * `data/`, with tag files around it that are written last. Mirroring a bag again adds a receipt before its tag files are
 * updated; an interruption in between leaves an invalid bag around a complete export.
 */
export function bagSink(inner: MirrorSink, options: BagOptions): MirrorSink {
  return {
    async open() {
      const target = await inner.open();
      try {
        // The files of an interrupted plain mirror would stay next to data/ forever.
        if (await hasExportFiles(target))
          throw new DrillproofError('mirror.TARGET_FOREIGN', 'the target holds a mirror that is not a bag');
        return wrapTarget(target, options);
      } catch (error) {
        await target.close();
        throw error;
      }
    },
    ...lookWith(inner, wrapView),
  };
}

const inside = (path: string): string => `${BAG_PAYLOAD}${path}`;

function wrapView(inner: MirrorView): MirrorView {
  return {
    isEmpty: () => inner.isEmpty(),
    size: (path) => inner.size(inside(path)),
    read: (path) => inner.read(inside(path)),
    async list(folder) {
      const files = await inner.list(inside(folder).replace(/\/$/, ''));
      return files.map((file) => ({ ...file, path: file.path.slice(BAG_PAYLOAD.length) }));
    },
    readClaim: () => inner.readClaim(),
  };
}

function wrapTarget(inner: MirrorTarget, options: BagOptions): MirrorTarget {
  return {
    ...wrapView(inner),
    write: (path, bytes) => inner.write(inside(path), bytes),
    partial: (path) => inner.partial(inside(path)),
    ...defined({
      adopt: inner.adopt && ((path: string, expected: Expected) => inner.adopt!(inside(path), expected)),
      commitsAtOnce: inner.commitsAtOnce,
      share: inner.share && ((path: string, expected: Expected) => inner.share!(inside(path), expected)),
    }),
    writeClaim: (bytes) => inner.writeClaim(bytes),
    seal: async (files) => writeTags(inner, [...files, ...(await readAddedFiles(inner))], options),
    clean: () => inner.clean(),
    close: () => inner.close(),
  };
}

/** Hashes the files that a mirror adds to the export: checksums, and the receipts of this run and earlier ones. */
async function readAddedFiles(inner: MirrorTarget): Promise<ListedFile[]> {
  const payload = wrapView(inner);
  const receipts = (await payload.list('receipts')).filter(
    ({ path, regular }) => regular && isReceiptPath(path),
  );
  const added: ListedFile[] = [];
  for (const path of [CHECKSUMS, ...receipts.map((receipt) => receipt.path)])
    added.push({ path, ...(await digestStream(payload.read(path))) });
  return added;
}

// The declaration is written last, because without it no reader takes the folder for a bag.
async function writeTags(
  inner: MirrorTarget,
  payload: readonly ListedFile[],
  { tool, evidenceExportId }: BagOptions,
): Promise<void> {
  const info = formatBagInfo([
    ['Bag-Software-Agent', tool],
    ['External-Identifier', evidenceExportId],
    ['Payload-Oxum', `${sumSizes(payload)}.${payload.length}`],
  ]);
  const rows = payload.map(({ path, digest }) => ({ path: inside(path), digest }));
  const tags: readonly (readonly [path: string, bytes: Uint8Array])[] = [
    [BAG_MANIFEST, formatBagManifest(rows)],
    [BAG_INFO, info],
    [BAG_DECLARATION, formatBagDeclaration()],
  ];
  const tagRows = tags.map(([path, bytes]) => ({ path, digest: digestOf(bytes) }));
  for (const [path, bytes] of tags.toSpliced(-1, 0, [BAG_TAG_MANIFEST, formatBagManifest(tagRows)]))
    await writeOnce(inner, path, bytes);
}
