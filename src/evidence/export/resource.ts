import { type EvidenceExport, evidenceExportSchema } from '../../contract/index.ts';
import { canonicalJson, type Digest } from '../../bytes/index.ts';
import type { BrokenBinding } from '../bundle/statement.ts';
import { documentParser } from '../document.ts';
import { sumBytes, type ExportManifest } from './manifest.ts';

/**
 * Types `export.json`, the export resource; it is parsed strictly but need not be canonical.
 * @throws DrillproofError `export.RESOURCE_INVALID`, and what the JSON parsers throw
 */
export const parseExportResource = documentParser<EvidenceExport>({
  schema: evidenceExportSchema,
  code: 'export.RESOURCE_INVALID',
  canonical: false,
  limit: 'documentBytes',
});

type Row = readonly [field: string, stated: unknown, actual: unknown];

/** Every field of the resource that the manifest determines, and differs from it (formats §1, Export manifest). */
export function listResourceDifferences(
  resource: EvidenceExport,
  manifest: ExportManifest,
  manifestDigest: Digest,
  manifestBytes: number,
): BrokenBinding[] {
  const { parts, localReports } = manifest;
  const rows: Row[] = [
    ['state', resource.state, 'available'],
    ['evidenceExportId', resource.evidenceExportId, manifest.evidenceExportId],
    ['organizationId', resource.organizationId, manifest.organizationId],
    ['scope', resource.scope, manifest.scope],
    ['fromAtMs', resource.fromAtMs, manifest.fromAtMs],
    ['throughAtMs', resource.throughAtMs, manifest.throughAtMs],
    ['selectionDigest', resource.selectionDigest, manifest.selectionDigest],
    ['manifestDigest', resource.manifestDigest, manifestDigest],
    ['manifestBytes', resource.manifestBytes, String(manifestBytes)],
    ['bundleCount', resource.bundleCount, parts.length],
    [
      'localReportCount',
      resource.localReportCount,
      localReports.length === 0 ? undefined : localReports.length,
    ],
    ['archiveBytes', resource.archiveBytes, sumBytes([...parts, ...localReports].map((row) => row.bytes))],
  ];
  return rows
    .map(([field, stated, actual]) => ({ field, expected: show(actual), actual: show(stated) }))
    .filter(({ expected, actual }) => expected !== actual);
}

const show = (value: unknown): string =>
  value === undefined ? 'absent' : typeof value === 'string' ? value : canonicalJson(value);
