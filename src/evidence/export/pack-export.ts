import { canonicalBytes } from '../../bytes/json/canonical.ts';
import {
  AMOUNT,
  checkArguments,
  defined,
  listOf,
  OBJECT,
  optional,
  TEXT,
  withMembers,
} from '../../bytes/arguments.ts';
import { compareUtf8, toUtf8 } from '../../bytes/text/encoding.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import {
  EXPORT_PREDICATE_TYPE,
  type ExportAttestation,
  exportAttestationSchema,
} from '../../contract/resources/attestation.ts';
import { type EvidenceExport, evidenceExportSchema } from '../../contract/resources/evidence.ts';
import { type Signer, SIGNING } from '../../trust/key/signer.ts';
import { attest, typeStatement, type ExportStatement } from '../bundle/attestation.ts';
import { documentError, typeDocument, type DocumentIssue } from '../document.ts';
import {
  exportManifestSchema,
  localReportPath,
  partPath,
  selectionDigest,
  sumBytes,
  type ExportManifest,
} from './manifest.ts';
import type { PartFacts } from '../bundle/part.ts';

/** Names of the documents of an export (formats §1, Export). */
export const EXPORT_MANIFEST = 'manifest.json';
export const EXPORT_RESOURCE = 'export.json';
export const EXPORT_ATTESTATION = 'export-attestation.json';

/** The facts of a local report, whose archive is opaque. The user who uploaded it claims the last two. */
export type LocalReportFacts = {
  readonly localReportId: string;
  readonly projectId: string;
  readonly createdAtMs: number;
  readonly digest: Digest;
  readonly bytes: number;
  readonly manifestDigest: string;
  readonly expandedBytes: string;
};

/**
 * The input of `packExport`: the ids, scope and time window (ms since 1970) of an export, and the facts of its parts and
 * local reports (formats §1, Export manifest).
 */
export type ExportInput = Pick<ExportManifest, 'evidenceExportId' | 'organizationId' | 'scope'> & {
  /** The window: `fromAtMs` ≤ `createdAtMs` < `throughAtMs` for everything in it. */
  readonly fromAtMs: number;
  readonly throughAtMs: number;
  readonly operationId: string;
  readonly requestedBy: string;
  readonly createdAtMs: number;
  readonly completedAtMs: number;
  readonly parts: readonly PartFacts[];
  readonly localReports: readonly LocalReportFacts[];
};

export type ListSigning = { readonly signer: Signer; readonly issuer: string; readonly issuedAtMs: number };

const EXPORT_INPUT = withMembers('an ExportInput', {
  evidenceExportId: TEXT,
  organizationId: TEXT,
  fromAtMs: AMOUNT,
  throughAtMs: AMOUNT,
  parts: listOf(withMembers('a PartFacts', { manifest: OBJECT, totalBytes: AMOUNT })),
  localReports: listOf(OBJECT),
});

/** The documents of an export, to be written next to the parts and reports that they list (formats §1, Export). */
export type PackedExport = {
  readonly manifest: ExportManifest;
  readonly manifestDigest: Digest;
  readonly resource: EvidenceExport;
  readonly attestation?: ExportAttestation;
  /** Every document by its path, in the order of a one-file export. */
  readonly documents: readonly { readonly path: string; readonly bytes: Uint8Array }[];
};

/**
 * Makes the documents of an export from the facts of its parts and local reports, which it sorts (formats §1, Export
 * manifest).
 * @param signing the signer, its issuer and `issuedAtMs` (ms since 1970); without it the list is unsigned
 * @throws DrillproofError `pack.INPUT_INVALID` with `details.issues` if the input breaks a rule of the format
 * @example
 * const parts = [await readPartFacts(await openFile('part.zip'))];
 * const { documents } = await packExport({ ...exportInput, parts });
 * for (const { path, bytes } of documents) await writeFile(`export/${path}`, bytes);
 */
export async function packExport(input: ExportInput, signing?: ListSigning): Promise<PackedExport> {
  checkArguments({ input: EXPORT_INPUT, signing: optional(SIGNING) }, { input, signing });
  refuseForeign(input);
  const manifest = buildManifest(input);
  const manifestBytes = canonicalBytes(manifest);
  const manifestDigest = digestOf(manifestBytes);
  const resource = buildResource(input, manifest, manifestDigest, manifestBytes.length);
  const attestation =
    signing && (await attest(buildExportStatement(manifest, manifestDigest, signing), signing.signer));
  const documents = [
    { path: EXPORT_MANIFEST, bytes: manifestBytes },
    { path: EXPORT_RESOURCE, bytes: toUtf8(`${JSON.stringify(resource, null, 2)}\n`) },
  ];
  if (attestation !== undefined)
    documents.push({ path: EXPORT_ATTESTATION, bytes: canonicalBytes(attestation) });
  return {
    manifest,
    manifestDigest,
    resource,
    ...defined({ attestation }),
    documents,
  };
}

