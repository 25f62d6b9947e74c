import { assertEcdsaDer, defined } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { ExportStatement, Statement } from '../../evidence/index.ts';
import {
  checkKey,
  type SignaturesResult,
  type TrustedKey,
  type TrustStore,
  verifySignature,
  verifySignatures,
} from '../../trust/index.ts';
import { createLedger, skipAll, type Ledger } from '../check.ts';
import { finding } from '../finding.ts';
import { acceptedTypes, type Settings, type StatementPurpose } from '../options.ts';
import type { Check, Finding, SignedBy } from '../report.ts';

export type AnyStatement = Statement | ExportStatement;

/** A signature as it appears in a document. */
type EncodedSignature = {
  /** A JSON pointer to it. */
  readonly path: string;
  /** The key that it is said to be by; absent: the one that the statement names. */
  readonly keyId?: string;
  /** The DER bytes. @throws DrillproofError `encoding.BASE64URL_INVALID` */
  readonly decode: () => Uint8Array;
};

/** A statement, the bytes that were signed for it, and its signatures: an attestation or a DSSE envelope. */
export type Signed<S extends AnyStatement = AnyStatement> = {
  readonly statement: S;
  readonly message: Uint8Array;
  readonly signatures: readonly EncodedSignature[];
};

/** What a statement has to be about. */
export type StatementScope = {
  readonly purpose: StatementPurpose;
  readonly projectId?: string;
  readonly organizationId?: string;
  /** It is about everything in the organization, for which a key for some projects is not valid. */
  readonly wholeOrganization?: boolean;
};

/** How a signed statement is verified, and what its findings are about. */
export type SignedContext = {
  readonly subject: string;
  /** The path of the document in findings. */
  readonly path: string;
  readonly settings: Settings;
  /** How many different trusted keys must have signed; absent where there can be one signature only. */
  readonly threshold?: number;
};

export type SignedResult = {
  readonly checks: readonly Check[];
  readonly findings: readonly Finding[];
  /** Whether a trusted key signed the statement, and as many others as the threshold asks for. */
  readonly trusted: boolean;
  /** The signer that the statement names, when trusted. */
  readonly signer?: SignedBy;
  /** Every trusted key that signed it, when trusted. */
  readonly keys: readonly TrustedKey[];
};

/**
 * Verifies a signed statement in order: its type and encoding, the key that the statement names, the signatures, each
 * once, and how many different trusted keys made them (formats §2, §3).
 */
export function verifySigned(signed: Signed, scope: StatementScope, context: SignedContext): SignedResult {
  const ledger = createLedger();
  const { settings, threshold } = context;
  const signatures = signed.signatures.map((one) => decodeSignature(one, signed.statement));
  const formed = checkFormat(ledger, signed.statement, { scope, context, signatures });
  if (settings.trust === undefined) return withoutTrust(ledger, context);
  const { key, valid } = checkSigningKey(ledger, signed.statement, { scope, context, trust: settings.trust });
  const result = verifySignatures(
    { message: signed.message, signatures: readable(signatures) },
    settings.trust,
    {
      ...claimOf(signed.statement, scope),
      countersigners: true,
      asOfMs: settings.asOfMs,
    },
  );
  const sound = signatures.flatMap(({ named, fault, signature }) =>
    named && fault === undefined && signature !== undefined ? [signature] : [],
  );
  const verified = checkSignature(ledger, { key, sound, result }, context);
  checkSecondCrypto(ledger, { key, sound, verified, message: signed.message }, context);
  const enough = threshold === undefined || checkThreshold(ledger, signed.statement, result, context);
  const trusted = formed && valid && verified && enough && key !== undefined;
  const { issuer, keyId, issuedAtMs } = signed.statement;
  return {
    checks: ledger.checks,
    findings: ledger.findings,
    trusted,
    ...(trusted && { signer: { issuer, keyId, issuedAtMs } }),
    keys: trusted ? result.keys : [],
  };
}

const claimOf = (
  { issuer, keyId, issuedAtMs }: AnyStatement,
  { purpose, projectId, organizationId }: StatementScope,
) => defined({ issuer, keyId, issuedAtMs, purpose, projectId, organizationId });

type DecodedSignature = {
  readonly path: string;
  readonly keyId?: string;
  /** Whether it is said to be by the key that the statement names. */
  readonly named: boolean;
  readonly signature?: Uint8Array;
  /** Why it is not a strict DER signature. */
  readonly fault?: DrillproofError;
};

function decodeSignature(
  { path, keyId, decode }: EncodedSignature,
  statement: AnyStatement,
): DecodedSignature {
  const known = defined({ path, keyId, named: (keyId ?? statement.keyId) === statement.keyId });
  let signature;
  try {
    signature = decode();
    assertEcdsaDer(signature);
    return { ...known, signature };
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return defined({ ...known, signature, fault: error });
  }
}

/** Those with bytes that a key can be tried on. In an envelope these are all. */
const readable = (signatures: readonly DecodedSignature[]) =>
  signatures.flatMap(({ keyId, signature }) =>
    signature === undefined ? [] : [defined({ keyId, signature })],
  );

