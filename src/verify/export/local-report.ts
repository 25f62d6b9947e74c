import { digestAccess } from '../../bytes/hash.ts';
import type { EvidenceSource, LocalReportRow, SourceFile } from '../../evidence/index.ts';
import { createLedger } from '../check.ts';
import { finding, findingsOf, type Finding } from '../finding.ts';
import { irregular } from '../part/listed-part.ts';
import type { LocalReportReport } from '../report.ts';
import { verdictOfFindings } from '../verdict.ts';

/**
 * Verifies the bytes of a local report against the row that lists it. The archive is opaque and its content is what a
 * user says: it is never better than `intact` (formats §4).
 */
export async function verifyLocalReport(
  source: EvidenceSource,
  file: SourceFile | undefined,
  row: LocalReportRow,
  signal?: AbortSignal,
): Promise<LocalReportReport> {
  const ledger = createLedger();
  ledger.ran('local-report.bytes', await compareBytes(source, file, row, signal));
  ledger.note([
    finding('local-report.UNATTESTED', row.localReportId, { message: 'a user made this report' }),
  ]);
  return {
    kind: 'local-report',
    verdict: verdictOfFindings(ledger.findings) ?? 'intact',
    localReportId: row.localReportId,
    projectId: row.projectId,
    path: row.path,
    provenance: 'user_produced',
    trust: 'unattested',
    checks: ledger.checks,
    findings: ledger.findings,
  };
}

async function compareBytes(
  source: EvidenceSource,
  file: SourceFile | undefined,
  row: LocalReportRow,
  signal: AbortSignal | undefined,
): Promise<Finding[]> {
  const { localReportId, path } = row;
  if (file === undefined) {
    return [finding('local-report.MISSING', localReportId, { path, message: `${path} is not there` })];
  }
  if (!file.regular) return [irregular(localReportId, path)];
  try {
    const access = await source.open(path);
    try {
      const { digest, bytes } = await digestAccess(access, signal);
      return differences(row, String(bytes), digest);
    } finally {
      await access.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    return findingsOf(error, localReportId, path);
  }
}

function differences(
  { localReportId, path, ...row }: LocalReportRow,
  bytes: string,
  digest: string,
): Finding[] {
  const facts = [
    ['local-report.BYTES_MISMATCH', 'the report has another size', row.bytes, bytes],
    ['local-report.DIGEST_MISMATCH', 'the report has another SHA-256', row.digest, digest],
  ] as const;
  return facts
    .filter(([, , expected, actual]) => expected !== actual)
    .map(([code, message, expected, actual]) =>
      finding(code, localReportId, { path, message, expected, actual }),
    );
}
