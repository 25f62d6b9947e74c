import { defined } from '../../bytes/arguments.ts';
import type { Attestation, Reproduction } from '../../contract/resources/attestation.ts';
import type { RunResult } from '../../contract/resources/run.ts';
import { ATTESTATION, findEntry, readEntry } from '../../evidence/bundle/part.ts';
import { parseAttestation, type Statement } from '../../evidence/bundle/attestation.ts';
import { thumbprintOf, type TrustedKey } from '../../trust/trusted-key.ts';
import { finding, findingsOf } from '../finding.ts';
import { findStamp } from '../options.ts';
import { findEarliest } from '../timestamps.ts';
import type { SignedBy, SigningKey, Stamp } from '../report.ts';

import { checkBundleBinding } from '../signature/binding.ts';
import { describeBundleEnvelope, verifyGivenEnvelopes } from '../signature/dsse.ts';
import { buildSigned, verifySigned, verifySignedAhead } from '../signature/signed.ts';
import {
  NOTHING,
  endCheck,
  endRemaining,
  joinSteps,
  noteFindings,
  recordCheck,
  type Step,
  type StepOf,
} from '../step.ts';
import { listWaitingPartChecks, type BundleContext } from './context.ts';
import { checkRunTime } from './run.ts';

/** The signers of a bundle, and the reproduction that the statement names. */
type Signing = {
  readonly signer?: SignedBy;
  readonly signers: readonly SigningKey[];
  readonly reproduction?: Reproduction;
};

/** The result for the attestations of a bundle; with `attestation.json` and its bytes, if they could be read. */
export type ReadAttestation = Signing & { readonly bytes?: Uint8Array; readonly document?: Attestation };

/**
 * `attestation.*` and `dsse.attestation`: finds the signers of the bundle and compares the signed facts with it.
 * @param runResult absent where it could not be read
 */
export async function checkAttestation(
  bundle: BundleContext,
  runResult: RunResult | undefined,
): Promise<StepOf<ReadAttestation>> {
  const internal = await checkBundleAttestation(bundle, runResult);
  const external = checkGivenEnvelopes(bundle, runResult);
  const value = defined({
    bytes: internal.value.bytes,
    document: internal.value.document,
    signer: internal.value.signer ?? external.value.signer,
    signers: [...internal.value.signers, ...external.value.signers],
    reproduction: internal.value.reproduction ?? external.value.reproduction,
  });
  return { ...joinSteps([internal, external]), value };
}

async function checkBundleAttestation(
  bundle: BundleContext,
  runResult: RunResult | undefined,
): Promise<StepOf<ReadAttestation>> {
  const { archive, manifest, settings, subject } = bundle;
  const entry = findEntry(archive, ATTESTATION);
  if (entry === undefined) return { ...skipUnsigned(bundle), value: { signers: [] } };
  let bytes;
  let attestation;
  try {
    bytes = await readEntry(archive, entry, settings.limits.documentBytes);
    attestation = parseAttestation(bytes, settings.limits);
  } catch (error) {
    const format = recordCheck('attestation.format', findingsOf(error, subject, ATTESTATION));
    const waiting = listWaitingPartChecks('attestation.format', bundle);
    const reason = 'the attestation could not be read';
    return {
      ...endRemaining(format, waiting, 'not_checked', reason),
      value: defined({ bytes, signers: [] }),
    };
  }
  const { projectId, organizationId } = manifest;
  const { statement } = attestation;
  const scope = { purpose: 'evidence', projectId, organizationId } as const;
  const signed = buildSigned(attestation, bytes);
  const verify = await verifySignedAhead(signed, settings);
  const alone = bundle.listed === undefined ? findStamp(settings, bytes) : undefined;
  const stamp = findEarliest([bundle.stamp, alone]);
  const result = verifySigned(signed, scope, { subject, path: ATTESTATION, settings, verify, stamp });
  const value = defined({
    bytes,
    document: attestation,
    signer: result.signer,
    signers: listSigningKeys('attestation', statement, { keys: result.keys, stamp }),
    reproduction: statement.subject.reproduction,
  });
  const time = checkRunTime(subject, ATTESTATION, manifest.createdAtMs, statement.issuedAtMs);
  const binding = [checkBinding(bundle, statement, runResult), recordCheck('attestation.binding', time)];
  return { ...joinSteps([result, ...binding]), value };
}

