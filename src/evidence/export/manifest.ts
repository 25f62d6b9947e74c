import * as z from 'zod/mini';
import { canonicalBytes, canonicalJson } from '../../bytes/json/canonical.ts';
import { checkArguments, TEXT } from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import {
  countSchema,
  decimalBytesSchema,
  digestSchema,
  evidenceBundleIdSchema,
  evidenceExportIdSchema,
  localReportIdSchema,
  msSchema,
  organizationIdSchema,
  projectIdSchema,
} from '../../contract/scalars.ts';
import {
  type EvidenceExport,
  evidenceExportSchema,
  exportScopeSchema,
} from '../../contract/resources/evidence.ts';
import { documentParser, pathSchema } from '../document.ts';
import { type BrokenBinding, type Comparison, listUnequal } from '../bundle/statement.ts';

/**
 * The path of a part in an export (formats §1, Export).
 * @throws TypeError for anything that is not a string
 * @example
 * partPath('evidence_000000000001') === 'parts/evidence_000000000001.zip';
 */
export function partPath(evidenceBundleId: string): string {
  checkArguments({ evidenceBundleId: TEXT }, { evidenceBundleId });
  return `parts/${evidenceBundleId}.zip`;
}
export const localReportPath = (localReportId: string): string => `local-reports/${localReportId}.zip`;

const rowMembers = {
  ordinal: countSchema,
  projectId: projectIdSchema,
  path: pathSchema,
  digest: digestSchema,
  bytes: decimalBytesSchema,
  manifestDigest: digestSchema,
};
const partRowSchema = z.strictObject({
  ...rowMembers,
  evidenceBundleId: evidenceBundleIdSchema,
  signed: z.boolean(),
});
const reportRowSchema = z.strictObject({
  ...rowMembers,
  localReportId: localReportIdSchema,
  expandedBytes: decimalBytesSchema,
});

export type PartRow = z.infer<typeof partRowSchema>;
export type LocalReportRow = z.infer<typeof reportRowSchema>;

/** The export manifest (formats §1): closed, two ordinal sequences, each from 0 without a gap. */
export const exportManifestSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('evidence.export'),
    evidenceExportId: evidenceExportIdSchema,
    organizationId: organizationIdSchema,
    scope: exportScopeSchema,
    fromAtMs: msSchema,
    throughAtMs: msSchema,
    selectionDigest: digestSchema,
    parts: z.array(partRowSchema),
    localReports: z.array(reportRowSchema),
  })
  .check(({ value, issues }) => {
    const add = (path: PropertyKey[], message: string): void => {
      issues.push({ code: 'custom', input: value, path, message });
    };
    const rows = {
      parts: value.parts.map((row) => ({ row, id: row.evidenceBundleId, pathOf: partPath })),
      localReports: value.localReports.map((row) => ({
        row,
        id: row.localReportId,
        pathOf: localReportPath,
      })),
    };
    checkRows(rows.parts, 'parts', value.scope, add);
    checkRows(rows.localReports, 'localReports', value.scope, add);
    if (value.throughAtMs < value.fromAtMs) add(['throughAtMs'], 'the window ends before it begins');
  });

/**
 * The `manifest.json` of an export (formats §1): its scope, its time window (ms since 1970), and the path, digest and
 * size of each part and local report. Sizes are decimal strings of bytes.
 */
export type ExportManifest = z.infer<typeof exportManifestSchema>;
type Scope = ExportManifest['scope'];
type Row = { row: PartRow | LocalReportRow; id: string; pathOf: (id: string) => string };

function checkRows(
  rows: readonly Row[],
  member: string,
  scope: Scope,
  add: (path: PropertyKey[], message: string) => void,
): void {
  const twins = new Set<string>();
  for (const [i, { row, id, pathOf }] of rows.entries()) {
    if (row.ordinal !== i) add([member, i, 'ordinal'], `the ordinal is not ${i}`);
    if (row.path !== pathOf(id)) add([member, i, 'path'], `the path is not ${pathOf(id)}`);
    if (twins.has(id.toLowerCase())) add([member, i], `the id ${id} occurs twice`);
    twins.add(id.toLowerCase());
    if (!Number.isSafeInteger(Number(row.bytes)))
      add([member, i, 'bytes'], 'more bytes than a file can have');
    if (scope.kind === 'project' && row.projectId !== scope.projectId) {
      add([member, i, 'projectId'], 'the project is not that of the scope');
    }
  }
}

