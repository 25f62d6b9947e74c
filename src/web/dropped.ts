import { checkArguments, withMembers, LIST, OBJECT } from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';
import { type BlobTree, type ChosenEvidence, readFileTree, openTree } from './sources.ts';

/**
 * Opens what was dropped on a page, without asking which kind it is: a folder (an export or a bag), an export in one
 * ZIP, or one part. Call it in the handler of the event, because the browser forgets what was dropped afterwards.
 * @throws TypeError for anything that is not a DataTransfer; DrillproofError `io.UNREADABLE` for a folder that the
 *   browser does not list, as on pages from `file://`; `export.NOT_AN_EXPORT`, `io.CHANGED`
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

/** The files that were dropped. Everything of the event is read before the first wait. */
export function readDroppedTree(transfer: Pick<DataTransfer, 'items'>): Promise<BlobTree> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry());
  const files = items.map((item) => item.getAsFile()).filter((file) => file !== null);
  if (entries.every((entry) => entry?.isDirectory !== true)) return Promise.resolve(readFileTree(files));
  return walkEntries(entries.filter((entry) => entry !== null));
}

async function walkEntries(entries: readonly FileSystemEntry[]): Promise<BlobTree> {
  const files = new Map<string, Blob>();
  const folders: string[] = [];
  const walk = async (entry: FileSystemEntry, path: string): Promise<void> => {
    if (isFile(entry)) return void files.set(path, await fileOf(entry));
    const children = await childrenOf(entry as FileSystemDirectoryEntry);
    if (children.length === 0 && path !== '') folders.push(path);
    for (const child of children) await walk(child, path === '' ? child.name : `${path}/${child.name}`);
  };
  const [first] = entries;
  const name = entries.length === 1 ? first!.name : `${entries.length} files and folders`;
  for (const entry of entries) await walk(entry, entries.length === 1 ? '' : entry.name);
  return { name, files, folders };
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise<File>((resolve, reject) => entry.file(resolve, reject)).catch(refuseFolder(entry));

/** A call lists at most 100 entries, and an empty list is the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
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
    const message = `the browser does not list the dropped folder ${name}; choose it with the folder picker instead`;
    throw new DrillproofError('io.UNREADABLE', message, { path: name, cause });
  };
