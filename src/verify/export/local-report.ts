import { closeAfter, digestAccess } from '../../bytes/index.ts';
import type { EvidenceSource, LocalReportRow, SourceFile } from '../../evidence/index.ts';
import { finding, findingsOf } from '../finding.ts';
import { irregularFinding } from '../part/listed-part.ts';
import type { LocalReportReport, Finding } from '../report.ts';
import { joinSteps, noteFindings, recordCheck } from '../step.ts';
import { rateFindings } from '../verdict.ts';

/** Compares a local report with its row. A user made it, so the verdict is never better than `intact` (formats §4). */
export async function verifyLocalReport(
  source: EvidenceSource,
  file: SourceFile | undefined,
  row: LocalReportRow,
  signal?: AbortSignal,
): Promise<LocalReportReport> {
  const bytes = recordCheck('local-report.bytes', await compareBytes(source, file, row, signal));
  const unattested = finding('local-report.UNATTESTED', row.localReportId, {
    message: 'a user made this report',
  });
  const { checks, findings } = joinSteps([bytes, noteFindings([unattested])]);
  return {
    kind: 'local-report',
    verdict: rateFindings(findings) ?? 'intact',
    localReportId: row.localReportId,
    projectId: row.projectId,
    path: row.path,
    provenance: 'user_produced',
    trust: 'unattested',
    checks,
    findings,
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
    return [finding('local-report.MISSING', localReportId, { path, message: `${path} is missing` })];
  }
  if (!file.regular) return [irregularFinding(localReportId, file)];
  try {
    return await closeAfter(await source.open(path), async (access) => {
      const bytes = String(access.size);
      if (bytes !== row.bytes) {
        const message = `the report has ${bytes} bytes`;
        const counts = { expected: row.bytes, actual: bytes };
        return [finding('local-report.BYTES_MISMATCH', localReportId, { path, message, ...counts })];
      }
      const { digest: actual } = await digestAccess(access, signal);
      if (actual === row.digest) return [];
      const message = 'the SHA-256 of the report does not match';
      const digests = { expected: row.digest, actual };
      return [finding('local-report.DIGEST_MISMATCH', localReportId, { path, message, ...digests })];
    });
  } catch (error) {
    signal?.throwIfAborted();
    return findingsOf(error, localReportId, path);
  }
}
