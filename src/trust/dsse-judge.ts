import { platform } from '#platform';
import type { P256 } from '../bytes/platform.ts';
import { DrillproofError } from '../errors.ts';
import { preAuthEncoding, type DsseEnvelope, type DsseSignature } from './dsse.ts';
import { judgeKey, type KeyProblem, type SignedStatement } from './judge.ts';
import { verifySignature } from './key/signature.ts';
import { distinctPoints, type TrustStore } from './store.ts';
import type { TrustedKey } from './trusted-key.ts';

/** What the payload says of itself, as far as the keys of an envelope are judged by it. */
export type DsseStatement = Omit<SignedStatement, 'issuer' | 'keyId'> & {
  /** Only keys of this issuer count; absent: of any in the store. */
  readonly issuer?: string;
  /** The key that a signature without a key id is tried with. Absent: such a signature counts for nothing. */
  readonly keyId?: string;
};

/** What became of one signature of an envelope. */
export type DsseSignatureJudgement = {
  readonly keyId?: string;
  /** The key that made it, when that key is trusted and speaks for the statement: then the signature counts. */
  readonly key?: TrustedKey;
  /** Why it does not count. */
  readonly problem?: KeyProblem;
};

export type DsseJudgement = {
  /** One for each signature of the envelope, in its order. */
  readonly signatures: readonly DsseSignatureJudgement[];
  /** The keys of the signatures that count. */
  readonly keys: readonly TrustedKey[];
  /** How many different keys these are: one point counts once, however often and under whatever names it signed. */
  readonly distinct: number;
};

/**
 * Judges every signature of an envelope under a trust store: a signature counts when a key of its key id made it and
 * speaks for the statement (formats §3). It judges nothing of the payload but what `statement` says of it.
 * Problems: those of `judgeKey`, `attestation.SIGNATURE_ENCODING`, `attestation.SIGNATURE_INVALID`,
 * `dsse.KEYID_MISMATCH`.
 */
export function judgeDsse(
  envelope: DsseEnvelope,
  trust: TrustStore,
  statement: DsseStatement,
  implementation: P256 = platform.p256,
): DsseJudgement {
  const message = preAuthEncoding(envelope.payloadType, envelope.payload);
  const signatures = envelope.signatures.map((one) =>
    judgeOne(one, message, trust, statement, implementation),
  );
  const keys = signatures.flatMap(({ key }) => key ?? []);
  return { signatures, keys, distinct: distinctPoints(keys) };
}

function judgeOne(
  { keyId: hint, signature }: DsseSignature,
  message: Uint8Array,
  trust: TrustStore,
  statement: DsseStatement,
  implementation: P256,
): DsseSignatureJudgement {
  const keyId = hint ?? statement.keyId;
  if (keyId === undefined) return { problem: nameless };
  const keys = trust.keys.filter(
    (key) => key.keyId === keyId && (statement.issuer ?? key.issuer) === key.issuer,
  );
  if (keys.length === 0) return { keyId, problem: unknown(keyId) };
  const problems: KeyProblem[] = [];
  for (const key of keys) {
    const problem =
      signatureProblem(key, message, signature, implementation) ?? keyProblem(trust, key, statement);
    if (problem === undefined) return { keyId, key };
    problems.push(problem);
  }
  return { keyId, problem: problems[0] ?? unknown(keyId) };
}

function signatureProblem(
  key: TrustedKey,
  message: Uint8Array,
  signature: Uint8Array,
  implementation: P256,
): KeyProblem | undefined {
  try {
    if (verifySignature({ key, message, signature, implementation })) return undefined;
  } catch (error) {
    if (!(error instanceof DrillproofError) || error.code !== 'encoding.DER_INVALID') throw error;
    return { code: 'attestation.SIGNATURE_ENCODING', message: error.message };
  }
  return {
    code: 'attestation.SIGNATURE_INVALID',
    message: 'it does not verify over the payload with that key',
  };
}

function keyProblem(trust: TrustStore, key: TrustedKey, statement: DsseStatement): KeyProblem | undefined {
  const { issuer, keyId } = key;
  const { problems, unchecked } = judgeKey(trust, { ...statement, issuer, keyId });
  const [scope] = unchecked;
  if (problems[0] !== undefined || scope === undefined) return problems[0];
  const code = scope === 'project' ? 'trust.PROJECT_MISMATCH' : 'trust.ORGANIZATION_MISMATCH';
  return { code, message: `the key is limited by ${scope}, and nothing here says which it is` };
}

const nameless: KeyProblem = {
  code: 'dsse.KEYID_MISMATCH',
  message: 'neither the signature nor the payload names a key',
};
const unknown = (keyId: string): KeyProblem => ({
  code: 'trust.KEY_UNKNOWN',
  message: 'no key of that name is trusted',
  actual: `key ${JSON.stringify(keyId)}`,
});
