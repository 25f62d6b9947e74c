import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../evidence/index.ts';
import type { Export } from './state.ts';
import { uncoveredFiles, type Files } from './files.ts';
import type { BundleReport, Coverage, LocalReportReport } from '../report.ts';

/** Which bytes of an export something vouches for: every file counts once, those of the mirror not at all. */
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
    ...(passed('export.resource') ? [EXPORT_RESOURCE] : []),
    ...(passed('export.attestation') ? [EXPORT_ATTESTATION] : []),
  ];
  const intact = localReports.filter((report) => report.verdict === 'intact').map((report) => report.path);
  const mirror = files.mirror.map((file) => file.path);
  const attested = parts.reduce((total, part) => total + part.coverage.attestedBytes, 0);
  return {
    totalBytes: sum(files.all.map((file) => file.path)) - sum(mirror),
    coveredBytes:
      sum(documents) + sum(intact) + parts.reduce((total, part) => total + part.coverage.coveredBytes, 0),
    attestedBytes: attested + (state.signer === undefined ? 0 : size(EXPORT_MANIFEST)),
    uncovered: uncoveredFiles(state, files).map((file) => file.path),
    mirrorFiles: mirror,
  };
}