function refuseForeign({ organizationId, fromAtMs, throughAtMs, parts, localReports }: ExportInput): void {
  const issues: DocumentIssue[] = [];
  const rows = [
    ...parts.map(({ manifest }) => ({ id: manifest.evidenceBundleId, createdAtMs: manifest.createdAtMs })),
    ...localReports.map(({ localReportId, createdAtMs }) => ({ id: localReportId, createdAtMs })),
  ];
  for (const { id, createdAtMs } of rows) {
    if (createdAtMs < fromAtMs || createdAtMs >= throughAtMs) {
      issues.push({
        path: id,
        message: `${id} was created at ${createdAtMs}, outside the window of the export`,
      });
    }
  }
  for (const { manifest } of parts) {
    if (manifest.organizationId === organizationId) continue;
    const message = `${manifest.evidenceBundleId} belongs to ${manifest.organizationId}, not to ${organizationId}`;
    issues.push({ path: manifest.evidenceBundleId, message });
  }
  if (issues.length > 0) throw documentError('pack.INPUT_INVALID', issues);
}

/** The rows in the order of selection: by time of creation, then by id. */
const inOrder = <T extends object>(
  rows: readonly { readonly createdAtMs: number; readonly id: string; readonly row: T }[],
): (T & { ordinal: number })[] =>
  rows
    .toSorted((a, b) => a.createdAtMs - b.createdAtMs || compareUtf8(a.id, b.id))
    .map(({ row }, ordinal) => ({ ordinal, ...row }));

function buildManifest(input: ExportInput): ExportManifest {
  const { evidenceExportId, organizationId, scope, fromAtMs, throughAtMs } = input;
  const partRows = input.parts.map(({ manifest, manifestDigest, signed, digest, bytes }) => {
    const { evidenceBundleId: id, projectId, createdAtMs } = manifest;
    const facts = { projectId, path: partPath(id), digest, bytes: String(bytes), manifestDigest, signed };
    return { createdAtMs, id, row: { evidenceBundleId: id, ...facts } };
  });
  const reportRows = input.localReports.map(({ createdAtMs, bytes, ...report }) => {
    const { localReportId: id } = report;
    return { createdAtMs, id, row: { ...report, path: localReportPath(id), bytes: String(bytes) } };
  });
  const parts = inOrder(partRows);
  const localReports = inOrder(reportRows);
  return typeDocument(
    {
      schemaVersion: 1,
      kind: 'evidence.export',
      evidenceExportId,
      organizationId,
      scope,
      fromAtMs,
      throughAtMs,
      selectionDigest: selectionDigest(parts, localReports),
      parts,
      localReports,
    },
    { schema: exportManifestSchema, code: 'pack.INPUT_INVALID' },
  );
}

function buildResource(
  input: ExportInput,
  manifest: ExportManifest,
  manifestDigest: Digest,
  manifestBytes: number,
): EvidenceExport {
  const { kind: _kind, parts, localReports, ...shared } = manifest;
  const reports = localReports.length === 0 ? undefined : localReports.length;
  return typeDocument(
    {
      ...shared,
      operationId: input.operationId,
      state: 'available',
      requestedBy: input.requestedBy,
      bundleCount: parts.length,
      completedBundleCount: parts.length,
      sourceBytes: sumBytes([
        ...input.parts.map((part) => String(part.totalBytes)),
        ...localReports.map((report) => report.expandedBytes),
      ]),
      archiveBytes: sumBytes([...parts, ...localReports].map((row) => row.bytes)),
      createdAtMs: input.createdAtMs,
      updatedAtMs: input.completedAtMs,
      ...defined({ localReportCount: reports, completedLocalReportCount: reports }),
      manifestDigest,
      manifestBytes: String(manifestBytes),
      completedAtMs: input.completedAtMs,
    },
    { schema: evidenceExportSchema, code: 'pack.INPUT_INVALID' },
  );
}

/** Builds the statement about an export manifest (formats §2, Export attestation). */
export function buildExportStatement(
  { evidenceExportId, organizationId }: ExportManifest,
  manifestDigest: Digest,
  { signer, issuer, issuedAtMs }: ListSigning,
): ExportStatement {
  return typeStatement(exportAttestationSchema, {
    schemaVersion: 1,
    predicateType: EXPORT_PREDICATE_TYPE,
    issuer,
    keyId: signer.keyId,
    issuedAtMs,
    subject: { evidenceExportId, organizationId, manifestDigest },
  });
}
