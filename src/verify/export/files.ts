import { DrillproofError } from '../../errors.ts';
import { CHECKSUMS } from '../../evidence/export/checksums.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../evidence/export/pack-export.ts';
import type { EvidenceSource, SourceFile } from '../../evidence/source.ts';
import type { ExportManifest, LocalReportRow, PartRow } from '../../evidence/export/manifest.ts';
import { isReceiptPath, isWorkFile, JOURNALS, PRIVATE } from '../../evidence/export/receipt.ts';
import { finding, findingsOf } from '../finding.ts';
import type { Settings } from '../options.ts';
import { irregularFinding } from '../part/listed-part.ts';
import {
  endCheck,
  joinSteps,
  noteFindings,
  NOTHING,
  recordCheck,
  type Step,
  type ReadStep,
} from '../step.ts';
import { EXPORT, type Files } from './context.ts';
import type { Finding } from '../report.ts';

/** The files of a tree that could not be listed. */
export const NO_FILES: Files = { all: [], byPath: new Map(), mirror: [] };

const DOCUMENTS: ReadonlySet<string> = new Set([EXPORT_MANIFEST, EXPORT_RESOURCE, EXPORT_ATTESTATION]);
/** True for a file that this program adds to a mirror. */
const isMirrorFile = ({ path, regular }: SourceFile): boolean =>
  regular && (path === CHECKSUMS || isReceiptPath(path) || isWorkFile(path));

/** Lists the tree; there is no value if it cannot be listed, which leaves the verdict open. */
export async function listFiles(source: EvidenceSource, { limits }: Settings): Promise<ReadStep<Files>> {
  try {
    const all = await source.files();
    const message = `the export has more than ${limits.files} files`;
    const exceeded = all.length > limits.files ? [finding('export.FILES_EXCEEDED', EXPORT, { message })] : [];
    const value = {
      all,
      byPath: new Map([...listImpliedFolders(all), ...all].map((file) => [file.path, file])),
      mirror: all.filter(isMirrorFile),
    };
    return { ...noteFindings(exceeded), value };
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return noteFindings(findingsOf(error, EXPORT).map(toUnread));
  }
}

/** The folders that the paths of files imply. A path that must be a file cannot be one of them. */
function listImpliedFolders(files: readonly SourceFile[]): SourceFile[] {
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
const FOLDERS: ReadonlySet<string> = new Set([
  'parts',
  'local-reports',
  'receipts',
  PRIVATE,
  `${PRIVATE}/lease`,
  `${PRIVATE}/partial`,
  '.drillproof',
  JOURNALS,
]);

/** A tree that could not be listed was not read, so the reason is not a fault of the evidence. */
const toUnread = (fault: Finding): Finding =>
  fault.class === 'inaccessible' ? fault : finding('io.UNREADABLE', EXPORT, fault);

export const listManifestRows = (
  manifest: ExportManifest | undefined,
): readonly (PartRow | LocalReportRow)[] =>
  manifest === undefined ? [] : [...manifest.parts, ...manifest.localReports];

/** Everything that the manifest does not list and a mirror does not add: files, links, devices and empty folders. */
export function listExtraFiles(
  manifest: ExportManifest | undefined,
  files: readonly SourceFile[],
): SourceFile[] {
  const listed = new Set(listManifestRows(manifest).map((row) => row.path));
  return files.filter(
    (file) =>
      !DOCUMENTS.has(file.path) &&
      !listed.has(file.path) &&
      !isMirrorFile(file) &&
      !(file.folder === true && FOLDERS.has(file.path)),
  );
}

/** The paths of listed files whose size differs from their row. They could be huge, so they are never read. */
export function listWrongSizes(
  manifest: ExportManifest | undefined,
  files: readonly SourceFile[],
  folder = '',
): ReadonlySet<string> {
  const listed = new Map(listManifestRows(manifest).map(({ path, bytes }) => [folder + path, bytes]));
  const wrong = files.filter(
    ({ path, bytes, regular }) => regular && (listed.get(path) ?? String(bytes)) !== String(bytes),
  );
  return new Set(wrong.map(({ path }) => path));
}

/** The findings about extra files, the same in `verify`, `scrub` and `mirror` (formats §1, Export). */
export const findExtraFiles = (manifest: ExportManifest, files: readonly SourceFile[]): Finding[] =>
  listExtraFiles(manifest, files).map((file) => {
    const { path, regular, folder } = file;
    if (!regular && folder === undefined) return irregularFinding(EXPORT, file);
    return finding(chooseExtraCode(path), EXPORT, { path, message: `no manifest lists ${path}` });
  });

/** `export.files`: exactly the listed parts and reports exist, and no other file (formats §1, Export). */
export function checkFiles(manifest: ExportManifest | undefined, files: Files): Step {
  if (manifest === undefined) return NOTHING;
  const findings = findExtraFiles(manifest, files.all);
  if (listManifestRows(manifest).every((row) => files.byPath.has(row.path)))
    return recordCheck('export.files', findings);
  // The missing part or report has the finding.
  const failed = endCheck('export.files', 'failed', 'a listed part or report is missing');
  return joinSteps([noteFindings(findings), failed]);
}

const chooseExtraCode = (path: string): 'part.EXTRA' | 'local-report.EXTRA' | 'export.FILE_UNCOVERED' =>
  path.startsWith('parts/')
    ? 'part.EXTRA'
    : path.startsWith('local-reports/')
      ? 'local-report.EXTRA'
      : 'export.FILE_UNCOVERED';
