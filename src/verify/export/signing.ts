import { defined } from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import { EXPORT_ATTESTATION } from '../../evidence/export/pack-export.ts';
import { type ExportStatement, parseExportAttestation } from '../../evidence/bundle/attestation.ts';
import { finding, findingsOf } from '../finding.ts';
import { findStamp, resolveSettings, type VerifyOptions } from '../options.ts';
import { listSigningKeys } from '../part/attestation.ts';
import type { Completeness, SignedBy, SigningKey, Finding, Stamp } from '../report.ts';
import { findEarliest } from '../timestamps.ts';

import { checkExportBinding, type ExportFacts } from '../signature/binding.ts';
import {
  describeExportEnvelope,
  buildExportScope,
  verifyGivenEnvelopes,
  sortEnvelopes,
  type GivenEnvelope,
  type SortedEnvelopes,
} from '../signature/dsse.ts';
import { buildSigned, verifySigned } from '../signature/signed.ts';
import {
  endCheck,
  foldSteps,
  hasPassed,
  joinSteps,
  noteFindings,
  NOTHING,
  recordCheck,
  type ReadStep,
  type StepOf,
} from '../step.ts';
import { EXPORT, readDocument, type ExportContext, type ReadExportManifest } from './context.ts';

/** The signers of the list of bundles, and the reason why it is known to be complete. */
export type ExportSigning = {
  readonly completeness: Completeness;
  readonly signer?: SignedBy;
  /** Every trusted key that signed the list. */
  readonly signers?: readonly SigningKey[];
  /** Of `export-attestation.json`, if it was read. */
  readonly attestationDigest?: Digest;
  /** The earliest timestamp of the manifest, or of what signs it: the listed archives existed no later. */
  readonly stamp?: Stamp;
  /** Envelopes about a bundle of the export, by the digest of its manifest. */
  readonly envelopes?: SortedEnvelopes['parts'];
};

type ListSigning = {
  readonly signer?: SignedBy;
  readonly signers?: readonly SigningKey[];
  /** Of a document that names the manifest. */
  readonly stamp?: Stamp | undefined;
  readonly attestationDigest?: Digest;
};

/** `export.attestation` and `dsse.attestation`: finds the signers of the list (formats §2, Export attestation). */
export async function checkExportSigning(
  tree: ExportContext,
  { document, digest }: ReadExportManifest,
  envelopes: readonly GivenEnvelope[],
): Promise<StepOf<ExportSigning>> {
  const { settings } = tree;
  const facts = document && digest && { manifest: document, manifestDigest: digest };
  const internal = await checkExportAttestation(tree, facts);
  const sorted = facts && envelopes.length > 0 ? sortEnvelopes(envelopes, facts, settings) : undefined;
  const external: ReadStep<ListSigning> = facts && sorted ? checkListEnvelopes(sorted, facts, tree) : NOTHING;
  const signer = internal.value?.signer ?? external.value?.signer;
  const ofManifest = facts && settings.stamps.get(facts.manifestDigest);
  const stamp = findEarliest([ofManifest, internal.value?.stamp, external.value?.stamp]);
  const signers = signer && [...(internal.value?.signers ?? []), ...(external.value?.signers ?? [])];
  const pinned = settings.expect.manifestDigest !== undefined && settings.expect.manifestDigest === digest;
  const completeness: Completeness = pinned ? 'pinned' : signer === undefined ? 'claimed' : 'attested';
  const message = 'no trusted key signed the list of bundles, so it could be incomplete';
  const claimed = finding('export.COMPLETENESS_CLAIMED', EXPORT, { message });
  const step = joinSteps([internal, external, noteFindings(completeness === 'claimed' ? [claimed] : [])]);
  const value = defined({
    completeness,
    signer,
    signers,
    stamp,
    attestationDigest: internal.value?.attestationDigest,
    envelopes: sorted?.parts,
  });
  return { ...step, value };
}

