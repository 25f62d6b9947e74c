import type { EvidenceSource, SourceFile } from '../../evidence/index.ts';
import { finding, findingsOf } from '../finding.ts';
import type { VerifyOptions } from '../options.ts';
import type { Listing } from './context.ts';
import { unreadPart, verifyPart } from './part.ts';
import type { BundleReport, Finding } from '../report.ts';

/** Verifies a part elsewhere, such as in a thread; `undefined` leaves it to be verified here. */
export type PartVerifier = (path: string, listed: Listing) => Promise<BundleReport> | undefined;

/** Verifies the part of a row: `file` is what exists at its path, if anything does. */
export async function verifyListedPart(
  source: EvidenceSource,
  file: SourceFile | undefined,
  listed: Listing,
  { verifyPart: verifyElsewhere, ...options }: VerifyOptions & { readonly verifyPart?: PartVerifier },
): Promise<BundleReport> {
  const { path, evidenceBundleId } = listed.row;
  const unread = (found: readonly Finding[]): BundleReport => unreadPart(found, { ...options, listed });
  if (file === undefined) {
    return unread([finding('part.MISSING', evidenceBundleId, { path, message: `${path} is missing` })]);
  }
  if (!file.regular) return unread([irregular(evidenceBundleId, file)]);
  try {
    const elsewhere = verifyElsewhere?.(path, listed);
    if (elsewhere !== undefined) return await elsewhere;
    const access = await source.open(path);
    try {
      return await verifyPart(access, { ...options, listed });
    } finally {
      await access.close();
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    return unread(findingsOf(error, evidenceBundleId, path));
  }
}

/** The finding for a link or device where a file belongs, or for something that could not be examined. */
export const irregular = (subject: string, { path, unreadable }: SourceFile): Finding =>
  unreadable === undefined
    ? finding('export.FILE_IRREGULAR', subject, { path, message: 'it is not a regular file' })
    : finding('io.UNREADABLE', subject, { path, message: unreadable });
