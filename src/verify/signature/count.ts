import type { Digest } from '../../bytes/hash.ts';
import { compareUtf8 } from '../../bytes/text/encoding.ts';
import { buildSignedMessage, type DsseEnvelope, type SignedMessage } from '../../trust/dsse.ts';
import type { VerifySignature } from '../../trust/key/signer.ts';
import { type SignatureClaim, type SignaturesResult, verifySignatures } from '../../trust/signatures.ts';
import type { TrustStore } from '../../trust/store.ts';
import { thumbprintOf } from '../../trust/trusted-key.ts';
import { finding, statementFinding } from '../finding.ts';
import type { Finding } from '../report.ts';
import { endCheck, recordCheck, type StepOf } from '../step.ts';

/** The subject of findings, and the path of the signed document. */
export type SignedPath = { readonly subject: string; readonly path: string };

type CountContext = SignedPath & {
  readonly trust: TrustStore;
  readonly threshold?: number;
  readonly verify?: VerifySignature;
};

/**
 * `dsse.threshold`: verifies each signature once and counts the different trusted keys, whatever their names. Signatures
 * that do not count are reported, except those of the key that the statement names.
 */
export function countSignatures(
  signed: SignedMessage,
  claim: SignatureClaim,
  { subject, path, trust, threshold = 1, verify }: CountContext,
): StepOf<SignaturesResult> {
  const value = verifySignatures(signed, trust, claim, verify);
  const findings = value.signatures.flatMap(({ keyId, problem }, at) => {
    if (problem === undefined || (keyId !== undefined && keyId === claim.keyId)) return [];
    const message = `the signature of ${keyId === undefined ? 'an unnamed key' : JSON.stringify(keyId)} does not count: ${problem.message}`;
    return [
      statementFinding('dsse.SIGNATURE_UNCOUNTED', subject, { path: `${path}#/signatures/${at}`, message }),
    ];
  });
  if (value.distinct < threshold && threshold > 1) {
    const message = 'fewer different trusted keys signed than required';
    const counts = { expected: `at least ${threshold}`, actual: String(value.distinct) };
    findings.push(
      statementFinding('dsse.THRESHOLD_MISSED', subject, { path: `${path}#/signatures`, message, ...counts }),
    );
  }
  const step =
    value.distinct === 0 && threshold === 1
      ? { ...endCheck('dsse.threshold', 'failed', 'no trusted key signed it'), findings }
      : recordCheck('dsse.threshold', findings);
  return { ...step, value };
}

/** The signatures of a document that is not about a bundle or an export: a summary, or a signed report. */
export type DocumentSignatures = {
  /** Thumbprints of the trusted keys that signed it, each once, sorted. */
  readonly keys: readonly Digest[];
  /** Without a key that counts, the reason of each signature, as an error. */
  readonly findings: readonly Finding[];
};

/** Verifies the signatures of an envelope, of which at least one must count. */
export function verifyDocumentSignatures(
  envelope: DsseEnvelope,
  claim: SignatureClaim,
  { trust, ...context }: Omit<CountContext, 'trust'> & { readonly trust: TrustStore | undefined },
): DocumentSignatures {
  const { subject, path } = context;
  if (trust === undefined) {
    const message = 'no trust store was given, so no signature was verified';
    return { keys: [], findings: [finding('trust.STORE_ABSENT', subject, { message })] };
  }
  const { value, findings } = countSignatures(buildSignedMessage(envelope), claim, { ...context, trust });
  const keys = [...new Set(value.keys.map(thumbprintOf))].toSorted(compareUtf8);
  if (keys.length > 0) return { keys, findings };
  const problems = value.signatures.flatMap(({ problem }, at) => {
    if (problem === undefined) return [];
    const { code, ...detail } = problem;
    return [finding(code, subject, { path: `${path}#/signatures/${at}`, ...detail })];
  });
  return { keys, findings: problems };
}
