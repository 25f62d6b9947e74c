import { defined, toUtf8 } from '../../bytes/index.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../evidence/index.ts';
import { requiredChecks } from '../checks.ts';
import { trustUsed } from '../options.ts';
import type { BundleReport, Coverage, ExportReport, LocalReportReport, Verdict } from '../report.ts';
import { hasPassed, type Step } from '../step.ts';
import { verdictOfFindings, worstVerdict } from '../verdict.ts';
import type { ExportContext, ReadExportManifest } from './context.ts';
import type { ExportDocuments } from './documents.ts';
import { uncoveredFiles } from './files.ts';

/** What was read of an export, and the reports on what it holds. */
export type ExportContent = {
  readonly manifest: ReadExportManifest;
  readonly documents: ExportDocuments;
  readonly parts: readonly BundleReport[];
  readonly localReports: readonly LocalReportReport[];
};

export function buildExportReport(tree: ExportContext, content: ExportContent, step: Step): ExportReport {
  const { settings } = tree;
  const { manifest, documents, parts, localReports } = content;
  return defined({
    schemaVersion: 1,
    kind: 'export',
    verdict: exportVerdict(content, step),
    completeness: documents.completeness,
    depth: settings.depth,
    asOfMs: settings.asOfMs,
    evidenceExportId: manifest.document?.evidenceExportId,
    organizationId: manifest.document?.organizationId,
    window: manifest.document && {
      fromAtMs: manifest.document.fromAtMs,
      throughAtMs: manifest.document.throughAtMs,
    },
    manifestDigest: manifest.digest,
    trust: trustUsed(settings),
    signer: documents.signer,
    signers: documents.signers,
    checks: step.checks,
    findings: step.findings,
    parts,
    localReports,
    coverage: exportCoverage(tree, content, step),
  } as const);
}

const REQUIRED: ReadonlySet<string> = new Set(requiredChecks('export', 'always', 'opinion'));

/** The verdict on an export (formats §4): its worst bundle, and never better than the export itself and its reports. */
function exportVerdict(
  { manifest, parts, localReports }: ExportContent,
  { checks, findings }: Step,
): Verdict {
  const byFindings = verdictOfFindings(findings);
  const isOpen = checks.some(({ id, state }) => state === 'not_checked' && REQUIRED.has(id));
  const verdicts: Verdict[] = parts.map((part) => part.verdict);
  if (byFindings !== undefined) verdicts.push(byFindings);
  if (isOpen) verdicts.push('incomplete');
  // An intact report does not lower the verdict; a damaged or unread one does.
  verdicts.push(...localReports.map((report) => report.verdict).filter((verdict) => verdict !== 'intact'));
  if (manifest.document !== undefined && parts.length === 0 && localReports.length > 0)
    verdicts.push('intact');
  return worstVerdict(verdicts, 'incomplete');
}

/**
 * Which bytes of an export a digest covers (formats §4, Coverage): every file counts once, those of the mirror not at
 * all, and of a one-file export every byte of the container.
 */
function exportCoverage(
  { source, files }: ExportContext,
  { manifest, documents, parts, localReports }: ExportContent,
  step: Step,
): Coverage {
  const size = (path: string): number => files.byPath.get(path)?.bytes ?? 0;
  const sum = (paths: readonly string[]): number => paths.reduce((total, path) => total + size(path), 0);
  const ifPassed = (id: 'export.manifest' | 'export.attestation', path: string): string[] =>
    hasPassed(step, id) ? [path] : [];
  const attestation = ifPassed('export.attestation', EXPORT_ATTESTATION);
  // Its members agree with the manifest. Nothing covers white space beyond that of an indented document.
  const indented = toUtf8(`${JSON.stringify(documents.resource, null, 2)}\n`).length;
  const resource = hasPassed(step, 'export.resource') ? Math.min(size(EXPORT_RESOURCE), indented) : 0;
  const intact = localReports.filter((report) => report.verdict === 'intact').map((report) => report.path);
  const mirror = files.mirror.map((file) => file.path);
  const covered = parts.reduce((total, part) => total + part.coverage.coveredBytes, 0);
  const attested = parts.reduce((total, part) => total + part.coverage.attestedBytes, 0);
  const signed = documents.signer === undefined ? [] : [EXPORT_MANIFEST, ...attestation];
  return {
    totalBytes: (source.container?.size ?? sum(files.all.map((file) => file.path))) - sum(mirror),
    coveredBytes:
      sum([...ifPassed('export.manifest', EXPORT_MANIFEST), ...attestation, ...intact]) + resource + covered,
    attestedBytes: attested + sum(signed),
    uncovered: uncoveredFiles(manifest.document, files).map((file) => file.path),
    mirrorFiles: mirror,
  };
}
