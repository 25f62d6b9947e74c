import type { ScrubReport } from '../../src/report/many/scrubs.ts';
import { finding } from '../../src/verify/finding.ts';
import type {
  AttestationReport,
  BundleReport,
  Check,
  Coverage,
  ExportReport,
  Finding,
  LocalReportReport,
  ToolSourceReport,
} from '../../src/verify/report.ts';

const AS_OF_MS = Date.UTC(2026, 10, 21, 12);
export const DIGEST = `sha256:${'ab'.repeat(32)}` as const;
export const SIGNER = { issuer: 'acme-ci', keyId: `sha256:${'12'.repeat(32)}`, issuedAtMs: AS_OF_MS - 1000 };

const passed = (id: Check['id']): Check => ({ id, state: 'passed' });

export const coverage = (over: Partial<Coverage> = {}): Coverage => ({
  totalBytes: 1_000_000,
  coveredBytes: 1_000_000,
  attestedBytes: 1_000_000,
  uncovered: [],
  mirrorFiles: [],
  ...over,
});

/** A verified part; the number makes its id. */
export function part(n: number, over: Partial<BundleReport> = {}): BundleReport {
  const id = `evidence_${String(n).padStart(12, '0')}`;
  return {
    schemaVersion: 1,
    kind: 'bundle',
    verdict: 'verified',
    depth: 'full',
    asOfMs: AS_OF_MS,
    evidenceBundleId: id,
    organizationId: 'org_000000000001',
    projectId: 'prj_000000000001',
    runId: `run_part-${n}`,
    path: `parts/${id}.zip`,
    archive: { digest: DIGEST, bytes: 10_000 },
    manifestDigest: DIGEST,
    objectCount: 4,
    signed: true,
    provenance: 'attested',
    signer: { ...SIGNER, issuedAtMs: SIGNER.issuedAtMs + n },
    outcome: { drillId: 'check-package', targetId: `package-${n}`, status: 'completed', verdict: 'passed' },
    checks: [
      passed('part.bytes'),
      passed('part.archive'),
      passed('bundle.objects'),
      passed('attestation.signature'),
    ],
    findings: [],
    coverage: coverage({ totalBytes: 10_000, coveredBytes: 10_000, attestedBytes: 10_000 }),
    ...over,
  };
}

export function failedPart(n: number, ...findings: readonly Finding[]): BundleReport {
  const whole = part(n);
  const { signer: _signer, outcome: _outcome, ...rest } = whole;
  return {
    ...rest,
    verdict: 'failed',
    provenance: 'claimed',
    checks: [
      { id: 'part.bytes', state: 'failed' },
      { id: 'part.archive', state: 'not_checked', reason: 'the archive is not the listed one' },
    ],
    findings:
      findings.length > 0
        ? findings
        : [
            finding('part.DIGEST_MISMATCH', whole.evidenceBundleId!, {
              path: whole.path!,
              message: 'the archive has another SHA-256 than the manifest says',
              expected: DIGEST,
              actual: `sha256:${'cd'.repeat(32)}`,
            }),
          ],
  };
}

export function localReport(over: Partial<LocalReportReport> = {}): LocalReportReport {
  return {
    kind: 'local-report',
    verdict: 'intact',
    localReportId: 'lrep_000000000001',
    projectId: 'prj_000000000001',
    path: 'local-reports/lrep_000000000001.zip',
    provenance: 'user_produced',
    trust: 'unattested',
    checks: [passed('local-report.bytes')],
    findings: [],
    ...over,
  };
}

export function exportReport(over: Partial<ExportReport> = {}): ExportReport {
  return {
    schemaVersion: 1,
    kind: 'export',
    verdict: 'verified',
    completeness: 'pinned',
    depth: 'full',
    asOfMs: AS_OF_MS,
    evidenceExportId: 'evexp_000000000001',
    organizationId: 'org_000000000001',
    manifestDigest: DIGEST,
    trust: { fingerprint: DIGEST, keys: 2 },
    checks: [passed('export.manifest'), passed('export.expected'), passed('export.files')],
    findings: [],
    parts: [part(1), part(2), part(3)],
    localReports: [],
    coverage: coverage(),
    ...over,
  };
}

export const attestationReport = (over: Partial<AttestationReport> = {}): AttestationReport => ({
  schemaVersion: 1,
  kind: 'attestation',
  verdict: 'valid',
  asOfMs: AS_OF_MS,
  signer: SIGNER,
  checks: [passed('attestation.signature')],
  findings: [],
  ...over,
});

export const toolSourceReport = (over: Partial<ToolSourceReport> = {}): ToolSourceReport => ({
  schemaVersion: 1,
  kind: 'tool-source',
  verdict: 'intact',
  packageId: 'mailer',
  buildHash: DIGEST,
  artifactHash: DIGEST,
  checks: [
    passed('tool-source.bytes'),
    { id: 'tool-source.lock', state: 'not_applicable', reason: 'no lock given' },
  ],
  findings: [],
  ...over,
});

/** The report on a scrub of one mirror, which has a fault if it is damaged. */
export function scrubReport(name: string, found: 'good' | 'damaged'): ScrubReport {
  const numbers = { files: 3, read: 3, readBytes: 30, recent: 0, unread: 0, unreadBytes: 0 };
  const fault = {
    mirror: name,
    path: 'parts/1.zip',
    code: 'part.DIGEST_MISMATCH',
    message: 'm',
    severity: 'error',
    action: 'a',
  } as const;
  return {
    schemaVersion: 1,
    kind: 'scrub',
    place: 'archive',
    outcome: found,
    mirrors: 1,
    outcomes: { good: 0, damaged: 0, unreadable: 0, unread: 0, [found]: 1 },
    ...numbers,
    results: [{ name, outcome: found, ...numbers }],
    faults: found === 'good' ? [] : [{ ...fault, found }],
    moreFaults: 0,
    knownFaults: 0,
    strays: ['stray'],
  };
}
