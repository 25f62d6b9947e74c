import { checkArguments, OBJECT, TEXT } from '../bytes/arguments.ts';
import {
  assertExportFiles,
  type EvidenceSource,
  isExportPath,
  type OpenFile,
  openZipEvidence,
  type recognizeKind,
} from '../evidence/source.ts';
import { isS3Url, type AwsEnvironment } from './s3/location.ts';
import { openVolume } from './open-volume.ts';
import { openExport, type Volume } from './volume/volume.ts';

/**
 * Opened evidence: an export (a folder, a prefix in S3, or one ZIP), or the archive of one part. Close it when done.
 */
export type OpenEvidence =
  | { readonly kind: 'export'; readonly source: EvidenceSource; close(): Promise<void> }
  | { readonly kind: 'part'; readonly access: OpenFile; close(): Promise<void> };

/**
 * Opens evidence of any form (formats §1): a folder, a prefix in S3, an export in one ZIP, or a part. A damaged ZIP is
 * opened as a part, so that verification reports its problems; a text file is refused.
 * @param path a path, or an address `s3://bucket/prefix`, for which `env` holds the AWS variables
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`, `export.NOT_AN_EXPORT`; for S3 also
 *   `usage.INVALID`, `io.PACKAGE_MISSING`
 * @example
 * const options = { asOfMs: Date.now(), trust };
 * const evidence = await openEvidence('evidence.zip');
 * const report = await (evidence.kind === 'export'
 *   ? verifyExport(evidence.source, options)
 *   : verifyPart(evidence.access, options));
 * await evidence.close();
 */
export async function openEvidence(path: string, env: AwsEnvironment = process.env): Promise<OpenEvidence> {
  checkArguments({ path: TEXT, env: OBJECT }, { path, env });
  const volume = await openVolume(path, env);
  try {
    const file = await volume.openFile();
    const name = isS3Url(path) ? volume.name : path;
    if (file === undefined) return await openTree(volume, name);
    const opened = await openZipFile(file, name);
    const close = async (): Promise<void> => {
      await opened.close();
      await volume.close();
    };
    return { ...opened, close };
  } catch (cause) {
    await volume.close();
    throw cause;
  }
}

async function openTree(volume: Volume, name: string): Promise<OpenEvidence> {
  const level = await volume.list();
  const { source } = await openExport(volume, level);
  // Verification lists the whole tree, so it is listed twice only if the first level has no file of an export.
  if (!level.files.some(isExportPath)) assertExportFiles(name, await source.files());
  return { kind: 'export', source, close: () => volume.close() };
}

/** Opens one file as an export or a part, and closes it if that fails. @throws DrillproofError `io.UNREADABLE` */
export async function openZipFile(
  access: OpenFile,
  name: string,
  recognize?: typeof recognizeKind,
): Promise<OpenEvidence> {
  const close = (): Promise<void> => access.close();
  const opened = await openZipEvidence(access, name, recognize).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  if (opened.kind === 'part') return { ...opened, close };
  return { kind: 'export', source: opened.source, close };
}
