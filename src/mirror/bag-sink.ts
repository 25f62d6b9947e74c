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
  type BagField,
  CHECKSUMS,
  parseBagManifest,
} from '../evidence/export/checksums.ts';
import { DEFAULT_LIMITS } from '../evidence/document.ts';
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
  readSmallFile,
  readValid,
} from './sink.ts';

export type BagOptions = {
  /** Name and version of the program, for `Bag-Software-Agent`. */
  readonly tool: string;
  /** The id of the export, for `External-Identifier`. */
  readonly evidenceExportId: string;
  /** The fields of the user, which the bag must have if it has a `bag-info.txt`; default: those that the bag has. */
  readonly info?: readonly BagField[];
};

/** The fields that the sink writes, in lower case. */
export const BAG_SINK_FIELDS: ReadonlySet<string> = new Set([
  'bag-software-agent',
  'external-identifier',
  'payload-oxum',
]);

/**
 * A sink that writes the tree of the export as the payload of a BagIt 1.0 bag (RFC 8493, formats §1, Export): under
 * `data/`, with tag files around it that are written last. Mirroring a bag again adds a receipt before its tag files are
 * updated; an interruption in between leaves an invalid bag around a complete export. `open` throws
 * `mirror.BAG_INFO_DIFFERS` before anything is written.
 */
export function bagSink(inner: MirrorSink, options: BagOptions): MirrorSink {
  return {
    async open() {
      const target = await inner.open();
      try {
        // The files of an interrupted plain mirror would stay next to data/ forever.
        if (await hasExportFiles(target))
          throw new DrillproofError('mirror.TARGET_FOREIGN', 'the target holds a mirror that is not a bag');
        return wrapTarget(target, { ...options, info: await readInfo(target, options) });
      } catch (error) {
        await target.close();
        throw error;
      }
    },
    ...lookWith(inner, wrapView),
  };
}

/** Returns the fields of the user, which nothing but a removed `bag-info.txt` changes. */
async function readInfo(target: MirrorTarget, { info }: BagOptions): Promise<readonly BagField[]> {
  if ((await target.size(BAG_INFO)) === undefined) return info ?? [];
  const bytes = await readSmallFile(target, BAG_INFO, DEFAULT_LIMITS.documentBytes);
  const fields = bytes && splitFields(new TextDecoder().decode(bytes));
  if (info !== undefined) {
    if (fields && digestOf(formatBagInfo(fields)) === digestOf(formatBagInfo(info))) return info;
    throw infoDiffers('has other fields than --bag-info names');
  }
  if (fields?.length === 0) return fields;
  // A new tag manifest would hide damage.
  const tags = await readValid(target, BAG_TAG_MANIFEST, DEFAULT_LIMITS.documentBytes, parseBagManifest);
  const hex = tags?.find(({ path }) => path === BAG_INFO)?.hex;
  if (bytes && fields && digestOf(bytes) === `sha256:${hex}`) return fields;
  throw infoDiffers('has fields and differs from the tag manifest');
}

/** Splits `bag-info.txt` into the fields that the sink does not write. Folded lines are one field. */
function splitFields(text: string): BagField[] {
  return text
    .replaceAll(/[\r\n]+[ \t]+/g, ' ')
    .split(/[\r\n]+/)
    .filter((line) => line !== '')
    .map((line): BagField => {
      const [label = '', ...value] = line.split(':');
      return [label.trim(), value.join(':').trim()];
    })
    .filter(([label]) => !BAG_SINK_FIELDS.has(label.toLowerCase()));
}

const infoDiffers = (why: string): DrillproofError =>
  new DrillproofError('mirror.BAG_INFO_DIFFERS', `${BAG_INFO} ${why}`, { path: BAG_INFO });

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
  { tool, evidenceExportId, info: fields = [] }: BagOptions,
): Promise<void> {
  const info = formatBagInfo([
    ['Bag-Software-Agent', tool],
    ['External-Identifier', evidenceExportId],
    ['Payload-Oxum', `${sumSizes(payload)}.${payload.length}`],
    ...fields,
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
