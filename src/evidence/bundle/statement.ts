import type { Digest } from '../../bytes/index.ts';
import { attestationSchema, EVIDENCE_PREDICATE_TYPE, type RunResult } from '../../contract/index.ts';
import type { Signer } from '../../trust/index.ts';
import { typeStatement, type Statement } from './attestation.ts';
import { brokenBindings, reproductionOf } from './bindings.ts';
import { objectOfRole, signedRoles, SIGNED_ROLES, type BundleManifest } from './manifest.ts';
import { brokenDocument } from '../document.ts';

/** Who signs, and when. */
export type BundleSigning = {
  readonly signer: Signer;
  readonly issuer: string;
  readonly issuedAtMs: number;
  /** Default `urn:drillproof:attestation:evidence:v1`. */
  readonly predicateType?: string;
  /** For a rerun: the counters of the run that it reproduces. */
  readonly original?: Pick<RunResult['identity'], 'trial' | 'trialCount' | 'attempt' | 'attemptLimit'>;
};

/**
 * The statement that a signer makes about a bundle: everything that formats §2, *Bound when signed*, binds, taken from
 * the evidence itself.
 * @throws DrillproofError `pack.INPUT_INVALID` when a role is missing or the evidence contradicts itself
 */
export function bundleStatement(
  manifest: BundleManifest,
  manifestDigest: Digest,
  runResult: RunResult,
  signing: BundleSigning,
): Statement {
  refuseMissingRoles(manifest);
  const statement = statementOf(manifest, manifestDigest, runResult, signing);
  const broken = brokenBindings({ manifest, manifestDigest, runResult, statement });
  if (broken.length === 0) return statement;
  const issues = broken.map(({ field, expected, actual }) => ({
    path: field,
    message: `${field} would be signed as ${expected}, but the evidence has ${actual}`,
  }));
  throw brokenDocument('pack.INPUT_INVALID', issues);
}

/** @throws DrillproofError `pack.INPUT_INVALID` unless every role that is signed has its object */
export function refuseMissingRoles(manifest: BundleManifest): void {
  const missing = signedRoles.filter((role) => objectOfRole(manifest, role) === undefined);
  if (missing.length === 0) return;
  const issues = missing.map((role) => ({
    path: '/objects',
    message: `a signed bundle needs an object of role ${role}`,
  }));
  throw brokenDocument('pack.INPUT_INVALID', issues);
}

function statementOf(
  manifest: BundleManifest,
  manifestDigest: Digest,
  runResult: RunResult,
  signing: BundleSigning,
): Statement {
  const hash = (role: (typeof signedRoles)[number]): string => objectOfRole(manifest, role)!.digest;
  const hashes = Object.fromEntries(signedRoles.map((role) => [SIGNED_ROLES[role], hash(role)]));
  const { runResultHash = '', evidenceHash = '', stateHash = '', trajectoryHash = '' } = hashes;
  return typeStatement(attestationSchema, {
    schemaVersion: 1,
    predicateType: signing.predicateType ?? EVIDENCE_PREDICATE_TYPE,
    issuer: signing.issuer,
    keyId: signing.signer.keyId,
    issuedAtMs: signing.issuedAtMs,
    subject: {
      manifestDigest,
      runId: manifest.runId,
      reproduction: reproductionOf(runResult.identity, signing.original),
      runResultHash,
      evidenceHash,
      stateHash,
      trajectoryHash,
    },
  });
}
