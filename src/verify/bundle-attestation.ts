import { digestOf } from '../bytes/hash.ts';
import type { Attestation } from '../contract/index.ts';
import {
  ATTESTATION,
  brokenBindings,
  BUNDLE_MANIFEST,
  findEntry,
  objectOfRole,
  parseAttestation,
  readEntry,
  signedRoles,
  type BundleManifest,
} from '../evidence/index.ts';
import type { ZipArchive } from '../zip/index.ts';
import { judgeSignature } from './attestation.ts';
import { skipFrom, type Bundle } from './bundle-state.ts';
import { finding, findingsOf, type Finding } from './finding.ts';

/** `attestation.*`: who signed the bundle, and whether everything that is signed is bound to what is here. */
export async function checkAttestation(
  bundle: Bundle,
  manifest: BundleManifest,
  archive: ZipArchive,
): Promise<void> {
  const { ledger, settings, subject } = bundle;
  const entry = findEntry(archive, ATTESTATION);
  if (entry === undefined) return unsigned(bundle);
  try {
    const bytes = await readEntry(archive, entry, settings.limits.documentBytes);
    bundle.read.set(entry.name, { bytes: bytes.length, digest: digestOf(bytes) });
    bundle.attestation = parseAttestation(bytes, settings.limits);
  } catch (error) {
    ledger.ran('attestation.format', findingsOf(error, subject, ATTESTATION));
    return skipFrom(bundle, 'attestation.key', 'there is no attestation that could be read');
  }
  const { signature, statement } = bundle.attestation;
  const { projectId, organizationId } = manifest;
  const signed = { signature, statement, purpose: 'evidence' as const, projectId, organizationId };
  const judged = judgeSignature(ledger, subject, ATTESTATION, signed, settings);
  if (judged.signer !== undefined) bundle.signer = judged.signer;
  checkBinding(bundle, manifest, bundle.attestation);
}

function unsigned({ ledger, subject }: Bundle): void {
  const message = 'nobody signed this bundle';
  for (const id of [
    'attestation.format',
    'attestation.key',
    'attestation.signature',
    'attestation.binding',
  ] as const) {
    ledger.skipped(id, 'not_applicable', message);
  }
  ledger.note([finding('bundle.UNSIGNED', subject, { message })]);
}

function checkBinding(bundle: Bundle, manifest: BundleManifest, { statement }: Attestation): void {
  const { ledger, subject, manifestDigest, runResult } = bundle;
  const found: Finding[] = signedRoles
    .filter((role) => objectOfRole(manifest, role) === undefined)
    .map((role) => {
      const message = `a signed bundle needs an object of role ${role}`;
      return finding('bundle.MANIFEST_INVALID', subject, { path: `${BUNDLE_MANIFEST}#/objects`, message });
    });
  if (statement.subject.manifestDigest !== manifestDigest) {
    const digests = { expected: manifestDigest ?? 'absent', actual: statement.subject.manifestDigest };
    const path = `${ATTESTATION}#/statement/subject/manifestDigest`;
    const message = 'the statement speaks of another manifest';
    found.push(finding('attestation.SUBJECT_MISMATCH', subject, { path, message, ...digests }));
  }
  if (manifestDigest === undefined || runResult === undefined) {
    ledger.note(found);
    ledger.skipped('attestation.binding', 'not_checked', 'there is no run result that could be read');
    return;
  }
  for (const { field, expected, actual } of brokenBindings({
    manifest,
    manifestDigest,
    runResult,
    statement,
  })) {
    if (field === 'subject.manifestDigest') continue; // told apart above
    const message = `the signed ${field} is not what the evidence has`;
    found.push(finding('bundle.BINDING_MISMATCH', subject, { path: field, message, expected, actual }));
  }
  ledger.ran('attestation.binding', found);
}
