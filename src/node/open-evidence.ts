import { stat } from 'node:fs/promises';
import { DrillproofError } from '../errors.ts';
import {
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  findEntry,
  zipSource,
  type EvidenceSource,
  type OpenFile,
} from '../evidence/index.ts';
import { openZip, type ZipArchive } from '../zip/index.ts';
import { directorySource } from './directory-source.ts';
import { openFile } from './file-access.ts';
import { ioError } from './fs-errors.ts';

/** Evidence that a person named: an export (a folder or one ZIP), or the archive of one part. */
export type OpenEvidence =
  | { readonly kind: 'export'; readonly source: EvidenceSource; close(): Promise<void> }
  | { readonly kind: 'part'; readonly access: OpenFile; close(): Promise<void> };

/**
 * Opens evidence by what it is. A file that is no readable ZIP is opened as a part, so that verifying it says what is
 * wrong with it.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`, `export.NOT_AN_EXPORT`
 */
export async function openEvidence(path: string): Promise<OpenEvidence> {
  const stats = await stat(path).catch((cause: unknown) => {
    throw ioError(cause, path, 'read');
  });
  return stats.isDirectory() ? openDirectory(path) : openArchive(path);
}

async function openDirectory(path: string): Promise<OpenEvidence> {
  const source = directorySource(path);
  const files = await source.files();
  if (!files.some((file) => looksLikeExport(file.path))) throw notAnExport(path, files.length);
  return { kind: 'export', source, close: () => Promise.resolve() };
}

const looksLikeExport = (path: string): boolean =>
  path === EXPORT_MANIFEST || path === EXPORT_RESOURCE || path.startsWith('parts/');

function notAnExport(path: string, files: number): DrillproofError {
  const what = files === 0 ? 'is empty' : 'holds neither manifest.json nor export.json nor parts/';
  return new DrillproofError('export.NOT_AN_EXPORT', `the folder ${path} ${what}`, { path });
}

async function openArchive(path: string): Promise<OpenEvidence> {
  const access = await openFile(path);
  const close = (): Promise<void> => access.close();
  const archive = await openZip(access).catch(async (error: unknown) => {
    if (error instanceof DrillproofError && error.code.startsWith('zip.')) return undefined;
    await close();
    throw error;
  });
  if (archive !== undefined && isExport(archive))
    return { kind: 'export', source: zipSource(archive), close };
  return { kind: 'part', access, close };
}

/** Both kinds hold a manifest.json; only an export has its resource, its parts or its reports beside it. */
function isExport(archive: ZipArchive): boolean {
  if (findEntry(archive, EXPORT_RESOURCE) !== undefined) return true;
  return archive.entries.some(({ name }) => name.startsWith('parts/') || name.startsWith('local-reports/'));
}
