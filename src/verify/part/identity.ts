import type { Finding } from '../report.ts';
import { digestOf } from '../../bytes/index.ts';
import {
  BUNDLE_MANIFEST,
  type BundleManifest,
  findEntry,
  parseBundleManifest,
  readEntry,
} from '../../evidence/index.ts';
import type { ZipArchive } from '../../zip/index.ts';
import type { Bundle } from './state.ts';
import { finding, findingsOf } from '../finding.ts';

/** `bundle.manifest`: the document that everything else in the bundle hangs on. */
export async function checkManifest(bundle: Bundle, archive: ZipArchive): Promise<void> {
  const { ledger, settings, subject } = bundle;
  const entry = findEntry(archive, BUNDLE_MANIFEST);
  if (entry === undefined) {
    const message = 'the archive holds no manifest.json';
    ledger.ran('bundle.manifest', [finding('bundle.MANIFEST_MISSING', subject, { message })]);
    return;
  }
  try {
    const bytes = await readEntry(archive, entry, settings.limits.manifestBytes);
    bundle.manifestDigest = digestOf(bytes);
    bundle.manifestBytes = bytes.length;
    bundle.read.set(entry.name, { bytes: bytes.length, digest: bundle.manifestDigest });
    bundle.manifest = parseBundleManifest(bytes, settings.limits);
    if (bundle.listed === undefined) bundle.subject = bundle.manifest.evidenceBundleId;
    ledger.ran('bundle.manifest', []);
  } catch (error) {
    ledger.ran('bundle.manifest', findingsOf(error, subject, BUNDLE_MANIFEST));
  }
}

/** `bundle.row`: the bundle is the one that the export manifest lists. */
export function checkRow(bundle: Bundle, manifest: BundleManifest): void {
  const { ledger, listed, subject } = bundle;
  if (listed === undefined) {
    ledger.skipped('bundle.row', 'not_applicable', 'no export manifest lists this bundle');
    return;
  }
  const { row } = listed;
  const facts: readonly (readonly [string, string, string])[] = [
    ['evidenceBundleId', row.evidenceBundleId, manifest.evidenceBundleId],
    ['organizationId', listed.organizationId, manifest.organizationId],
    ['projectId', row.projectId, manifest.projectId],
    ['manifestDigest', row.manifestDigest, bundle.manifestDigest ?? 'absent'],
    ['signed', String(row.signed), String(bundle.signed)],
  ];
  const found = facts
    .filter(([, expected, actual]) => expected !== actual)
    .map(([field, expected, actual]) => rowFinding(subject, field, expected, actual));
  if (manifest.createdAtMs < listed.fromAtMs || manifest.createdAtMs >= listed.throughAtMs) {
    const window = `${listed.fromAtMs} to before ${listed.throughAtMs}`;
    found.push(rowFinding(subject, 'createdAtMs', window, String(manifest.createdAtMs)));
  }
  ledger.ran('bundle.row', found);
}

const rowFinding = (subject: string, field: string, expected: string, actual: string): Finding =>
  finding('part.ROW_MISMATCH', subject, {
    path: `${BUNDLE_MANIFEST}#/${field}`,
    message: `the export manifest lists another ${field}`,
    expected,
    actual,
  });

/**
 * `bundle.expected`: what the caller knows from elsewhere. At depth `digest` the row that lists the bundle stands for
 * its manifest.
 */
export function checkExpected(
  { ledger, settings, subject, listed, manifestDigest }: Bundle,
  manifest: Pick<BundleManifest, 'organizationId' | 'projectId'>,
): void {
  const { expect } = settings;
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
  const asked = rows.filter(([, expected]) => expected !== undefined);
  const ofExport =
    listed === undefined && (expect.evidenceExportId !== undefined || expect.bundles !== undefined);
  if (asked.length === 0 && !ofExport) {
    ledger.skipped('bundle.expected', 'not_applicable', 'the caller expects nothing in particular');
    return;
  }
  const found = asked
    .filter(([, expected, actual]) => expected !== actual)
    .map(([code, expected = '', actual]) => {
      const message = 'the bundle is not what the caller expects';
      return finding(code, subject, { path: BUNDLE_MANIFEST, message, expected, actual });
    });
  if (ofExport && found.length === 0)
    ledger.skipped('bundle.expected', 'not_checked', 'a bundle by itself says nothing of its export');
  else ledger.ran('bundle.expected', found);
}
