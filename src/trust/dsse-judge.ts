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
  /** The issuer that the payload names: only its keys count. Absent: keys of any issuer in the store count. */
  readonly issuer?: string;
  /** Keys of other issuers count too, as countersignatures. */
  readonly countersigners?: boolean;
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
  const { issuer, countersigners = false } = statement;
  const open = issuer === undefined || countersigners;
  const keys = trust.keys.filter((key) => key.keyId === keyId && (open || key.issuer === issuer));
  const problems: KeyProblem[] = [];
  for (const key of keys) {
    const wrong = signatureProblem(key, message, signature, implementation);
    const signer = wrong === undefined ? creditedKey(trust, key, statement) : undefined;
    if (signer === undefined) {
      problems.push(wrong ?? ambiguous);
      continue;
    }
    const problem = keyProblem(trust, signer, statement);
    if (problem === undefined) return { keyId, key: signer };
    problems.push(problem);
  }
  return { keyId, problem: problems[0] ?? unknown(keyId) };
}

/**
 * The name under which a key that signed is credited: that of the issuer in the payload, where the store has the key for
 * that issuer. The key id of a signature is not signed, so it cannot choose among several issuers: then there is none.
 */
function creditedKey(
  trust: TrustStore,
  key: TrustedKey,
  { issuer, keyId }: DsseStatement,
): TrustedKey | undefined {
  if (issuer === undefined) return key;
  const names = trust.keys.filter(({ point }) => point.every((byte, at) => byte === key.point[at]));
  const named = names.filter((name) => name.issuer === issuer);
  const byId = (id: string | undefined): TrustedKey | undefined => named.find((name) => name.keyId === id);
  if (named.length > 0) return byId(keyId) ?? byId(key.keyId) ?? named[0];
  return names.every((name) => name.issuer === key.issuer) ? key : undefined;
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
const ambiguous: KeyProblem = {
  code: 'trust.KEY_UNKNOWN',
  message: 'the key is trusted for several issuers, and the payload names none of them',
};
const unknown = (keyId: string): KeyProblem => ({
  code: 'trust.KEY_UNKNOWN',
  message: 'no key of that name is trusted',
  actual: `key ${JSON.stringify(keyId)}`,
});
