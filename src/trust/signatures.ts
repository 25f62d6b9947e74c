import { hasCode } from '../errors.ts';
import type { DsseSignature, SignedMessage } from './dsse.ts';
import {
  checkKey,
  describeUnknownKey,
  type KeyProblem,
  type KeyResult,
  type SignedStatement,
} from './check-key.ts';
import { verifySignature, type SignatureCheck, type VerifySignature } from './key/signer.ts';
import { countDistinctKeys, type TrustStore } from './store.ts';
import { thumbprintOf, type TrustedKey } from './trusted-key.ts';

/** The part of the signed bytes that decides which keys count. */
export type SignatureClaim = Omit<SignedStatement, 'issuer' | 'keyId'> & {
  /** The issuer that the payload names: only its keys count. Absent: keys of any issuer in the store count. */
  readonly issuer?: string;
  /** Keys of other issuers count too, as countersignatures. */
  readonly countersigners?: boolean;
  /** The key for signatures without a key id. Absent: such a signature does not count. */
  readonly keyId?: string;
  /** What `checkKey` found for the key with this issuer and key id. Absent: it is checked where a signature is of it. */
  readonly namedKey?: KeyResult;
};

/** The result for one signature. */
export type SignatureResult = {
  readonly keyId?: string;
  /** The key of the store that made it, whether or not it is valid for the statement. */
  readonly madeBy?: TrustedKey;
  /** That key, if it is valid for the statement, so that the signature counts. */
  readonly key?: TrustedKey;
  /** The reason why it does not count. */
  readonly problem?: KeyProblem;
};

export type SignaturesResult = {
  /** One for each signature, in order. */
  readonly signatures: readonly SignatureResult[];
  /** The keys of the signatures that count. */
  readonly keys: readonly TrustedKey[];
  /** The number of different keys: one point counts once, whatever its names and the number of its signatures. */
  readonly distinct: number;
};

/**
 * Verifies every signature of a message under a trust store. A signature counts if a key with its key id made it and is
 * valid for the statement (formats §3). All that is known of the message is the `claim`.
 * Problems: those of `checkKey`, `attestation.SIGNATURE_ENCODING`, `attestation.SIGNATURE_INVALID`,
 * `dsse.KEYID_MISMATCH`.
 */
export function verifySignatures(
  { message, signatures }: SignedMessage,
  trust: TrustStore,
  claim: SignatureClaim,
  verify: VerifySignature = verifySignature,
): SignaturesResult {
  const check = (key: TrustedKey, signature: Uint8Array): KeyProblem | undefined =>
    checkSignature({ key, message, signature }, verify);
  const results = signatures.map((signature) => verifyOne(signature, trust, claim, check));
  const keys = results.flatMap(({ key }) => key ?? []);
  return { signatures: results, keys, distinct: countDistinctKeys(keys) };
}

function verifyOne(
  { keyId: hint, signature }: DsseSignature,
  trust: TrustStore,
  claim: SignatureClaim,
  check: (key: TrustedKey, signature: Uint8Array) => KeyProblem | undefined,
): SignatureResult {
  const keyId = hint ?? claim.keyId;
  if (keyId === undefined) return { problem: nameless };
  const { issuer, countersigners = false } = claim;
  const open = issuer === undefined || countersigners;
  const keys = trust.keys.filter((key) => key.keyId === keyId && (open || key.issuer === issuer));
  const results = keys.map((key): SignatureResult => {
    const wrong = check(key, signature);
    if (wrong !== undefined) return { keyId, problem: wrong };
    const madeBy = findCreditedKey(trust, key, claim);
    if (madeBy === undefined) return { keyId, problem: ambiguous };
    const problem = checkTrust(trust, madeBy, claim);
    return problem === undefined ? { keyId, madeBy, key: madeBy } : { keyId, madeBy, problem };
  });
  const counting = results.find(({ key }) => key !== undefined);
  // Anyone may countersign, so only the key that the payload names is one of its issuer.
  const named = open && keyId !== claim.keyId ? undefined : issuer;
  return (
    counting ??
    results.find(({ madeBy }) => madeBy) ??
    results[0] ?? { keyId, problem: describeUnknownKey(trust, { issuer: named, keyId }) }
  );
}

/**
 * The name that gets the credit for a signature: the one of the issuer in the payload, if the store has the key for that
 * issuer. The key id of a signature is not signed, so it cannot choose among several issuers.
 */
function findCreditedKey(
  trust: TrustStore,
  key: TrustedKey,
  { issuer, keyId }: SignatureClaim,
): TrustedKey | undefined {
  if (issuer === undefined) return key;
  const names = trust.keys.filter((other) => other === key || thumbprintOf(other) === thumbprintOf(key));
  const named = names.filter((name) => name.issuer === issuer);
  const find = (id: string | undefined): TrustedKey | undefined => named.find((name) => name.keyId === id);
  if (named.length > 0) return find(keyId) ?? find(key.keyId) ?? named[0];
  return names.every((name) => name.issuer === key.issuer) ? key : undefined;
}

function checkSignature(check: SignatureCheck, verify: VerifySignature): KeyProblem | undefined {
  try {
    if (verify(check)) return undefined;
  } catch (error) {
    if (!hasCode(error, 'encoding.DER_INVALID')) throw error;
    return { code: 'attestation.SIGNATURE_ENCODING', message: error.message };
  }
  return {
    code: 'attestation.SIGNATURE_INVALID',
    message: 'it does not verify over the payload with that key',
  };
}

function checkTrust(
  trust: TrustStore,
  key: TrustedKey,
  { namedKey, ...statement }: SignatureClaim,
): KeyProblem | undefined {
  const { issuer, keyId } = key;
  const { problems, unchecked } =
    namedKey?.key === key ? namedKey : checkKey(trust, { ...statement, issuer, keyId });
  const [scope] = unchecked;
  if (problems[0] !== undefined || scope === undefined) return problems[0];
  const code = scope === 'project' ? 'trust.PROJECT_MISMATCH' : 'trust.ORGANIZATION_MISMATCH';
  return { code, message: `the key is limited by ${scope}, and the evidence is of unknown ${scope}` };
}

const nameless: KeyProblem = {
  code: 'dsse.KEYID_MISMATCH',
  message: 'neither the signature nor the payload names a key',
};
const ambiguous: KeyProblem = {
  code: 'trust.KEY_UNKNOWN',
  message: 'the key is trusted for several issuers, and the payload names none of them',
};
