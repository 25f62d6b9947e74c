import { assertEcdsaDer } from '../../bytes/der.ts';
import { defined } from '../../bytes/arguments.ts';
import { DrillproofError } from '../../errors.ts';
import {
  decodeSignatureBytes,
  type ExportStatement,
  sliceStatement,
  type Statement,
} from '../../evidence/bundle/attestation.ts';
import { checkKey, type KeyResult } from '../../trust/check-key.ts';
import type { SignatureClaim, SignaturesResult } from '../../trust/signatures.ts';
import type { TrustedKey } from '../../trust/trusted-key.ts';
import { verifyAhead, verifySignature, type VerifySignature } from '../../trust/key/signer.ts';
import {
  NOTHING,
  endCheck,
  hasPassed,
  joinSteps,
  noteFindings,
  recordCheck,
  type Step,
  type StepOf,
} from '../step.ts';
import { statementFinding } from '../finding.ts';
import { listTypes, type Settings, type StatementPurpose } from '../options.ts';
import type { SignedBy, Finding, Stamp } from '../report.ts';
import { countSignatures, type SignedPath } from './count.ts';

export type AnyStatement = Statement | ExportStatement;

/** A signature as it appears in a document. */
type EncodedSignature = {
  /** A JSON pointer to it. */
  readonly path: string;
  /** The key id next to it; absent: the key that the statement names. */
  readonly keyId?: string | undefined;
  /** The DER bytes. @throws DrillproofError `encoding.BASE64URL_INVALID` */
  readonly decode: () => Uint8Array;
};

type DecodedSignature = {
  readonly path: string;
  readonly keyId?: string | undefined;
  /** Its key id is the one that the statement names, or absent. */
  readonly named: boolean;
  readonly signature?: Uint8Array | undefined;
  /** Set unless it is a strict DER signature. */
  readonly fault?: DrillproofError;
};

/** A statement, the bytes that were signed for it, and its signatures: an attestation or a DSSE envelope. */
export type Signed<S extends AnyStatement = AnyStatement> = {
  readonly statement: S;
  readonly message: Uint8Array;
  readonly signatures: readonly DecodedSignature[];
};

/** An attestation as a signed statement, and the bytes that it was parsed from. */
export const buildSigned = (
  attestation: { readonly signature: string; readonly statement: Statement | ExportStatement },
  document: Uint8Array,
): Signed => ({
  statement: attestation.statement,
  message: sliceStatement(document, attestation),
  signatures: [
    decodeSignature(
      { path: '/signature', decode: () => decodeSignatureBytes(attestation) },
      attestation.statement.keyId,
    ),
  ],
});

/** The purpose and the evidence that a statement must have. */
export type StatementScope = {
  readonly purpose: StatementPurpose;
  readonly projectId?: string | undefined;
  readonly organizationId?: string | undefined;
  /** The statement covers the whole organization, so a key for some projects is not valid for it. */
  readonly wholeOrganization?: boolean;
};

export type SignedContext = SignedPath & {
  readonly settings: Settings;
  /** The number of different trusted keys that must have signed; absent if only one signature is possible. */
  readonly threshold?: number;
  /** The earliest trusted timestamp of the signed statement. */
  readonly stamp?: Stamp | undefined;
  /** Default: `verifySignature`; see `verifySignedAhead`. */
  readonly verify?: VerifySignature;
};

export type SignedResult = Step & {
  /** The named key is trusted and signed the statement, and so did as many others as the threshold requires. */
  readonly trusted: boolean;
  /** The signer that the statement names, when trusted. */
  readonly signer?: SignedBy;
  /** Every trusted key that signed it, when trusted. */
  readonly keys: readonly TrustedKey[];
};

/**
 * Verifies a signed statement in order: its type and encoding, the key that the statement names, the signatures, each
 * once, and the number of different trusted keys that made them (formats §2, §3).
 */
