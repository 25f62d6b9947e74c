import { closeAfter } from '../../bytes/async.ts';
import type { EvidenceSource, SourceFile } from '../../evidence/source.ts';
import { finding, findingsOf } from '../finding.ts';
import type { Settings } from '../options.ts';
import { createPartContext, type Listing } from './context.ts';
import { buildUnreadReport, walkPart } from './part.ts';
import type { BundleReport, Finding } from '../report.ts';

/** Verifies a part elsewhere, such as in a thread; `undefined` leaves it to be verified here. */
export type PartVerifier = (path: string, listed: Listing) => Promise<BundleReport> | undefined;

/** Threads that verify parts. */
export type PartThreads = { readonly verifyPart: PartVerifier; readonly close: () => Promise<void> };

/** The parts of an export together. */
export type PartsTotal = { readonly parts: number; readonly bytes: number };

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
  const place = {
    file,
    path,
    subject: evidenceBundleId,
    missing: 'part.MISSING',
    signal: settings.signal,
  } as const;
  return readListedFile(
    place,
    async () =>
      verifyPart?.(path, listed) ??
      closeAfter(await source.open(path), async (access) => (await walkPart(access, part)).report),
    (findings) => buildUnreadReport(findings, part),
  );
}

type ListedFile = {
  /** The file at the listed path, if anything exists there. */
  readonly file: SourceFile | undefined;
  readonly path: string;
  readonly subject: string;
  readonly missing: 'part.MISSING' | 'local-report.MISSING';
  readonly signal: AbortSignal | undefined;
};

/** Reads a listed file. `handleUnread` gets the finding if it is missing or irregular, or cannot be read. */
export async function readListedFile<T>(
  { file, path, subject, missing, signal }: ListedFile,
  read: () => Promise<T>,
  handleUnread: (findings: readonly Finding[]) => T,
): Promise<T> {
  if (file === undefined)
    return handleUnread([finding(missing, subject, { path, message: `${path} is missing` })]);
  if (!file.regular) return handleUnread([irregularFinding(subject, file)]);
  try {
    return await read();
  } catch (error) {
    signal?.throwIfAborted();
    return handleUnread(findingsOf(error, subject, path));
  }
}

/** The finding for a link or device where a file belongs, or for something that could not be examined. */
export const irregularFinding = (subject: string, { path, unreadable }: SourceFile): Finding =>
  unreadable === undefined
    ? finding('export.FILE_IRREGULAR', subject, { path, message: 'it is not a regular file' })
    : finding('io.UNREADABLE', subject, { path, message: unreadable });
