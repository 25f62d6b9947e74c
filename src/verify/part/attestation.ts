import { digestOf } from '../../bytes/index.ts';
import type { Attestation } from '../../contract/index.ts';
import {
  ATTESTATION,
  type BundleManifest,
  findEntry,
  parseAttestation,
  readEntry,
  type Statement,
} from '../../evidence/index.ts';
import { keyIdOf, type TrustedKey } from '../../trust/index.ts';
import type { ZipArchive } from '../../zip/index.ts';
import { signedOf } from '../signature/attestation.ts';
import { verifySigned } from '../signature/signed.ts';
import { skipAll } from '../check.ts';
import { checksWaitingFor } from '../checks.ts';
import { bindingFindings } from './binding.ts';
import { requestedChecks, skipWaiting, type Bundle } from './state.ts';
import { dsseOnBundle, verifyGivenEnvelopes } from '../signature/dsse.ts';
import { finding, findingsOf } from '../finding.ts';
import type { SigningKey } from '../report.ts';

/**
 * `attestation.*` and `dsse.attestation`: who signed the bundle, and whether everything that is signed is bound to what
 * is here.
 */
export async function checkAttestation(
  bundle: Bundle,
  manifest: BundleManifest,
  archive: ZipArchive,
): Promise<void> {
  await checkOwnAttestation(bundle, manifest, archive);
  checkGivenEnvelopes(bundle, manifest);
}

async function checkOwnAttestation(
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
    return skipWaiting(bundle, 'attestation.format', 'there is no attestation that could be read');
  }
  const { projectId, organizationId } = manifest;
  const scope = { purpose: 'evidence', projectId, organizationId } as const;
  const result = verifySigned(signedOf(bundle.attestation), scope, { subject, path: ATTESTATION, settings });
  ledger.include(result);
  bundle.signer = result.signer;
  bundle.signers = signingKeys('attestation', bundle.attestation.statement, result.keys);
  bundle.reproduction = bundle.attestation.statement.subject.reproduction;
  checkBinding(bundle, manifest, bundle.attestation);
}

/** What the caller gave beside the part, which stands for an attestation in it where there is none (formats §2, DSSE). */
function checkGivenEnvelopes(bundle: Bundle, manifest: BundleManifest): void {
  const { ledger, settings, subject, envelopes, manifestDigest, runResult } = bundle;
  if (envelopes.length === 0) return;
  if (manifestDigest === undefined || runResult === undefined) {
    const reason = 'there is no manifest and run result that could be read';
    return ledger.skipped('dsse.attestation', 'not_checked', reason);
  }
  const about = dsseOnBundle(subject, { manifest, manifestDigest, runResult });
  const signers = [...bundle.signers];
  const results = verifyGivenEnvelopes(ledger, envelopes, { about, subject, settings });
  for (const { signer, statement, keys } of results) {
    bundle.signer ??= signer;
    if (statement === undefined) continue;
    signers.push(...signingKeys('dsse', statement, keys));
    bundle.reproduction ??= statement.subject.reproduction;
  }
  bundle.signers = signers;
}

/** The keys that vouch for a statement: each signature under its own name, at the time that the statement states. */
const signingKeys = (
  place: SigningKey['in'],
  { issuedAtMs }: Statement,
  keys: readonly TrustedKey[],
): SigningKey[] =>
  keys.map(({ issuer, keyId, point }) => ({
    issuer,
    keyId,
    issuedAtMs,
    thumbprint: keyIdOf(point),
    in: place,
  }));

function unsigned(bundle: Bundle): void {
  const { ledger, subject, envelopes } = bundle;
  const alone = envelopes.length === 0;
  const message = alone ? 'nobody signed this bundle' : 'the bundle carries no attestation';
  const waiting = checksWaitingFor('attestation.format', requestedChecks(bundle));
  skipAll(ledger, ['attestation.format', ...waiting], 'not_applicable', message);
  if (alone) ledger.note([finding('bundle.UNSIGNED', subject, { message })]);
}

function checkBinding(bundle: Bundle, manifest: BundleManifest, { statement }: Attestation): void {
  const { ledger, subject, manifestDigest, runResult } = bundle;
  if (manifestDigest === undefined)
    return ledger.skipped('attestation.binding', 'not_checked', 'there is no manifest that could be read');
  const path = `${ATTESTATION}#/statement/subject/manifestDigest`;
  const known = { manifest, manifestDigest, ...(runResult !== undefined && { runResult }) };
  const found = bindingFindings(subject, path, statement, known);
  if (runResult !== undefined) {
    ledger.ran('attestation.binding', found);
    return;
  }
  // Which bundle it speaks of is plain; of the hashes nothing is said while one of the objects could not be read.
  ledger.note(found.filter(({ code }) => code !== 'bundle.BINDING_MISMATCH'));
  ledger.skipped('attestation.binding', 'not_checked', 'there is no run result that could be read');
}
