import { digestOf } from '../../bytes/hash.ts';
import { type Checksum, CHECKSUMS, parseChecksums } from '../../evidence/export/checksums.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import type { ExportManifest } from '../../evidence/export/manifest.ts';
import { isWorkFile, parseReceipt, receiptPath } from '../../evidence/export/receipt.ts';
import { type EvidenceSource, readFile } from '../../evidence/source.ts';
import { finding, type FindingDetail, findingsOf } from '../finding.ts';
import type { Finding } from '../report.ts';
import { noteFindings, type StepOf } from '../step.ts';
import { EXPORT, type ExportContext } from './context.ts';
import { listManifestRows } from './files.ts';

/**
 * Checks the receipts and checksums of a mirror. Evidence never depends on them, but one that is not what its name says
 * does not count as a file of the mirror (formats §1, Export). The value has the paths of those.
 */
export async function checkMirrorFiles(
  { source, settings, files }: ExportContext,
  manifest: ExportManifest | undefined,
): Promise<StepOf<ReadonlySet<string>>> {
  const findings: Finding[] = [];
  for (const { path } of files.mirror) {
    if (isWorkFile(path)) continue;
    try {
      // Both formats name every file of the export, so they grow with its manifest.
      const bytes = await readFile(source, path, settings.limits.manifestBytes);
      const faults =
        path === CHECKSUMS ? await compareAll(source, bytes, manifest) : checkReceipt(path, bytes);
      findings.push(...faults.map((fault) => finding('receipt.INVALID', EXPORT, { ...fault, path })));
    } catch (error) {
      for (const fault of findingsOf(error, EXPORT, path)) {
        const code = fault.class === 'inaccessible' ? 'receipt.UNREADABLE' : 'receipt.INVALID';
        findings.push(finding(code, EXPORT, { ...fault, path }));
      }
    }
  }
  return { ...noteFindings(findings), value: new Set(findings.map(({ path = '' }) => path)) };
}

function checkReceipt(path: string, bytes: Uint8Array): FindingDetail[] {
  const expected = receiptPath(parseReceipt(bytes), digestOf(bytes));
  const message = 'the name of the receipt does not match its time and digest';
  return path === expected ? [] : [{ path, message, expected, actual: path }];
}

async function compareAll(
  source: EvidenceSource,
  bytes: Uint8Array,
  manifest: ExportManifest | undefined,
): Promise<FindingDetail[]> {
  const faults: FindingDetail[] = [];
  const compare = compareChecksums(source, manifest);
  for (const row of parseChecksums(bytes)) faults.push(...(await compare(row)));
  return faults;
}

export const isEvidence = (path: string): boolean =>
  path.startsWith('parts/') || path.startsWith('local-reports/');

/**
 * Compares lines of `SHA256SUMS` with the manifest, and those that the manifest does not list with their files. The
 * fault names the file that differs, or the checksums if they contradict the manifest.
 * @throws DrillproofError for a file that cannot be read, or is missing
 */
export function compareChecksums(
  source: EvidenceSource,
  manifest: ExportManifest | undefined,
): (row: Checksum) => Promise<FindingDetail[]> {
  const listed = new Map<string, string>(listManifestRows(manifest).map((row) => [row.path, row.digest]));
  return async ({ path, digest }) => {
    if (manifest === undefined && isEvidence(path)) return []; // its size is unknown
    const known = listed.get(path);
    const actual = known ?? digestOf(await readFile(source, path, DEFAULT_LIMITS.manifestBytes));
    if (actual === digest) return [];
    const message =
      known === undefined
        ? `${path} does not match its digest in ${CHECKSUMS}`
        : `the digests of ${path} in ${CHECKSUMS} and manifest.json differ`;
    return [{ path: known === undefined ? path : CHECKSUMS, message, expected: digest, actual }];
  };
}
