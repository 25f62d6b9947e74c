import { toUtf8 } from '../../bytes/index.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../evidence/index.ts';
import type { Export } from './state.ts';
import { uncoveredFiles, type Files } from './files.ts';
import type { BundleReport, Coverage, LocalReportReport } from '../report.ts';

/**
 * Which bytes of an export a digest reaches (formats §4, Coverage): every file counts once, those of the mirror not at
 * all, and of a one-file export every byte of the container.
 */
export function exportCoverage(
  state: Export,
  files: Files,
  parts: readonly BundleReport[],
  localReports: readonly LocalReportReport[],
): Coverage {
  const size = (path: string): number => files.byPath.get(path)?.bytes ?? 0;
  const sum = (paths: readonly string[]): number => paths.reduce((total, path) => total + size(path), 0);
  const passed = (id: string): boolean =>
    state.ledger.checks.some((check) => check.id === id && check.state === 'passed');
  const documents = [
    ...(passed('export.manifest') ? [EXPORT_MANIFEST] : []),
    ...(passed('export.attestation') ? [EXPORT_ATTESTATION] : []),
  ];
  // Its members agree with the manifest. Nothing covers white space beyond that of an indented document.
  const indented = toUtf8(`${JSON.stringify(state.resource, null, 2)}\n`).length;
  const resource = passed('export.resource') ? Math.min(size(EXPORT_RESOURCE), indented) : 0;
  const intact = localReports.filter((report) => report.verdict === 'intact').map((report) => report.path);
  const mirror = files.mirror.map((file) => file.path);
  const covered = parts.reduce((total, part) => total + part.coverage.coveredBytes, 0);
  const attested = parts.reduce((total, part) => total + part.coverage.attestedBytes, 0);
  const signed = passed('export.attestation') ? [EXPORT_ATTESTATION] : [];
  return {
    totalBytes: (state.source.container?.size ?? sum(files.all.map((file) => file.path))) - sum(mirror),
    coveredBytes: sum(documents) + resource + sum(intact) + covered,
    attestedBytes: attested + sum(state.signer === undefined ? [] : [EXPORT_MANIFEST, ...signed]),
    uncovered: uncoveredFiles(state, files).map((file) => file.path),
    mirrorFiles: mirror,
  };
}
