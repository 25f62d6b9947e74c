import { sha256Of, utf8 } from './bytes.ts';
import type { Code } from '../../src/codes/catalogue.ts';
import type { EvidenceInput } from '../../src/policy/facts.ts';
import { finding } from '../../src/verify/finding.ts';
import type { BundleReport, ExportReport, Finding, LocalReportReport } from '../../src/verify/report.ts';
import { idOf, ORGANIZATION, PROJECT } from './bundle.ts';

/** The time of every decision. */
export const AS_OF = 1_767_225_600_000; // 2026-01-01T00:00:00Z
export const ISSUED = AS_OF - 3_600_000;

const SIGNER = { issuer: 'acme-ci', keyId: 'key-1', issuedAtMs: ISSUED };

export const digest = (text: string): `sha256:${string}` => `sha256:${sha256Of(utf8(text)).slice(7)}`;
export const keyOf = (name: string): `sha256:${string}` => digest(`key ${name}`);

export const findingOf = (code: Code, subject: string, path?: string): Finding =>
  finding(code, subject, { message: 'as the vector has it', ...(path !== undefined && { path }) });

type Pins = NonNullable<BundleReport['reproduction']>;
export type BundleParts = Partial<Omit<BundleReport, 'reproduction' | 'outcome'>> & {
  readonly pins?: Partial<Pins>;
  readonly outcome?: Partial<NonNullable<BundleReport['outcome']>>;
};

const coverageOf = (totalBytes: number, attestedBytes: number): BundleReport['coverage'] => ({
  totalBytes,
  coveredBytes: totalBytes,
  attestedBytes,
  uncovered: [],
  mirrorFiles: [],
});

/** The report on a verified bundle of a drill that passed; `n` numbers bundles. */
export function bundle(n: number, { pins = {}, outcome = {}, ...rest }: BundleParts = {}): BundleReport {
  const signer = SIGNER;
  return {
    schemaVersion: 1,
    kind: 'bundle',
    verdict: 'verified',
    depth: 'full',
    asOfMs: AS_OF,
    evidenceBundleId: idOf('evidence', n),
    organizationId: ORGANIZATION,
    projectId: PROJECT,
    runId: `run_vector-${n}`,
    hostedRunId: idOf('hrun', n),
    createdAtMs: ISSUED,
    signed: true,
    provenance: 'attested',
    signer,
    signers: [{ ...signer, thumbprint: keyOf('one'), validThroughMs: null, in: 'attestation' }],
    reproduction: {
      schemaVersion: 1,
      scope: 'world_inputs',
      drillId: 'checkout',
      targetId: 'shop',
      buildHash: digest('build'),
      packageLockHash: digest('lock'),
      seed: '42',
      originalTrial: 1,
      originalTrialCount: 1,
      originalAttempt: 1,
      originalAttemptLimit: 1,
      scenarioId: 'plain',
      ...pins,
    },
    outcome: {
      drillId: pins.drillId ?? 'checkout',
      targetId: pins.targetId ?? 'shop',
      status: 'completed',
      verdict: 'passed',
      worldConsistency: 'consistent',
      bindingEvidence: 'complete',
      budget: 'kept',
      assertions: [{ id: 'stock', gate: true, status: 'passed' }],
      checkpoints: [{ id: 'end', kind: 'final', verdict: 'passed' }],
      ...outcome,
    },
    checks: [],
    findings: [],
    coverage: coverageOf(1000, 1000),
    ...rest,
  };
}

/** The members of a report that change when no trusted key signed the bundle. */
export const unattested = (verdict: 'intact' | 'incomplete' | 'failed'): BundleParts => ({
  verdict,
  provenance: 'claimed',
});

/** The report on a bundle without a signature. */
export function unsigned(n: number, rest: BundleParts = {}): BundleReport {
  const {
    signer: _signer,
    signers: _signers,
    reproduction: _pins,
    ...report
  } = bundle(n, { ...unattested('intact'), signed: false, ...rest });
  return { ...report, findings: [findingOf('bundle.UNSIGNED', idOf('evidence', n)), ...report.findings] };
}

/** The report on an intact local report. */
export const local = (n: number, rest: Partial<LocalReportReport> = {}): LocalReportReport => ({
  kind: 'local-report',
  verdict: 'intact',
  localReportId: idOf('lrep', n),
  projectId: PROJECT,
  path: `local-reports/${idOf('lrep', n)}.zip`,
  provenance: 'user_produced',
  trust: 'unattested',
  checks: [],
  findings: [],
  ...rest,
});

/** The report on an export of these bundles with an attested list. */
export const exportOf = (parts: readonly BundleReport[], rest: Partial<ExportReport> = {}): ExportReport => ({
  schemaVersion: 1,
  kind: 'export',
  verdict: 'verified',
  completeness: 'attested',
  depth: 'full',
  asOfMs: AS_OF,
  evidenceExportId: idOf('evexp', 1),
  organizationId: ORGANIZATION,
  window: { fromAtMs: AS_OF - 7 * 86_400_000, throughAtMs: AS_OF },
  manifestDigest: digest('export manifest'),
  signer: SIGNER,
  signers: [{ ...SIGNER, thumbprint: keyOf('one'), in: 'attestation' }],
  checks: [],
  findings: [],
  parts,
  localReports: [],
  coverage: coverageOf(2000, 1000),
  ...rest,
});

export const inputOf = (report: ExportReport | BundleReport, name = 'evidence'): EvidenceInput => ({
  name,
  report,
});
/** An export of these bundles, as the only input. */
export const inExport = (...parts: readonly BundleReport[]): readonly EvidenceInput[] => [
  inputOf(exportOf(parts)),
];
