import type { Digest } from '../../bytes/hash.ts';
import type { RunResult } from '../../contract/resources/run.ts';
import { listBrokenBindings } from '../../evidence/bundle/statement.ts';
import { BUNDLE_MANIFEST } from '../../evidence/bundle/part.ts';
import { type BundleManifest, objectOfRole, signedRoles } from '../../evidence/bundle/manifest.ts';
import type { ExportManifest } from '../../evidence/export/manifest.ts';
import type { ExportStatement, Statement } from '../../evidence/bundle/attestation.ts';
import { finding } from '../finding.ts';
import type { Finding } from '../report.ts';

/** The bundle that a statement must be about. */
export type BundleFacts = {
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  /** Absent if only the manifest is available. */
  readonly runResult?: RunResult;
};

/**
 * Compares every fact of a statement with the bundle (formats §2, Bound when signed).
 * @param digestPath the path of the manifest digest in the statement
 */
export function checkBundleBinding(
  subject: string,
  digestPath: string,
  statement: Statement,
  facts: BundleFacts,
): Finding[] {
  const findings = listMissingRoles(subject, facts.manifest);
  for (const { field, expected, actual } of listBrokenBindings({ ...facts, statement })) {
    if (field === 'subject.manifestDigest') {
      const message = 'the statement names a different manifest';
      const detail = { path: digestPath, message, expected: actual, actual: expected };
      findings.push(finding('attestation.SUBJECT_MISMATCH', subject, detail));
    } else {
      const message = `the signed ${field} does not match the evidence`;
      findings.push(finding('bundle.BINDING_MISMATCH', subject, { path: field, message, expected, actual }));
    }
  }
  return findings;
}

const listMissingRoles = (subject: string, manifest: BundleManifest): Finding[] =>
  signedRoles
    .filter((role) => objectOfRole(manifest, role) === undefined)
    .map((role) => {
      const message = `a signed bundle needs an object of role ${role}`;
      return finding('bundle.MANIFEST_INVALID', subject, { path: `${BUNDLE_MANIFEST}#/objects`, message });
    });

/** The export that a statement must be about. */
export type ExportFacts = { readonly manifest: ExportManifest; readonly manifestDigest: Digest };

/** Compares the signed subject, which is at `subjectPath`, with the export. */
export function checkExportBinding(
  subject: string,
  subjectPath: string,
  statement: ExportStatement,
  { manifest: { evidenceExportId, organizationId }, manifestDigest }: ExportFacts,
): Finding[] {
  const facts = { evidenceExportId, organizationId, manifestDigest };
  return Object.entries(facts).flatMap(([field, expected]) => {
    const actual = statement.subject[field as keyof typeof facts];
    const detail = { path: `${subjectPath}/${field}`, expected, actual };
    const message = `the export attestation names a different ${field}`;
    return actual === expected
      ? []
      : [finding('export.ATTESTATION_SUBJECT_MISMATCH', subject, { ...detail, message })];
  });
}
