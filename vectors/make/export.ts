import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import type { JsonObject, JsonValue } from '../../src/bytes/json/parse.ts';
import { EXPORT_ID } from '../../test/support/evidence.ts';
import { bundle, idOf, ORGANIZATION, PROJECT, signed, T, type Bundle } from './bundle.ts';
import { sha256Of, utf8 } from './bytes.ts';
import { ISSUER, keyId } from './keys.ts';
import { patched, type Patch } from './patch.ts';

export const EXPORT_TYPE = 'urn:drillproof:attestation:export:v1';
export { EXPORT_ID };

export type Files = Readonly<Record<string, Uint8Array>>;

export type ExportChoices = {
  /** Default: one signed bundle. */
  readonly bundles?: readonly Bundle[];
  /** How many local reports; default 1. */
  readonly reports?: number;
  /** Changes of `parts` and `localReports`, which the selection digest then covers. */
  readonly rows?: Patch;
  readonly manifest?: Patch;
  readonly resource?: Patch;
  /** The name of the key that signs the list; default `a`, `null` for nobody. */
  readonly signer?: string | null;
  readonly statement?: Patch;
  readonly attestation?: Patch;
  readonly files?: (files: Files) => Files;
};

export type Export = {
  readonly manifest: JsonObject;
  readonly manifestBytes: Uint8Array;
  readonly files: Files;
};

export const partPath = (n: number): string => `parts/${idOf('evidence', n)}.zip`;
export const reportPath = (n: number): string => `local-reports/${idOf('lrep', n)}.zip`;
const reportBytes = (n: number): Uint8Array => utf8(`local report ${n}`);

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

const partRow = (one: Bundle, ordinal: number): JsonObject => ({
  ordinal,
  evidenceBundleId: one.manifest['evidenceBundleId'] ?? '',
  projectId: one.manifest['projectId'] ?? '',
  path: `parts/${text(one.manifest['evidenceBundleId'])}.zip`,
  digest: sha256Of(one.zip),
  bytes: String(one.zip.length),
  manifestDigest: sha256Of(one.manifestBytes),
  signed: one.attestation !== undefined,
});

const reportRow = (n: number): JsonObject => ({
  ordinal: n - 1,
  localReportId: idOf('lrep', n),
  projectId: PROJECT,
  path: reportPath(n),
  digest: sha256Of(reportBytes(n)),
  bytes: String(reportBytes(n).length),
  manifestDigest: sha256Of(`manifest of report ${n}`),
  expandedBytes: '1000',
});

const objects = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value)
    ? value.filter((one): one is JsonObject => typeof one === 'object' && one !== null && !Array.isArray(one))
    : [];

const named = (id: string) => (row: JsonObject) => ({ [id]: row[id], manifestDigest: row['manifestDigest'] });

/** The digest over what is selected, from the rows as they are (formats §1, Selection). */
function selectionOf(parts: readonly JsonObject[], reports: readonly JsonObject[]): string {
  return sha256Of(
    canonicalBytes([...parts.map(named('evidenceBundleId')), ...reports.map(named('localReportId'))]),
  );
}

export function exportManifest(
  bundles: readonly Bundle[],
  reports: number,
  rows?: Patch,
  patch?: Patch,
): JsonObject {
  const lists = patched(
    {
      parts: bundles.map(partRow),
      localReports: Array.from({ length: reports }, (_, i) => reportRow(i + 1)),
    },
    rows,
  );
  return patched(
    {
      schemaVersion: 1,
      kind: 'evidence.export',
      evidenceExportId: EXPORT_ID,
      organizationId: ORGANIZATION,
      scope: { kind: 'project', projectId: PROJECT },
      fromAtMs: T - 20_000,
      throughAtMs: T,
      selectionDigest: selectionOf(objects(lists['parts']), objects(lists['localReports'])),
      ...lists,
    },
    patch,
  );
}

