import type { Finding } from '../report.ts';
import type { Digest } from '../../bytes/index.ts';
import type { RunResult } from '../../contract/index.ts';
import {
  brokenBindings,
  BUNDLE_MANIFEST,
  type BundleManifest,
  objectOfRole,
  signedRoles,
  type Statement,
} from '../../evidence/index.ts';
import { finding } from '../finding.ts';

/** What is known of the bundle that a statement has to speak of. */
export type BundleFacts = {
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  /** Absent where only the manifest is at hand. */
  readonly runResult?: RunResult;
};

/**
 * Everything that the statement names and the evidence has otherwise (formats §2, Bound when signed).
 * @param digestPath where the statement names the digest of the manifest
 */
export function bindingFindings(
  subject: string,
  digestPath: string,
  statement: Statement,
  facts: BundleFacts,
): Finding[] {
  const found = missingRoles(subject, facts.manifest);
  for (const { field, expected, actual } of brokenBindings({ ...facts, statement })) {
    if (field === 'subject.manifestDigest') {
      const message = 'the statement speaks of another manifest';
      const digests = { expected: actual, actual: expected };
      found.push(finding('attestation.SUBJECT_MISMATCH', subject, { path: digestPath, message, ...digests }));
    } else {
      const message = `the signed ${field} is not what the evidence has`;
      found.push(finding('bundle.BINDING_MISMATCH', subject, { path: field, message, expected, actual }));
    }
  }
  return found;
}

const missingRoles = (subject: string, manifest: BundleManifest): Finding[] =>
  signedRoles
    .filter((role) => objectOfRole(manifest, role) === undefined)
    .map((role) => {
      const message = `a signed bundle needs an object of role ${role}`;
      return finding('bundle.MANIFEST_INVALID', subject, { path: `${BUNDLE_MANIFEST}#/objects`, message });
    });
