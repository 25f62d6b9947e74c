import {
  AMOUNT,
  checkArguments,
  ITERABLE,
  LIST,
  listOf,
  OBJECT,
  TEXT,
  withMembers,
  withMethods,
} from '../bytes/arguments.ts';
import { compareUtf8 } from '../bytes/text/encoding.ts';
import type { RandomAccess } from '../bytes/random-access.ts';
import { DrillproofError } from '../errors.ts';
import {
  assertExportFiles,
  type EvidenceSource,
  openZipEvidence,
  type SourceFile,
} from '../evidence/source.ts';
import { BAG_PAYLOAD } from '../evidence/export/checksums.ts';
import { bagSource, isBag } from '../evidence/subtrees.ts';
import { blobAccess, type BlobAccessOptions } from './blob-access.ts';

/** Files that the user chose, by their paths, with the name of the folder or file. */
export type BlobTree = {
  readonly name: string;
  readonly files: ReadonlyMap<string, Blob>;
  /** Paths of empty folders, if the browser lists them. */
  readonly folders: readonly string[];
};

/** Whether a file has the name of a timestamp token. */
export const isToken = (path: string): boolean => path.endsWith('.tst');

/** The size of all files. */
export const countBytes = (trees: readonly BlobTree[]): number =>
  trees.flatMap(({ files }) => [...files.values()]).reduce((sum, { size }) => sum + size, 0);

/** Evidence that the user chose: an export, or the archive of one part. */
export type ChosenEvidence =
  | {
      readonly kind: 'export';
      readonly source: EvidenceSource;
      /** The bytes of a file of the export, for a worker. */
      readonly blobOf: (path: string) => Blob | undefined;
    }
  | { readonly kind: 'part'; readonly access: RandomAccess };

const FILE = withMembers('a File', { name: TEXT, size: AMOUNT });

/**
 * An export in a folder that the user chose with `<input type="file" webkitdirectory>` (formats §1, Export). The name of
 * the folder is removed from the paths. Browsers do not list empty folders.
 * @throws TypeError for anything that is not a list of files; DrillproofError `io.KIND` for two files with one path; its
 *   methods throw `io.NOT_FOUND`, `io.CHANGED`
 * @example
 * const report = await verifyExport(fileListSource(files), { asOfMs: Date.now(), trust });
 */
export function fileListSource(files: Iterable<File>): EvidenceSource {
  checkArguments({ files: ITERABLE }, { files });
  const list = [...files];
  checkArguments({ files: listOf(FILE) }, { files: list });
  return blobSource(readFileTree(list));
}

/**
 * An export in a folder that the user chose with `showDirectoryPicker` (formats §1, Export).
 * @throws TypeError for anything that is not a folder; its methods throw DrillproofError `io.NOT_FOUND`, `io.CHANGED`,
 *   `io.UNREADABLE`
 * @example
 * const report = await verifyExport(directoryHandleSource(handle), { asOfMs: Date.now(), trust });
 */
export function directoryHandleSource(handle: FileSystemDirectoryHandle): EvidenceSource {
  checkArguments(
    { handle: withMethods('a FileSystemDirectoryHandle', 'getFileHandle', 'entries') },
    { handle },
  );
  let listing: Promise<EvidenceSource> | undefined;
  const list = (): Promise<EvidenceSource> =>
    (listing ??= readHandle(handle).then((tree) => blobSource(tree)));
  return {
    kind: 'directory',
    files: async () => (await list()).files(),
    open: async (path) => (await list()).open(path),
  };
}

type HandleEntries = AsyncIterable<[string, FileSystemDirectoryHandle | FileSystemFileHandle]>;

async function readHandle(root: FileSystemDirectoryHandle): Promise<BlobTree> {
  const files = new Map<string, Blob>();
  const folders: string[] = [];
  const walk = async (folder: FileSystemDirectoryHandle, prefix: string): Promise<void> => {
    let empty = true;
    for await (const [name, child] of (folder as unknown as { entries(): HandleEntries }).entries()) {
      empty = false;
      if (child.kind === 'file') files.set(prefix + name, await child.getFile());
      else await walk(child, `${prefix}${name}/`);
    }
    if (empty && prefix !== '') folders.push(prefix.slice(0, -1));
  };
  try {
    await walk(root, '');
  } catch (cause) {
    throw new DrillproofError('io.UNREADABLE', `the folder ${root.name} could not be listed`, { cause });
  }
  return { name: root.name, files, folders };
}

/** Files by path. @throws DrillproofError `io.KIND` for two with one path: only one of them would be verified */
function mapFiles(named: readonly (readonly [path: string, file: Blob])[]): ReadonlyMap<string, Blob> {
  const files = new Map<string, Blob>();
  for (const [path, file] of named) {
    if (files.has(path)) {
      const details = { hint: 'Choose them one after the other.' };
      throw new DrillproofError('io.KIND', `two of the chosen files have the path ${path}`, {
        path,
        details,
      });
    }
    files.set(path, file);
  }
  return files;
}

/** The files of a picker, or dropped files. @throws as `mapFiles` */
export function readFileTree(chosen: Iterable<File>): BlobTree {
  const files = [...chosen];
  const paths = files.map((file) => file.webkitRelativePath || file.name);
  const root = paths[0]?.includes('/') === true ? paths[0].slice(0, paths[0].indexOf('/') + 1) : '';
  const strip = root !== '' && paths.every((path) => path.startsWith(root)) ? root.length : 0;
  const named = files.map((file, at): [string, File] => [paths[at]!.slice(strip), file]);
  const name = strip > 0 ? root.slice(0, -1) : files.length === 1 ? paths[0]! : `${files.length} files`;
  return { name, files: mapFiles(named), folders: [] };
}