const sum = (values: readonly (JsonValue | undefined)[]): string =>
  values
    .reduce((total: bigint, value) => total + BigInt(/^\d*$/.test(text(value)) ? text(value) : 0), 0n)
    .toString();

/** The fields that an export resource shares with its manifest. */
const SHARED = [
  'evidenceExportId',
  'organizationId',
  'scope',
  'fromAtMs',
  'throughAtMs',
  'selectionDigest',
] as const;

export function resourceOf(
  manifest: JsonObject,
  manifestBytes: Uint8Array,
  bundles: readonly Bundle[],
): JsonObject {
  const [parts, reports] = [objects(manifest['parts']), objects(manifest['localReports'])];
  const source = bundles.map((one) => String(one.manifestBytes.length + one.artifactBytes));
  return {
    ...Object.fromEntries(SHARED.map((name) => [name, manifest[name] ?? null])),
    schemaVersion: 1,
    operationId: 'op_000000000001',
    state: 'available',
    requestedBy: 'vectors',
    bundleCount: parts.length,
    completedBundleCount: parts.length,
    sourceBytes: sum([...source, ...reports.map((row) => row['expandedBytes'])]),
    archiveBytes: sum([...parts, ...reports].map((row) => row['bytes'])),
    createdAtMs: T,
    updatedAtMs: T,
    completedAtMs: T,
    manifestDigest: sha256Of(manifestBytes),
    manifestBytes: String(manifestBytes.length),
    ...(reports.length > 0 && {
      localReportCount: reports.length,
      completedLocalReportCount: reports.length,
    }),
  };
}

export const listStatementOf = (
  manifest: JsonObject,
  manifestBytes: Uint8Array,
  signer: string,
): JsonObject => ({
  schemaVersion: 1,
  predicateType: EXPORT_TYPE,
  issuer: ISSUER,
  keyId: keyId(signer),
  issuedAtMs: T,
  subject: {
    evidenceExportId: manifest['evidenceExportId'] ?? '',
    organizationId: manifest['organizationId'] ?? '',
    manifestDigest: sha256Of(manifestBytes),
  },
});

/** An export that is sound but for what is chosen; what is made of a changed document follows from the changed one. */
export function makeExport(choices: ExportChoices = {}): Export {
  const { bundles = [bundle(1, { signer: 'a' })], reports = 1, signer = 'a' } = choices;
  const manifest = exportManifest(bundles, reports, choices.rows, choices.manifest);
  const manifestBytes = canonicalBytes(manifest);
  const files: Record<string, Uint8Array> = {
    'manifest.json': manifestBytes,
    'export.json': utf8(
      JSON.stringify(patched(resourceOf(manifest, manifestBytes, bundles), choices.resource), null, 2),
    ),
  };
  if (signer !== null) {
    const statement = patched(listStatementOf(manifest, manifestBytes, signer), choices.statement);
    files['export-attestation.json'] = canonicalBytes(
      patched(signed(statement, signer), choices.attestation),
    );
  }
  for (const one of bundles) files[`parts/${text(one.manifest['evidenceBundleId'])}.zip`] = one.zip;
  for (let n = 1; n <= reports; n++) files[reportPath(n)] = reportBytes(n);
  return { manifest, manifestBytes, files: choices.files?.(files) ?? files };
}

/** The members of `export.json` that the manifest does not fix. */
const CLAIMS = [
  'operationId',
  'requestedBy',
  'completedBundleCount',
  'completedLocalReportCount',
  'createdAtMs',
  'updatedAtMs',
  'completedAtMs',
];

/** The bytes of the claims with their commas, in a document without white space. */
export function countClaimBytes(files: Readonly<Record<string, Uint8Array>>): number {
  const resource = new TextDecoder().decode(files['export.json']);
  const members = Object.entries(JSON.parse(resource) as object).filter(([name]) => CLAIMS.includes(name));
  return members.reduce(
    (total, member) => total + JSON.stringify(Object.fromEntries([member])).length - 1,
    0,
  );
}
