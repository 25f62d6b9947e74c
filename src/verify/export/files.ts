import type { Finding } from '../report.ts';
import { DrillproofError } from '../../errors.ts';
import {
  CHECKSUMS,
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  type ExportManifest,
  isReceiptFile,
  type SourceFile,
} from '../../evidence/index.ts';
import { EXPORT, type Export } from './state.ts';
import { finding, findingsOf } from '../finding.ts';
import { irregular } from '../part/listed-part.ts';

/** What lies in an export, told apart by where it lies. */
export type Files = {
  readonly all: readonly SourceFile[];
  readonly byPath: ReadonlyMap<string, SourceFile>;
  /** What a mirror adds: checksums and receipts. */
  readonly mirror: readonly SourceFile[];
};

/** What is known of a tree that could not be listed. */
export const NO_FILES: Files = { all: [], byPath: new Map(), mirror: [] };

const DOCUMENTS: ReadonlySet<string> = new Set([EXPORT_MANIFEST, EXPORT_RESOURCE, EXPORT_ATTESTATION]);
const isMirrorFile = (path: string): boolean => path === CHECKSUMS || isReceiptFile(path);

/** Lists the tree; `undefined` when it cannot be listed, which leaves the verdict open. */
export async function listFiles({ source, ledger, settings }: Export): Promise<Files | undefined> {
  try {
    const all = await source.files();
    const mirror = all.filter(({ path }) => isMirrorFile(path));
    if (all.length > settings.limits.files) {
      const message = `more than ${settings.limits.files} files lie in the export`;
      ledger.note([finding('export.FILES_EXCEEDED', EXPORT, { message })]);
    }
    return {
      all,
      byPath: new Map([...impliedFolders(all), ...all].map((file) => [file.path, file])),
      mirror,
    };
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    ledger.note(findingsOf(error, EXPORT).map(unread));
    return undefined;
  }
}

/** The folders above all files: nothing that has to be a file may be one of them. */
function impliedFolders(files: readonly SourceFile[]): SourceFile[] {
  const folders = new Set<string>();
  for (const { path } of files) {
    let end = path.lastIndexOf('/');
    while (end > 0 && !folders.has(path.slice(0, end))) {
      folders.add(path.slice(0, end));
      end = path.lastIndexOf('/', end - 1);
    }
  }
  return [...folders].map((path) => ({ path, bytes: 0, regular: false, folder: true }));
}

/** Folders that may be empty. */
const FOLDERS: ReadonlySet<string> = new Set(['parts', 'local-reports', 'receipts']);

/** Whatever the reason, a tree that could not be listed was not read: it says nothing about what it holds. */
const unread = (fault: Finding): Finding =>
  fault.class === 'inaccessible' ? fault : finding('io.UNREADABLE', EXPORT, fault);

/** Files that neither a manifest lists nor a mirror adds. */
export function uncoveredFiles({ manifest }: Export, files: Files): SourceFile[] {
  const listed = new Set(
    [...(manifest?.parts ?? []), ...(manifest?.localReports ?? [])].map((row) => row.path),
  );
  const mirror = new Set(files.mirror.map((file) => file.path));
  return files.all.filter(
    ({ path, folder }) =>
      !DOCUMENTS.has(path) &&
      !listed.has(path) &&
      !mirror.has(path) &&
      !(folder === true && FOLDERS.has(path)),
  );
}

/**
 * The paths of listed files whose size shows that they are not the listed bytes. They can be of any size, so nothing
 * reads them.
 */
export function pathsOfWrongSize(
  manifest: ExportManifest | undefined,
  files: readonly SourceFile[],
  folder = '',
): ReadonlySet<string> {
  const rows = [...(manifest?.parts ?? []), ...(manifest?.localReports ?? [])];
  const listed = new Map(rows.map(({ path, bytes }) => [folder + path, bytes]));
  const wrong = files.filter(
    ({ path, bytes, regular }) => regular && (listed.get(path) ?? String(bytes)) !== String(bytes),
  );
  return new Set(wrong.map(({ path }) => path));
}

/** `export.files`: the set of parts and reports is closed, and what else lies there is said (formats §1, Export). */
export function checkFiles(state: Export, files: Files): void {
  const { ledger, manifest } = state;
  if (manifest === undefined) {
    return ledger.skipped('export.files', 'not_checked', 'there is no manifest that could be read');
  }
  const found: Finding[] = uncoveredFiles(state, files).map((file) => {
    const { path, regular, folder } = file;
    if (!regular && folder === undefined) return irregular(EXPORT, file);
    return finding(codeOfExtra(path), EXPORT, { path, message: `no manifest lists ${path}` });
  });
  const missing = [...manifest.parts, ...manifest.localReports].some((row) => !files.byPath.has(row.path));
  if (missing) {
    ledger.note(found);
    return ledger.failed('export.files', 'a listed part or report is not there');
  }
  ledger.ran('export.files', found);
}

const codeOfExtra = (path: string): 'part.EXTRA' | 'local-report.EXTRA' | 'export.FILE_UNCOVERED' =>
  path.startsWith('parts/')
    ? 'part.EXTRA'
    : path.startsWith('local-reports/')
      ? 'local-report.EXTRA'
      : 'export.FILE_UNCOVERED';