/** A bundle without an attestation is signed by the envelopes from the caller, or not at all. */
function skipUnsigned(bundle: BundleContext): Step {
  const alone = bundle.envelopes.length === 0;
  const message = alone ? 'no one signed this bundle' : 'the bundle has no attestation';
  const ids = ['attestation.format', ...listWaitingPartChecks('attestation.format', bundle)] as const;
  const unsigned = alone ? [finding('bundle.UNSIGNED', bundle.subject, { message })] : [];
  return endRemaining(noteFindings(unsigned), ids, 'not_applicable', message);
}

/** `attestation.binding` */
function checkBinding(bundle: BundleContext, statement: Statement, runResult: RunResult | undefined): Step {
  const { subject, manifest, manifestDigest } = bundle;
  const path = `${ATTESTATION}#/statement/subject/manifestDigest`;
  const facts = defined({ manifest, manifestDigest, runResult });
  const findings = checkBundleBinding(subject, path, statement, facts);
  if (runResult !== undefined) return recordCheck('attestation.binding', findings);
  // The subject can still be compared; the signed hashes cannot while an object is unreadable.
  const mismatches = findings.filter(({ code }) => code !== 'bundle.BINDING_MISMATCH');
  const reason = 'the run result could not be read';
  return joinSteps([noteFindings(mismatches), endCheck('attestation.binding', 'not_checked', reason)]);
}

/** `dsse.attestation`: verifies the envelopes from the caller, if any (formats §2, DSSE). */
function checkGivenEnvelopes(bundle: BundleContext, runResult: RunResult | undefined): StepOf<Signing> {
  const { settings, subject, envelopes, manifest, manifestDigest } = bundle;
  if (envelopes.length === 0) return { ...NOTHING, value: { signers: [] } };
  if (runResult === undefined) {
    const reason = 'the run result could not be read';
    return { ...endCheck('dsse.attestation', 'not_checked', reason), value: { signers: [] } };
  }
  const kind = describeBundleEnvelope(subject, { manifest, manifestDigest, runResult });
  const { value: results, ...step } = verifyGivenEnvelopes(envelopes, kind, { subject, settings });
  const value = defined({
    signer: results.find(({ signer }) => signer !== undefined)?.signer,
    signers: results.flatMap(({ statement, ...signed }) =>
      statement === undefined ? [] : listSigningKeys('dsse', statement, signed),
    ),
    reproduction: results.find(({ statement }) => statement !== undefined)?.statement?.subject.reproduction,
  });
  const times = results.flatMap(({ statement }) =>
    statement === undefined ? [] : checkRunTime(subject, 'dsse', manifest.createdAtMs, statement.issuedAtMs),
  );
  return { ...joinSteps([step, noteFindings(times)]), value };
}

/** A revoked key ends with its revocation. */
const findKeyEnd = ({ notAfterMs = Infinity, revokedAtMs = Infinity }: TrustedKey): number | null => {
  const end = Math.min(notAfterMs, revokedAtMs);
  return end === Infinity ? null : end;
};

/** The keys that signed a statement, at the time that the statement states. */
export const listSigningKeys = (
  place: SigningKey['in'],
  { issuedAtMs }: Pick<Statement, 'issuedAtMs'>,
  { keys, stamp }: { readonly keys: readonly TrustedKey[]; readonly stamp?: Stamp | undefined },
): SigningKey[] =>
  keys.map((key) => ({
    issuer: key.issuer,
    keyId: key.keyId,
    issuedAtMs,
    thumbprint: thumbprintOf(key),
    validThroughMs: findKeyEnd(key),
    in: place,
    ...defined({ stamp }),
  }));