/** `attestation.format` */
function checkFormat(
  ledger: Ledger,
  { predicateType, issuedAtMs }: AnyStatement,
  {
    scope,
    context: { subject, path, settings },
    signatures,
  }: {
    readonly scope: StatementScope;
    readonly context: SignedContext;
    readonly signatures: readonly DecodedSignature[];
  },
): boolean {
  const findings: Finding[] = [];
  const accepted = acceptedTypes(settings, scope.purpose);
  if (!accepted.includes(predicateType)) {
    const message = 'the statement is not of the type that belongs here';
    const types = { expected: accepted.join(' or '), actual: predicateType };
    findings.push(finding('attestation.PREDICATE_UNSUPPORTED', subject, { path, message, ...types }));
  }
  if (issuedAtMs > settings.asOfMs) {
    const message = 'the statement was issued after the time of this verification';
    const times = { expected: `at most ${settings.asOfMs}`, actual: String(issuedAtMs) };
    findings.push(finding('attestation.ISSUED_IN_FUTURE', subject, { path, message, ...times }));
  }
  const named = signatures.filter((one) => one.named);
  // Of several signatures said to be by the key, one that is sound is enough.
  const faults = named.every(({ fault }) => fault !== undefined) ? named : [];
  for (const { path: pointer, fault } of faults)
    if (fault !== undefined)
      findings.push(
        finding('attestation.SIGNATURE_ENCODING', subject, {
          path: `${path}#${pointer}`,
          message: fault.message,
        }),
      );
  return ledger.ran('attestation.format', findings);
}

function withoutTrust(
  ledger: Ledger,
  { subject, settings: { secondOpinion }, threshold }: SignedContext,
): SignedResult {
  const requested = [
    ...(['attestation.key', 'attestation.signature'] as const),
    ...(secondOpinion === undefined ? [] : (['second.crypto'] as const)),
    ...(threshold === undefined ? [] : (['dsse.threshold'] as const)),
  ];
  skipAll(ledger, requested, 'not_checked', 'no trust store was given');
  const message = 'no trust store was given, so the signature was not verified';
  ledger.note([finding('trust.STORE_ABSENT', subject, { message })]);
  return { checks: ledger.checks, findings: ledger.findings, trusted: false, keys: [] };
}

/** `attestation.key` */
function checkSigningKey(
  ledger: Ledger,
  statement: AnyStatement,
  {
    scope,
    context: { subject, path, settings },
    trust,
  }: { readonly scope: StatementScope; readonly context: SignedContext; readonly trust: TrustStore },
): { readonly key: TrustedKey | undefined; readonly valid: boolean } {
  const { asOfMs } = settings;
  const { key, ...result } = checkKey(trust, { ...claimOf(statement, scope), asOfMs });
  const problems = result.problems.map(({ code, ...detail }) => finding(code, subject, { path, ...detail }));
  const notes = result.notes.map(({ code, message }) => finding(code, subject, { path, message }));
  if (scope.wholeOrganization === true && result.unchecked.includes('project')) {
    const message =
      'the key is trusted for some projects only, and the statement is about the whole organization';
    problems.push(finding('trust.PROJECT_MISMATCH', subject, { path, message }));
  }
  if (problems.length === 0 && result.unchecked.length > 0) {
    const reason = `the key is limited by ${result.unchecked.join(' and ')}, and nothing here says which it is`;
    ledger.note(notes);
    ledger.skipped('attestation.key', 'not_checked', reason);
    return { key, valid: false };
  }
  return { key, valid: ledger.ran('attestation.key', [...problems, ...notes]) };
}

type Attempt = { readonly key: TrustedKey | undefined; readonly sound: readonly Uint8Array[] };

/** `attestation.signature` */
function checkSignature(
  ledger: Ledger,
  { key, sound, result }: Attempt & { readonly result: SignaturesResult },
  { subject, path }: SignedContext,
): boolean {
  if (sound.length === 0 || key === undefined) {
    const reason =
      sound.length === 0 ? 'the signature cannot be decoded' : 'there is no key to check it with';
    ledger.skipped('attestation.signature', 'not_checked', reason);
    return false;
  }
  const verified = result.signatures.some(({ madeBy }) => madeBy === key);
  const message = 'the signature does not verify over the statement with the trusted key';
  const findings = verified ? [] : [finding('attestation.SIGNATURE_INVALID', subject, { path, message })];
  return ledger.ran('attestation.signature', findings);
}

/** `second.crypto` */
function checkSecondCrypto(
  ledger: Ledger,
  { key, sound, verified, message }: Attempt & { readonly verified: boolean; readonly message: Uint8Array },
  { subject, path, settings: { secondOpinion } }: SignedContext,
): void {
  if (secondOpinion === undefined) return;
  if (sound.length === 0 || key === undefined)
    return ledger.skipped('second.crypto', 'not_checked', 'there was no signature and key to judge');
  const implementation = secondOpinion.p256;
  const second = sound.some((signature) => verifySignature({ key, message, signature, implementation }));
  const opinions = { expected: verified ? 'valid' : 'invalid', actual: second ? 'valid' : 'invalid' };
  const text = 'the two implementations of the signature check disagree';
  const differs = finding('attestation.SECOND_OPINION', subject, { path, message: text, ...opinions });
  ledger.ran('second.crypto', second === verified ? [] : [differs]);
}

/** `dsse.threshold`: how many different keys signed, whatever their number of signatures and names. */
function checkThreshold(
  ledger: Ledger,
  statement: AnyStatement,
  { signatures, distinct }: SignaturesResult,
  { subject, path, threshold = 1 }: SignedContext,
): boolean {
  const findings = signatures.flatMap(({ keyId, problem }, at) =>
    problem === undefined || keyId === statement.keyId
      ? []
      : [
          finding('dsse.SIGNATURE_UNCOUNTED', subject, {
            path: `${path}#/signatures/${at}`,
            message: `the signature of ${JSON.stringify(keyId)} does not count: ${problem.message}`,
          }),
        ],
  );
  if (distinct < threshold && threshold > 1) {
    const message = 'fewer different trusted keys signed the envelope than required';
    const counts = { expected: `at least ${threshold}`, actual: String(distinct) };
    findings.push(
      finding('dsse.THRESHOLD_MISSED', subject, { path: `${path}#/signatures`, message, ...counts }),
    );
  }
  return ledger.ran('dsse.threshold', findings);
}