export function verifySigned(signed: Signed, scope: StatementScope, context: SignedContext): SignedResult {
  const { statement, message, signatures } = signed;
  const { settings, stamp, threshold } = context;
  const { trust } = settings;
  const format = checkFormat(statement, signatures, scope, context);
  if (trust === undefined)
    return { ...joinSteps([format, skipWithoutTrust(context)]), trusted: false, keys: [] };
  const claim = { ...buildClaim(statement, scope, settings), stampedAtMs: stamp?.atMs };
  const trusting = { ...context, trust };
  const namedKey = checkKey(trust, claim);
  const signingKey = checkSigningKey(namedKey, scope, trusting);
  const counted = countSignatures(
    { message, signatures: signatures.flatMap(bytesOf) },
    { ...claim, namedKey },
    trusting,
  );
  const sound = signatures.flatMap(({ named, fault, signature }) =>
    named && fault === undefined && signature !== undefined ? [signature] : [],
  );
  const attempt = { key: signingKey.value, sound, message };
  const signature = checkSignature(attempt, counted.value, context);
  const second = checkSecondCrypto(attempt, signature, context);
  const isNamed = haveAllPassed(format, signingKey, signature);
  const enough = threshold === undefined ? NOTHING : isNamed ? counted : withoutNamed(counted);
  const trusted = isNamed && haveAllPassed(enough);
  const { issuer, keyId, issuedAtMs } = statement;
  return {
    ...joinSteps([format, signingKey, signature, second, enough]),
    trusted,
    ...defined({ signer: trusted ? { issuer, keyId, issuedAtMs } : undefined }),
    keys: trusted ? counted.value.keys : [],
  };
}

const haveAllPassed = (...steps: readonly Step[]): boolean =>
  steps.every(({ checks }) => checks.every(({ state }) => state === 'passed'));

/** Countersignatures are not enough without the key that the statement names. */
const withoutNamed = (counted: Step): Step =>
  hasPassed(counted, 'dsse.threshold')
    ? {
        ...endCheck('dsse.threshold', 'not_checked', 'the key that the statement names does not count'),
        findings: counted.findings,
      }
    : counted;

/** The verification of signatures for `verifySigned`, done before it where only an asynchronous implementation is fast. */
export function verifySignedAhead(
  { statement, message, signatures }: Signed,
  { trust }: Settings,
): Promise<VerifySignature> {
  const pairs = signatures.flatMap(({ keyId = statement.keyId, signature, fault }) => {
    if (trust === undefined || signature === undefined || fault !== undefined) return [];
    return trust.keys.filter((key) => key.keyId === keyId).map((key) => ({ key, signature }));
  });
  return verifyAhead(message, pairs);
}

type NamedClaim = SignatureClaim & { readonly issuer: string; readonly keyId: string };

const buildClaim = (
  { issuer, keyId, issuedAtMs }: AnyStatement,
  { purpose, projectId, organizationId }: StatementScope,
  { asOfMs }: Settings,
): NamedClaim => ({
  issuer,
  keyId,
  issuedAtMs,
  purpose,
  projectId,
  organizationId,
  asOfMs,
  countersigners: true,
});

/** Decodes a signature; a fault of its encoding is part of the result. */
export function decodeSignature(
  { path, keyId, decode }: EncodedSignature,
  namedKeyId: string,
): DecodedSignature {
  const named = (keyId ?? namedKeyId) === namedKeyId;
  let signature;
  try {
    signature = decode();
    assertEcdsaDer(signature);
    return { path, keyId, named, signature };
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return { path, keyId, named, signature, fault: error };
  }
}

/** The signature, if it could be decoded. */
const bytesOf = ({ keyId, signature }: DecodedSignature) =>
  signature === undefined ? [] : [{ keyId, signature }];

/** `attestation.format` */
function checkFormat(
  { predicateType, issuedAtMs }: AnyStatement,
  signatures: readonly DecodedSignature[],
  { purpose }: StatementScope,
  { subject, path, settings }: SignedContext,
): Step {
  const findings: Finding[] = [];
  const accepted = listTypes(settings, purpose);
  if (!accepted.includes(predicateType)) {
    const message = 'the statement does not have an accepted type';
    const types = { expected: accepted.join(' or '), actual: predicateType };
    findings.push(
      statementFinding('attestation.PREDICATE_UNSUPPORTED', subject, { path, message, ...types }),
    );
  }
  if (issuedAtMs > settings.asOfMs + settings.clockSkewMs) {
    const message = 'the statement was issued after the time of this verification';
    const times = { expected: `at most ${settings.asOfMs}`, actual: String(issuedAtMs) };
    findings.push(statementFinding('attestation.ISSUED_IN_FUTURE', subject, { path, message, ...times }));
  }
  // One sound signature with the key id of the named key is enough.
  const faults = signatures.flatMap(({ path: pointer, named, fault }) => (named ? [{ pointer, fault }] : []));
  if (faults.every(({ fault }) => fault !== undefined))
    for (const { pointer, fault } of faults) {
      const detail = { path: `${path}#${pointer}`, message: fault?.message ?? '' };
      findings.push(statementFinding('attestation.SIGNATURE_ENCODING', subject, detail));
    }
  return recordCheck('attestation.format', findings);
}