function blobSource(
  { name, files, folders }: BlobTree,
  onRead?: BlobAccessOptions['onRead'],
): EvidenceSource {
  const list: SourceFile[] = [
    ...Array.from(files, ([path, blob]) => ({ path, bytes: blob.size, regular: true })),
    ...folders.map((path) => ({ path, bytes: 0, regular: false, folder: true as const })),
  ];
  list.sort((a, b) => compareUtf8(a.path, b.path));
  return {
    kind: 'directory',
    files: () => Promise.resolve(list),
    async open(path) {
      const blob = files.get(path);
      if (blob === undefined) throw new DrillproofError('io.NOT_FOUND', `${name} has no ${path}`, { path });
      return {
        ...blobAccess(blob, { path, ...(onRead && { onRead }) }),
        close: () => Promise.resolve(),
      };
    },
  };
}

/**
 * Opens the files that the user chose: a folder is an export or a bag, one file is an export in one ZIP or a part.
 * @throws DrillproofError `export.NOT_AN_EXPORT`, `io.CHANGED`
 */
export async function openTree(
  tree: BlobTree,
  onRead?: BlobAccessOptions['onRead'],
): Promise<ChosenEvidence> {
  const { name, files, folders } = tree;
  const [[path, blob] = []] = files;
  if (path !== undefined && blob !== undefined && files.size === 1 && folders.length === 0 && path === name) {
    const opened = await openZipEvidence(blobAccess(blob, { path, ...(onRead && { onRead }) }), name);
    if (opened.kind === 'part') return opened;
    const entries = new Map(opened.archive?.entries.map((entry) => [entry.name, entry]));
    const blobOf = (entryPath: string): Blob | undefined => {
      const entry = entries.get(entryPath);
      return entry?.method === 'store'
        ? blob.slice(entry.dataOffset, entry.dataOffset + entry.bytes)
        : undefined;
    };
    return { kind: 'export', source: opened.source, blobOf };
  }
  const source = blobSource(tree, onRead);
  const bag = isBag([...files.keys(), ...folders.map((folder) => `${folder}/`)]);
  const payload = bag ? bagSource(source) : source;
  assertExportFiles(name, await payload.files());
  return { kind: 'export', source: payload, blobOf: (file) => files.get(bag ? BAG_PAYLOAD + file : file) };
}

/**
 * Opens evidence that was dropped on a page, and detects its kind: a folder (an export or a bag), an export in one ZIP,
 * or one part. Call it in the handler of the event, because the browser removes the dropped files afterwards.
 * @throws TypeError for anything that is not a DataTransfer; DrillproofError `io.UNREADABLE` for a folder that the
 *   browser does not list, as on pages from `file://`; `io.KIND`, `export.NOT_AN_EXPORT`, `io.CHANGED`
 * @example
 * const evidence = await openDropped(dropped);
 * const options = { asOfMs: Date.now(), trust };
 * const report = await (evidence.kind === 'export'
 *   ? verifyExport(evidence.source, options)
 *   : verifyPart(evidence.access, options));
 */
export async function openDropped(transfer: DataTransfer): Promise<ChosenEvidence> {
  checkArguments({ transfer: withMembers('a DataTransfer', { items: OBJECT, types: LIST }) }, { transfer });
  return openTree(await readDroppedTree(transfer));
}

/** Reads the dropped files. The event is read before the first `await`, because the browser clears it. */
export function readDroppedTree(transfer: Pick<DataTransfer, 'items'>): Promise<BlobTree> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry());
  const dropped = items.map((item) => item.getAsFile());
  if (entries.every((entry) => entry?.isDirectory !== true))
    return Promise.resolve(readFileTree(dropped.filter((file) => file !== null)));
  // A page from a file cannot read the entry of a file either.
  return walkEntries(entries.flatMap((entry, at) => (entry?.isFile ? dropped[at] : entry) ?? []));
}

async function walkEntries(entries: readonly (FileSystemEntry | File)[]): Promise<BlobTree> {
  const files: (readonly [string, Blob])[] = [];
  const folders: string[] = [];
  const walk = async (entry: FileSystemEntry | File, path: string): Promise<void> => {
    if (entry instanceof File) return void files.push([path, entry]);
    if (entry.isFile) return void files.push([path, await readFile(entry as FileSystemFileEntry)]);
    const children = await listChildren(entry as FileSystemDirectoryEntry);
    if (children.length === 0 && path !== '') folders.push(path);
    for (const child of children) await walk(child, path === '' ? child.name : `${path}/${child.name}`);
  };
  const [first] = entries;
  const name = entries.length === 1 ? first!.name : `${entries.length} files and folders`;
  for (const entry of entries) await walk(entry, entries.length === 1 ? '' : entry.name);
  return { name, files: mapFiles(files), folders };
}

const readFile = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise<File>((resolve, reject) => entry.file(resolve, reject)).catch(refuseFolder(entry));

/** Lists a folder. Each call lists at most 100 entries; an empty list is the end. */
async function listChildren(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    ).catch(refuseFolder(folder));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

const refuseFolder =
  ({ name }: FileSystemEntry) =>
  (cause: unknown): never => {
    const message = `the browser does not list the dropped folder ${name}`;
    const details = { hint: 'Choose the folder with the button instead of dropping it.' };
    throw new DrillproofError('io.UNREADABLE', message, { path: name, details, cause });
  };
