import type { RandomAccess } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { openZip, type ZipArchive } from '../../zip/index.ts';
import { findEntry } from '../bundle/part.ts';
import { type EvidenceSource, type SourceFile, zipSource } from '../source.ts';
import { EXPORT_MANIFEST, EXPORT_RESOURCE } from './pack-export.ts';

/** Evidence in one file: an export, or the archive of one part. */
export type ZipEvidence<A extends RandomAccess> =
  | { readonly kind: 'export'; readonly source: EvidenceSource; readonly archive: ZipArchive }
  | { readonly kind: 'part'; readonly access: A };

/**
 * Opens one file as an export or a part. A file that is not a readable ZIP is opened as a part, so that verification
 * reports what is wrong with it.
 * @throws DrillproofError `io.UNREADABLE`, `io.CHANGED`
 */
export async function openZipEvidence<A extends RandomAccess>(access: A): Promise<ZipEvidence<A>> {
  const archive = await openZip(access).catch((error: unknown) => {
    if (error instanceof DrillproofError && error.code.startsWith('zip.')) return undefined;
    throw error;
  });
  if (archive === undefined || !isExport(archive)) return { kind: 'part', access };
  return { kind: 'export', source: zipSource(archive), archive };
}

/** Both kinds contain a manifest.json; only an export also has export.json, parts/ or local-reports/. */
function isExport(archive: ZipArchive): boolean {
  if (findEntry(archive, EXPORT_RESOURCE) !== undefined) return true;
  return archive.entries.some(({ name }) => name.startsWith('parts/') || name.startsWith('local-reports/'));
}

/** @throws DrillproofError `export.NOT_AN_EXPORT` for a folder of this name with none of the files of an export */
export function assertExportFiles(name: string, files: readonly SourceFile[]): void {
  if (files.some(({ path }) => isExportPath(path))) return;
  const message =
    files.length === 0 ? `${name} is empty` : `no manifest.json, export.json or parts/ in ${name}`;
  throw new DrillproofError('export.NOT_AN_EXPORT', message, { path: name });
}

/** Whether an export has a file of this path, which nothing else has. */
export const isExportPath = (path: string): boolean =>
  path === EXPORT_MANIFEST || path === EXPORT_RESOURCE || path.startsWith('parts/');