/**
 * Parses the manifest of an export, which must be canonical JSON (formats §1, Export manifest).
 * @throws DrillproofError `export.MANIFEST_INVALID`, `json.NOT_CANONICAL`, and what `parseJson` throws
 * @throws LimitError `export.PARTS_EXCEEDED`
 * @example
 * const { parts } = parseExportManifest(await readFile('export/manifest.json'));
 */
export const parseExportManifest = documentParser<ExportManifest>({
  schema: exportManifestSchema,
  code: 'export.MANIFEST_INVALID',
  canonical: true,
  limit: 'manifestBytes',
  rows: {
    parts: { schema: partRowSchema, limit: { name: 'parts', code: 'export.PARTS_EXCEEDED' } },
    localReports: { schema: reportRowSchema, limit: { name: 'parts', code: 'export.PARTS_EXCEEDED' } },
  },
});

/** The digest of the selected bundles and reports, in their order (formats §1). */
export function selectionDigest(
  parts: readonly Pick<PartRow, 'evidenceBundleId' | 'manifestDigest'>[],
  reports: readonly Pick<LocalReportRow, 'localReportId' | 'manifestDigest'>[],
): Digest {
  return digestOf(
    canonicalBytes([
      ...parts.map(({ evidenceBundleId, manifestDigest }) => ({ evidenceBundleId, manifestDigest })),
      ...reports.map(({ localReportId, manifestDigest }) => ({ localReportId, manifestDigest })),
    ]),
  );
}

/** Sum of decimal byte strings, exact at any size. */
export const sumBytes = (counts: Iterable<string>): string => {
  let sum = 0n;
  for (const count of counts) sum += BigInt(count);
  return sum.toString();
};

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

function compareWithManifest(
  resource: EvidenceExport,
  manifest: ExportManifest,
  manifestDigest: Digest,
  manifestBytes: number,
): Comparison[] {
  const { parts, localReports } = manifest;
  return [
    ['state', 'available', resource.state],
    ['evidenceExportId', manifest.evidenceExportId, resource.evidenceExportId],
    ['organizationId', manifest.organizationId, resource.organizationId],
    ['scope', canonicalJson(manifest.scope), canonicalJson(resource.scope)],
    ['fromAtMs', manifest.fromAtMs, resource.fromAtMs],
    ['throughAtMs', manifest.throughAtMs, resource.throughAtMs],
    ['selectionDigest', manifest.selectionDigest, resource.selectionDigest],
    ['manifestDigest', manifestDigest, resource.manifestDigest],
    ['manifestBytes', String(manifestBytes), resource.manifestBytes],
    ['bundleCount', parts.length, resource.bundleCount],
    [
      'localReportCount',
      localReports.length === 0 ? undefined : localReports.length,
      resource.localReportCount,
    ],
    ['archiveBytes', sumBytes([...parts, ...localReports].map((row) => row.bytes)), resource.archiveBytes],
  ];
}

type ResourceFacts = Parameters<typeof compareWithManifest>;

/** The fields of the resource that differ from the manifest (formats §1, Export manifest). */
export const listResourceDifferences = (...facts: ResourceFacts): BrokenBinding[] =>
  listUnequal(compareWithManifest(...facts));

/** The members of the resource that its manifest does not fix, so nothing signs them (formats §4, Coverage). */
export function listResourceClaims(...facts: ResourceFacts): Map<string, unknown> {
  const fixed = new Set(['schemaVersion', ...compareWithManifest(...facts).map(([field]) => field)]);
  return new Map(Object.entries(facts[0]).filter(([name]) => !fixed.has(name)));
}
