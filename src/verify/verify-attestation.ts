import {
  BYTES_OR_TEXT,
  checkArguments,
  defined,
  type MembersOf,
  optional,
  TEXT,
} from '../bytes/arguments.ts';
import { digestOf } from '../bytes/hash.ts';
import { toUtf8 } from '../bytes/text/encoding.ts';
import { parseAttestation } from '../evidence/bundle/attestation.ts';
import { listWaitingChecks } from './checks.ts';
import { statementFinding, statementFindingsOf } from './finding.ts';
import { endCheck, endRemaining, joinSteps, recordCheck, type Step } from './step.ts';
import {
  findStamp,
  resolveSettings,
  describeTrust,
  VERIFY_OPTIONS,
  type Settings,
  type VerifyOptions,
} from './options.ts';
import type { AttestationReport } from './report.ts';
import { checkTimestamps, listTimestamps } from './timestamps.ts';
import { buildSigned, verifySigned, type SignedResult } from './signature/signed.ts';

/**
 * The options of `verifyAttestation`. Only `asOfMs` is required: the time of the verification, a Date or ms since 1970.
 */
export type VerifyAttestationOptions = Pick<
  VerifyOptions,
  'asOfMs' | 'trust' | 'predicateTypes' | 'secondOpinion' | 'timestamps'
> & {
  /** The digest of the bundle manifest that the statement must name. */
  readonly manifestDigest?: string;
  readonly projectId?: string;
  readonly organizationId?: string;
};

/** The options of every verification of a statement. */
export const STATEMENT_OPTIONS = {
  asOfMs: VERIFY_OPTIONS.asOfMs,
  trust: VERIFY_OPTIONS.trust,
  predicateTypes: VERIFY_OPTIONS.predicateTypes,
  secondOpinion: VERIFY_OPTIONS.secondOpinion,
  timestamps: VERIFY_OPTIONS.timestamps,
};
const ATTESTATION_OPTIONS: MembersOf<VerifyAttestationOptions> = {
  ...STATEMENT_OPTIONS,
  manifestDigest: optional(TEXT),
  projectId: optional(TEXT),
  organizationId: optional(TEXT),
};

/**
 * Verifies an evidence attestation by itself: the bytes or the text of `attestation.json` (formats §2). They must be
 * canonical JSON, so pass `canonicalJson(bundle.attestation)` for one that is part of another document. Without the
 * bundle nothing binds it to evidence, so its verdict is `valid` at best, never `verified` (formats §4). Never throws
 * for what is in the bytes.
 * @throws TypeError for an argument of the wrong kind; DrillproofError `trust.…` for a key that cannot be read
 * @example
 * const trust = { key: await readFile('signer.pem'), issuer: 'https://drills.example' };
 * const report = verifyAttestation(await readFile('attestation.json'), { asOfMs: new Date(), trust });
 * if (report.verdict !== 'valid') throw new Error(report.findings[0]?.message);
 */
export function verifyAttestation(
  attestation: string | Uint8Array,
  options: VerifyAttestationOptions,
): AttestationReport {
  if (!(attestation instanceof Uint8Array)) checkArguments({ attestation: BYTES_OR_TEXT }, { attestation });
  const settings = resolveSettings(options, ATTESTATION_OPTIONS);
  return buildAttestationReport(verifyAlone(attestation, options, settings), settings);
}

/** The report on a statement that was verified without its evidence, so it is never `verified` (formats §4). */
export function buildAttestationReport(
  {
    trusted,
    signer,
    signers,
    checks,
    findings,
  }: Omit<SignedResult, 'keys'> & Pick<AttestationReport, 'signers'>,
  settings: Settings,
): AttestationReport {
  const failed = findings.some(({ severity }) => severity === 'error');
  return defined({
    schemaVersion: 1,
    kind: 'attestation',
    verdict: failed ? 'invalid' : trusted ? 'valid' : 'not_checked',
    asOfMs: settings.asOfMs,
    trust: describeTrust(settings),
    signer,
    signers,
    timestamps: listTimestamps(settings.timestamps),
    checks,
    findings,
  } as const);
}

const SUBJECT = 'attestation';

function verifyAlone(
  document: string | Uint8Array,
  { projectId, organizationId, manifestDigest }: VerifyAttestationOptions,
  settings: Settings,
): Omit<SignedResult, 'keys'> {
  let bytes;
  let attestation;
  try {
    bytes = typeof document === 'string' ? toUtf8(document) : document;
    attestation = parseAttestation(bytes, settings.limits);
  } catch (error) {
    const format = recordCheck('attestation.format', statementFindingsOf(error, SUBJECT));
    const reason = 'the document is not an attestation';
    const waiting = listWaitingChecks('attestation.format');
    return { ...endRemaining(format, waiting, 'not_checked', reason), trusted: false };
  }
  const scope = { purpose: 'evidence', projectId, organizationId } as const;
  const result = verifySigned(buildSigned(attestation, bytes), scope, {
    subject: SUBJECT,
    path: '',
    settings,
    stamp: findStamp(settings, bytes),
  });
  const timestamps = checkTimestamps(SUBJECT, settings.timestamps, () => [digestOf(bytes)]);
  const binding = checkSubject(attestation.statement.subject.manifestDigest, manifestDigest);
  return { ...result, ...joinSteps([result, binding, timestamps]) };
}

/** `attestation.binding` of an attestation alone. */
function checkSubject(actual: string, expected: string | undefined): Step {
  if (expected === undefined)
    return endCheck('attestation.binding', 'not_checked', 'an attestation alone is bound to no bytes');
  const message = 'the statement names a different manifest';
  const path = '/statement/subject/manifestDigest';
  const differs = statementFinding('attestation.SUBJECT_MISMATCH', SUBJECT, {
    path,
    message,
    expected,
    actual,
  });
  return recordCheck('attestation.binding', expected === actual ? [] : [differs]);
}
