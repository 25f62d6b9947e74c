import type { EvidenceSource, SourceFile } from '../../evidence/index.ts';
import { finding, findingsOf } from '../finding.ts';
import type { Settings } from '../options.ts';
import { createPartContext, type Listing } from './context.ts';
import { buildUnreadReport, verifyArchive } from './part.ts';
import type { BundleReport, Finding } from '../report.ts';

/** Verifies a part elsewhere, such as in a thread; `undefined` leaves it to be verified here. */
export type PartVerifier = (path: string, listed: Listing) => Promise<BundleReport> | undefined;

type ListedPartOptions = { readonly settings: Settings; readonly verifyPart?: PartVerifier | undefined };

/** Verifies the part of a row: `file` is what exists at its path, if anything does. */
export async function verifyListedPart(
  source: EvidenceSource,
  file: SourceFile | undefined,
  listed: Listing,
  { settings, verifyPart }: ListedPartOptions,
): Promise<BundleReport> {
  const { path, evidenceBundleId } = listed.row;
  const part = createPartContext(settings, { listed });
  const unread = (findings: readonly Finding[]): BundleReport => buildUnreadReport(findings, part);
  if (file === undefined) {
    return unread([finding('part.MISSING', evidenceBundleId, { path, message: `${path} is missing` })]);
  }
  if (!file.regular) return unread([irregularFinding(evidenceBundleId, file)]);
  try {
    const elsewhere = verifyPart?.(path, listed);
    if (elsewhere !== undefined) return await elsewhere;
    const access = await source.open(path);
    try {
      return await verifyArchive(access, part);
    } finally {
      await access.close();
    }
  } catch (error) {
    settings.signal?.throwIfAborted();
    return unread(findingsOf(error, evidenceBundleId, path));
  }
}

/** The finding for a link or device where a file belongs, or for something that could not be examined. */
export const irregularFinding = (subject: string, { path, unreadable }: SourceFile): Finding =>
  unreadable === undefined
    ? finding('export.FILE_IRREGULAR', subject, { path, message: 'it is not a regular file' })
    : finding('io.UNREADABLE', subject, { path, message: unreadable });
