import { closeAfter } from '../../bytes/async.ts';
import { digestAccess } from '../../bytes/hash.ts';
import type { RandomAccess } from '../../bytes/random-access.ts';
import type { EvidenceSource, SourceFile } from '../../evidence/source.ts';
import type { LocalReportRow } from '../../evidence/export/manifest.ts';
import { finding } from '../finding.ts';
import { readListedFile } from '../part/listed-part.ts';
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
  const { path, localReportId: subject } = row;
  const faults = await readListedFile(
    { file, path, subject, missing: 'local-report.MISSING', signal },
    async () => closeAfter(await source.open(path), (access) => compareBytes(access, row, signal)),
    (findings) => findings,
  );
  const unattested = finding('local-report.UNATTESTED', subject, { message: 'a user made this report' });
  const bytes = recordCheck('local-report.bytes', faults);
  const { checks, findings } = joinSteps([bytes, noteFindings([unattested])]);
  return {
    kind: 'local-report',
    verdict: rateFindings(findings) ?? 'intact',
    localReportId: row.localReportId,
    projectId: row.projectId,
    path,
    provenance: 'user_produced',
    trust: 'unattested',
    checks,
    findings,
  };
}

async function compareBytes(
  access: RandomAccess,
  row: LocalReportRow,
  signal: AbortSignal | undefined,
): Promise<readonly Finding[]> {
  const bytes = String(access.size);
  if (bytes !== row.bytes) {
    const message = `the report has ${bytes} bytes`;
    const counts = { path: row.path, expected: row.bytes, actual: bytes };
    return [finding('local-report.BYTES_MISMATCH', row.localReportId, { message, ...counts })];
  }
  const { digest: actual } = await digestAccess(access, signal);
  if (actual === row.digest) return [];
  const message = 'the SHA-256 of the report does not match';
  const digests = { path: row.path, expected: row.digest, actual };
  return [finding('local-report.DIGEST_MISMATCH', row.localReportId, { message, ...digests })];
}
