import { BYTES_OR_TEXT, checkArguments, optional, TEXT, type MembersOf } from '../../bytes/arguments.ts';
import { assertEcdsaDer } from '../../bytes/der.ts';
import type { P256 } from '../../bytes/platform.ts';
import { toUtf8 } from '../../bytes/text/utf8.ts';
import { DrillproofError } from '../../errors.ts';
import {
  parseAttestation,
  signatureBytes,
  statementBytes,
  type ExportStatement,
  type Statement,
} from '../../evidence/index.ts';
import { judgeKey, verifySignature, type TrustedKey, type TrustStore } from '../../trust/index.ts';
import { createLedger, skipAll, type Ledger } from '../check.ts';
import { checksWaitingFor, type CheckId } from '../checks.ts';
import { finding, findingsOf, type Finding } from '../finding.ts';
import {
  acceptedTypes,
  settingsOf,
  trustOf,
  VERIFY_OPTIONS,
  type Settings,
  type StatementPurpose,
  type VerifyOptions,
} from '../options.ts';
import type { AttestationReport, SignedBy } from '../report.ts';

/** A signature as it stands in a document. */
type EncodedSignature = {
  /** A JSON pointer to it. */
  readonly path: string;
  /** The DER bytes. @throws DrillproofError `encoding.BASE64URL_INVALID` */
  readonly decode: () => Uint8Array;
};

/** What can be signed and judged. */
export type AnyStatement = Statement | ExportStatement;

/** A statement, the bytes that were signed for it, and what says that the key named in it signed them. */
export type Signed = {
  readonly statement: AnyStatement;
  readonly message: Uint8Array;
  /** One of them has to verify. */
  readonly signatures: readonly EncodedSignature[];
};

/** A signed statement, and what is known from elsewhere of what it speaks about. */
export type SignedStatement = Signed & {
  readonly purpose: StatementPurpose;
  readonly projectId?: string;
  readonly organizationId?: string;
  /** It speaks of everything in the organization, which a key for some projects does not. */
  readonly wholeOrganization?: boolean;
};

/** The ids under which the steps of a judgement are recorded. */
type Steps = { readonly format: CheckId; readonly key: CheckId; readonly signature: CheckId };
const STEPS: Steps = {
  format: 'attestation.format',
  key: 'attestation.key',
  signature: 'attestation.signature',
};

/** What the judgement of a signature found out: the signer, when a trusted key vouches for the statement. */
export type SignatureJudgement = {
  readonly signer?: SignedBy;
  /** Every trusted key that signed it. */
  readonly keys?: readonly TrustedKey[];
  readonly trusted: boolean;
};

/** An attestation as what is judged of it. */
export const signedOf = (attestation: {
  readonly signature: string;
  readonly statement: Statement | ExportStatement;
}): Signed => ({
  statement: attestation.statement,
  message: statementBytes(attestation.statement),
  signatures: [{ path: '/signature', decode: () => signatureBytes(attestation) }],
});

/**
 * Judges a signed statement in order: is it of the right type and encoding, does the trust store have a key that
 * speaks for it, and does the signature verify with that key (formats §2, §3).
 */
export function judgeSignature(
  ledger: Ledger,
  subject: string,
  path: string,
  signed: SignedStatement,
  settings: Settings,
): SignatureJudgement {
  const { ders, formed } = checkFormat(ledger, subject, path, signed, settings);
  if (settings.trust === undefined) return withoutTrust(ledger, subject, settings);
  const key = checkKey(ledger, subject, path, signed, settings.trust, settings.asOfMs);
  const verified = checkSignature(ledger, subject, path, signed.message, ders, key.found);
  if (settings.secondOpinion !== undefined) {
    checkSecondCrypto(
      ledger,
      subject,
      path,
      signed.message,
      ders,
      key.found,
      verified,
      settings.secondOpinion.p256,
    );
  }
  if (!formed || !key.speaks || !verified || key.found === undefined) return { trusted: false };
  const { issuer, keyId, issuedAtMs } = signed.statement;
  return { trusted: true, signer: { issuer, keyId, issuedAtMs }, keys: [key.found] };
}