/** `export.attestation`; the value is its signer, if a trusted key signed it for this export. */
async function checkExportAttestation(
  tree: ExportContext,
  facts: ExportFacts | undefined,
): Promise<ReadStep<ListSigning>> {
  const { settings } = tree;
  try {
    const bytes = await readDocument(tree, EXPORT_ATTESTATION, settings.limits.documentBytes);
    if (bytes === undefined)
      return endCheck('export.attestation', 'not_applicable', 'no one signed the list of bundles');
    if (facts === undefined) return NOTHING;
    const attestation = parseExportAttestation(bytes, settings.limits);
    const stamp = findStamp(settings, bytes);
    const context = { subject: EXPORT, path: EXPORT_ATTESTATION, settings, stamp };
    const result = verifySigned(buildSigned(attestation, bytes), buildExportScope(facts.manifest), context);
    const path = `${EXPORT_ATTESTATION}#/statement/subject`;
    const binding = checkExportBinding(EXPORT, path, attestation.statement, facts);
    // The steps of a signed statement are one check of an export.
    const step = foldSteps('export.attestation', [result, noteFindings(binding)]);
    const { signer, keys } = result;
    const named = { stamp: binding.length === 0 ? stamp : undefined, attestationDigest: digestOf(bytes) };
    if (signer === undefined || !hasPassed(step, 'export.attestation')) return { ...step, value: named };
    const signers = listSigningKeys('attestation', attestation.statement, { keys, stamp });
    return { ...step, value: { ...named, signer, signers } };
  } catch (error) {
    return recordCheck('export.attestation', findingsOf(error, EXPORT, EXPORT_ATTESTATION));
  }
}

/** `dsse.attestation` for the envelopes about the list; does not run if all envelopes are about bundles. */
function checkListEnvelopes(
  { list, stray }: SortedEnvelopes,
  facts: ExportFacts,
  { settings }: ExportContext,
): ReadStep<ListSigning> {
  if (list.length === 0 && stray.length === 0) return NOTHING;
  const context = { subject: EXPORT, settings };
  const others = stray.map(strayFinding);
  const result = verifyGivenEnvelopes(list, describeExportEnvelope(EXPORT, facts), context, others);
  const signer = result.value.find((envelope) => envelope.signer !== undefined)?.signer;
  const signers = result.value.flatMap(({ statement, ...signed }) =>
    statement === undefined ? [] : listSigningKeys('dsse', statement, signed),
  );
  const stamp = findEarliest(result.value.map((envelope) => envelope.statement && envelope.stamp));
  return { ...result, value: signer && { signer, signers, stamp } };
}

const strayFinding = ({ path, digest }: SortedEnvelopes['stray'][number]): Finding =>
  finding('dsse.SUBJECT_UNKNOWN', EXPORT, {
    path: `${path}#/payload#/subject/0/digest/sha256`,
    message: 'the envelope is about a bundle that the export does not list',
    actual: digest,
  });

/**
 * The export that an export attestation names, if a trusted key signed it. It shows the right manifest if no manifest can
 * be relied on. The scope of the export is unknown, so only a key for the whole organization counts. `undefined` for
 * anything else.
 */
export function checkSubject(
  bytes: Uint8Array,
  options: VerifyOptions,
): ExportStatement['subject'] | undefined {
  const settings = resolveSettings(options);
  if (settings.trust === undefined) return undefined;
  try {
    const attestation = parseExportAttestation(bytes, settings.limits);
    const { subject } = attestation.statement;
    const { organizationId } = subject;
    const scope = { purpose: 'export', organizationId, wholeOrganization: true } as const;
    const context = { subject: EXPORT, path: EXPORT_ATTESTATION, settings };
    const { trusted, findings } = verifySigned(buildSigned(attestation, bytes), scope, context);
    return trusted && findings.every(({ severity }) => severity !== 'error') ? subject : undefined;
  } catch (error) {
    if (error instanceof DrillproofError) return undefined;
    throw error;
  }
}
