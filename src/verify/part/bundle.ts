import { digestOf } from '../../bytes/hash.ts';
import { BUNDLE_MANIFEST, findEntry, readEntry } from '../../evidence/bundle/part.ts';
import { type BundleManifest, parseBundleManifest } from '../../evidence/bundle/manifest.ts';
import type { ZipArchive } from '../../zip/read/open.ts';
import { finding, findingsOf } from '../finding.ts';
import { endCheck, recordCheck, type Step, type StepOf } from '../step.ts';
import type { BundleContext, PartContext, ReadEntry } from './context.ts';
import type { Finding } from '../report.ts';

export type ReadManifest = Partial<ReadEntry> & { readonly document?: BundleManifest };

/** `bundle.manifest`: everything else in the bundle depends on this document. */
export async function checkBundleManifest(
  archive: ZipArchive,
  { settings: { limits }, subject }: PartContext,
): Promise<StepOf<ReadManifest>> {
  const entry = findEntry(archive, BUNDLE_MANIFEST);
  if (entry === undefined) {
    const message = 'the archive has no manifest.json';
    const missing = finding('bundle.MANIFEST_MISSING', subject, { message });
    return { ...recordCheck('bundle.manifest', [missing]), value: {} };
  }
  let value: ReadManifest = {};
  try {
    const bytes = await readEntry(archive, entry, limits.manifestBytes);
    value = { bytes: bytes.length, digest: digestOf(bytes) };
    value = { ...value, document: parseBundleManifest(bytes, limits) };
    return { ...recordCheck('bundle.manifest', []), value };
  } catch (error) {
    return { ...recordCheck('bundle.manifest', findingsOf(error, subject, BUNDLE_MANIFEST)), value };
  }
}

/** `bundle.row`: the bundle is the one that the export manifest lists. */
export function checkRow(
  { listed, subject, manifest, manifestDigest }: BundleContext,
  signed: boolean,
): Step {
  if (listed === undefined)
    return endCheck('bundle.row', 'not_applicable', 'no export manifest lists this bundle');
  const { row } = listed;
  const facts: readonly (readonly [string, string, string])[] = [
    ['evidenceBundleId', row.evidenceBundleId, manifest.evidenceBundleId],
    ['organizationId', listed.organizationId, manifest.organizationId],
    ['projectId', row.projectId, manifest.projectId],
    ['manifestDigest', row.manifestDigest, manifestDigest],
    ['signed', String(row.signed), String(signed)],
  ];
  const findings = facts
    .filter(([, expected, actual]) => expected !== actual)
    .map(([field, expected, actual]) => rowFinding(subject, field, expected, actual));
  if (manifest.createdAtMs < listed.fromAtMs || manifest.createdAtMs >= listed.throughAtMs) {
    const window = `${listed.fromAtMs} to before ${listed.throughAtMs}`;
    findings.push(rowFinding(subject, 'createdAtMs', window, String(manifest.createdAtMs)));
  }
  return recordCheck('bundle.row', findings);
}

const rowFinding = (subject: string, field: string, expected: string, actual: string): Finding =>
  finding('part.ROW_MISMATCH', subject, {
    path: `${BUNDLE_MANIFEST}#/${field}`,
    message: `${field} does not match the export manifest`,
    expected,
    actual,
  });

/**
 * `bundle.expected`: compares the bundle with the facts that the caller expects. At depth `digest` the row of the part
 * replaces the manifest, whose digest is unknown.
 */
export function checkBundleExpected(
  { settings: { expect }, subject, listed }: PartContext,
  manifest: Pick<BundleManifest, 'organizationId' | 'projectId'>,
  manifestDigest?: string,
): Step {
  const rows = [
    ['expect.ORGANIZATION_MISMATCH', expect.organizationId, manifest.organizationId],
    ['expect.PROJECT_MISMATCH', expect.projectId, manifest.projectId],
    // In an export the caller's digest is that of the export manifest.
    [
      'expect.MANIFEST_MISMATCH',
      listed === undefined ? expect.manifestDigest : undefined,
      manifestDigest ?? 'absent',
    ],
  ] as const;
  const expectations = rows.filter(([, expected]) => expected !== undefined);
  const aboutExport =
    listed === undefined && (expect.evidenceExportId !== undefined || expect.bundles !== undefined);
  if (expectations.length === 0 && !aboutExport)
    return endCheck('bundle.expected', 'not_applicable', 'the caller expects nothing in particular');
  const findings = expectations
    .filter(([, expected, actual]) => expected !== actual)
    .map(([code, expected, actual]) => {
      const message = 'the bundle is not what the caller expects';
      return finding(code, subject, { path: BUNDLE_MANIFEST, message, expected, actual });
    });
  if (aboutExport && findings.length === 0)
    return endCheck('bundle.expected', 'not_checked', 'a bundle alone does not show its export');
  return recordCheck('bundle.expected', findings);
}