function checkFormat(
  ledger: Ledger,
  subject: string,
  path: string,
  { statement, signatures, purpose }: SignedStatement,
  settings: Settings,
): { readonly ders: readonly Uint8Array[]; readonly formed: boolean } {
  const found: Finding[] = [];
  const accepted = acceptedTypes(settings, purpose);
  if (!accepted.includes(statement.predicateType)) {
    const message = 'the statement is of another type than the one that belongs here';
    const types = { expected: accepted.join(' or '), actual: statement.predicateType };
    found.push(finding('attestation.PREDICATE_UNSUPPORTED', subject, { path, message, ...types }));
  }
  if (statement.issuedAtMs > settings.asOfMs) {
    const message = 'the statement was issued after the time of this verification';
    const times = { expected: `at most ${settings.asOfMs}`, actual: String(statement.issuedAtMs) };
    found.push(finding('attestation.ISSUED_IN_FUTURE', subject, { path, message, ...times }));
  }
  const decoded = signatures.map((one) => ({ at: `${path}#${one.path}`, der: decodeSignature(one) }));
  const ders = decoded.flatMap(({ der }) => (der instanceof DrillproofError ? [] : [der]));
  const faults = decoded.flatMap(({ at, der }) =>
    der instanceof DrillproofError
      ? [finding('attestation.SIGNATURE_ENCODING', subject, { path: at, message: der.message })]
      : [],
  );
  // Of several signatures said to be by the key, one that is sound is enough.
  if (ders.length === 0) found.push(...faults);
  return { ders, formed: ledger.ran(STEPS.format, found) };
}

function decodeSignature({ decode }: EncodedSignature): Uint8Array | DrillproofError {
  try {
    const der = decode();
    assertEcdsaDer(der);
    return der;
  } catch (error) {
    if (error instanceof DrillproofError) return error;
    throw error;
  }
}

function withoutTrust(ledger: Ledger, subject: string, { secondOpinion }: Settings): SignatureJudgement {
  const reason = 'no trust store was given';
  ledger.skipped(STEPS.key, 'not_checked', reason);
  ledger.skipped(STEPS.signature, 'not_checked', reason);
  if (secondOpinion !== undefined) ledger.skipped('second.crypto', 'not_checked', reason);
  ledger.note([
    finding('trust.STORE_ABSENT', subject, {
      message: 'no trust store was given: the signature was not judged',
    }),
  ]);
  return { trusted: false };
}

function checkKey(
  ledger: Ledger,
  subject: string,
  path: string,
  { statement, purpose, projectId, organizationId, wholeOrganization = false }: SignedStatement,
  trust: TrustStore,
  asOfMs: number,
): { readonly found: TrustedKey | undefined; readonly speaks: boolean } {
  const { issuer, keyId, issuedAtMs } = statement;
  const judged = judgeKey(trust, {
    issuer,
    keyId,
    issuedAtMs,
    purpose,
    asOfMs,
    ...(projectId === undefined ? {} : { projectId }),
    ...(organizationId === undefined ? {} : { organizationId }),
  });
  const problems = judged.problems.map(({ code, ...detail }) => finding(code, subject, { path, ...detail }));
  const notes = judged.notes.map(({ code, message }) => finding(code, subject, { path, message }));
  if (wholeOrganization && judged.unchecked.includes('project')) {
    const message =
      'the key is trusted for some projects only, and the statement speaks of the whole organization';
    problems.push(finding('trust.PROJECT_MISMATCH', subject, { path, message }));
  }
  if (problems.length === 0 && judged.unchecked.length > 0) {
    const scope = judged.unchecked.join(' and ');
    ledger.note(notes);
    ledger.skipped(
      STEPS.key,
      'not_checked',
      `the key is limited by ${scope}, and nothing here says which it is`,
    );
    return { found: judged.key, speaks: false };
  }
  return { found: judged.key, speaks: ledger.ran(STEPS.key, [...problems, ...notes]) };
}

function checkSignature(
  ledger: Ledger,
  subject: string,
  path: string,
  message: Uint8Array,
  ders: readonly Uint8Array[],
  key: TrustedKey | undefined,
): boolean {
  if (ders.length === 0 || key === undefined) {
    const reason = ders.length === 0 ? 'the signature cannot be decoded' : 'there is no key to check it with';
    ledger.skipped(STEPS.signature, 'not_checked', reason);
    return false;
  }
  const verified = ders.some((signature) => verifySignature({ key, message, signature }));
  const text = 'the signature does not verify over the statement with the trusted key';
  const found = verified ? [] : [finding('attestation.SIGNATURE_INVALID', subject, { path, message: text })];
  return ledger.ran(STEPS.signature, found);
}