function skipWithoutTrust({ subject, settings: { secondOpinion }, threshold }: SignedContext): Step {
  const ids = [
    ...(['attestation.key', 'attestation.signature'] as const),
    ...(secondOpinion === undefined ? [] : (['second.crypto'] as const)),
    ...(threshold === undefined ? [] : (['dsse.threshold'] as const)),
  ];
  const message = 'no trust store was given, so the signature was not verified';
  return joinSteps([
    ...ids.map((id) => endCheck(id, 'not_checked', 'no trust store was given')),
    noteFindings([statementFinding('trust.STORE_ABSENT', subject, { message })]),
  ]);
}

/** `attestation.key`; the value is the key that the statement names, whether or not it is valid for the statement. */
function checkSigningKey(
  { key, ...result }: KeyResult,
  { wholeOrganization }: StatementScope,
  { subject, path }: SignedPath,
): StepOf<TrustedKey | undefined> {
  const problems = result.problems.map(({ code, ...detail }) =>
    statementFinding(code, subject, { path, ...detail }),
  );
  const notes = result.notes.map(({ code, message }) => statementFinding(code, subject, { path, message }));
  if (wholeOrganization === true && result.unchecked.includes('project')) {
    const message =
      'the key is trusted for some projects only, and the statement is about the whole organization';
    problems.push(statementFinding('trust.PROJECT_MISMATCH', subject, { path, message }));
  }
  if (problems.length > 0 || result.unchecked.length === 0)
    return { ...recordCheck('attestation.key', [...problems, ...notes]), value: key };
  const reason = `the key is limited by ${result.unchecked.join(' and ')}, and the evidence is of unknown ${result.unchecked.join(' and ')}`;
  return {
    ...joinSteps([noteFindings(notes), endCheck('attestation.key', 'not_checked', reason)]),
    value: key,
  };
}

/** The key that the statement names, and the signatures in strict DER with its key id. */
type Attempt = {
  readonly key: TrustedKey | undefined;
  readonly sound: readonly Uint8Array[];
  readonly message: Uint8Array;
};

/** `attestation.signature` */
function checkSignature(
  { key, sound }: Attempt,
  result: SignaturesResult,
  { subject, path }: SignedPath,
): Step {
  if (sound.length === 0)
    return endCheck('attestation.signature', 'not_checked', 'the signature cannot be decoded');
  if (key === undefined) return endCheck('attestation.signature', 'not_checked', 'no key to check it with');
  const verified = result.signatures.some(({ madeBy }) => madeBy === key);
  const message = 'the signature does not verify over the statement with the trusted key';
  const findings = verified
    ? []
    : [statementFinding('attestation.SIGNATURE_INVALID', subject, { path, message })];
  return recordCheck('attestation.signature', findings);
}

/** `second.crypto`; runs only with a second opinion. */
function checkSecondCrypto(
  { key, sound, message }: Attempt,
  first: Step,
  { subject, path, settings: { secondOpinion } }: SignedContext,
): Step {
  if (secondOpinion === undefined) return NOTHING;
  if (sound.length === 0 || key === undefined)
    return endCheck('second.crypto', 'not_checked', 'there was no signature and key to check');
  const implementation = secondOpinion.p256;
  const second = sound.some((signature) => verifySignature({ key, message, signature, implementation }));
  const verified = first.findings.length === 0;
  const opinions = { expected: verified ? 'valid' : 'invalid', actual: second ? 'valid' : 'invalid' };
  const text = 'the two implementations of the signature check disagree';
  const differs = statementFinding('attestation.SECOND_OPINION', subject, {
    path,
    message: text,
    ...opinions,
  });
  return recordCheck('second.crypto', second === verified ? [] : [differs]);
}