function checkSecondCrypto(
  ledger: Ledger,
  subject: string,
  path: string,
  message: Uint8Array,
  ders: readonly Uint8Array[],
  key: TrustedKey | undefined,
  verified: boolean,
  implementation: P256,
): void {
  if (ders.length === 0 || key === undefined) {
    ledger.skipped('second.crypto', 'not_checked', 'there was no signature and key to judge');
    return;
  }
  const second = ders.some((signature) => verifySignature({ key, message, signature, implementation }));
  if (second === verified) {
    ledger.ran('second.crypto', []);
    return;
  }
  const opinions = { expected: verified ? 'valid' : 'invalid', actual: second ? 'valid' : 'invalid' };
  const text = 'the two implementations of the signature check disagree';
  ledger.ran('second.crypto', [
    finding('attestation.SECOND_OPINION', subject, { path, message: text, ...opinions }),
  ]);
}

/** What may be known beside an attestation that stands alone. */
export type VerifyAttestationOptions = Pick<
  VerifyOptions,
  'asOfMs' | 'trust' | 'predicateTypes' | 'secondOpinion'
> & {
  /** The digest of the bundle manifest that the statement must name. */
  readonly manifestDigest?: string;
  readonly projectId?: string;
  readonly organizationId?: string;
};

const ATTESTATION_OPTIONS: MembersOf<VerifyAttestationOptions> = {
  asOfMs: VERIFY_OPTIONS.asOfMs,
  trust: VERIFY_OPTIONS.trust,
  predicateTypes: VERIFY_OPTIONS.predicateTypes,
  secondOpinion: VERIFY_OPTIONS.secondOpinion,
  manifestDigest: optional(TEXT),
  projectId: optional(TEXT),
  organizationId: optional(TEXT),
};

/**
 * Verifies an evidence attestation by itself: the bytes or the text of `attestation.json`. They are parsed strictly
 * and must be canonical, so pass `canonicalJson(bundle.attestation)` for one that is part of another document. Without
 * the bundle nothing binds it to evidence, so its verdict is `valid` at best, never `verified` (formats §4). Never
 * throws for what is in the bytes.
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
  checkArguments({ attestation: BYTES_OR_TEXT }, { attestation });
  const ledger = createLedger();
  const settings = settingsOf(options, ATTESTATION_OPTIONS);
  const judged = judgeAlone(ledger, attestation, options, settings);
  return reportAlone(ledger, judged, settings);
}

/** The report on a statement that is judged without its evidence: it is never `verified` (formats §4). */
export function reportAlone(
  ledger: Ledger,
  judged: SignatureJudgement,
  settings: Settings,
): AttestationReport {
  const failed = ledger.findings.some((one) => one.severity === 'error');
  return {
    schemaVersion: 1,
    kind: 'attestation',
    verdict: failed ? 'invalid' : judged.trusted ? 'valid' : 'not_judged',
    asOfMs: settings.asOfMs,
    ...trustOf(settings),
    ...(judged.signer === undefined ? {} : { signer: judged.signer }),
    checks: ledger.checks,
    findings: ledger.findings,
  };
}

const SUBJECT = 'attestation';

function judgeAlone(
  ledger: Ledger,
  document: string | Uint8Array,
  options: VerifyAttestationOptions,
  settings: Settings,
): SignatureJudgement {
  let typed;
  try {
    const bytes = typeof document === 'string' ? toUtf8(document) : document;
    typed = parseAttestation(bytes, settings.limits);
  } catch (error) {
    ledger.ran('attestation.format', findingsOf(error, SUBJECT));
    const reason = 'the document is not an attestation';
    skipAll(ledger, checksWaitingFor('attestation.format'), 'not_checked', reason);
    return { trusted: false };
  }
  const { projectId, organizationId, manifestDigest } = options;
  const known = {
    ...(projectId === undefined ? {} : { projectId }),
    ...(organizationId === undefined ? {} : { organizationId }),
  };
  const signed: SignedStatement = {
    ...signedOf(typed),
    purpose: 'evidence',
    ...known,
  };
  const judged = judgeSignature(ledger, SUBJECT, '', signed, settings);
  checkSubject(ledger, typed.statement.subject.manifestDigest, manifestDigest);
  return judged;
}

function checkSubject(ledger: Ledger, actual: string, expected: string | undefined): void {
  if (expected === undefined) {
    ledger.skipped('attestation.binding', 'not_checked', 'an attestation alone is bound to no bytes');
    return;
  }
  const message = 'the statement speaks of another manifest';
  const path = '/statement/subject/manifestDigest';
  const differs = [finding('attestation.SUBJECT_MISMATCH', SUBJECT, { path, message, expected, actual })];
  ledger.ran('attestation.binding', expected === actual ? [] : differs);
}
