export {
  judgeKey,
  type KeyJudgement,
  type KeyNote,
  type KeyProblem,
  type SignedStatement,
  type UncheckedScope,
} from './judge.ts';
export {
  importPublicKey,
  keyIdOf,
  publicJwk,
  publicKeyPem,
  type PublicJwk,
  type VerifyingKey,
} from './key.ts';
export { verifySignature, type SignatureCheck } from './signature.ts';
export { createSigner, type Signer } from './signer.ts';
export { distinctPoints, parseTrustStore, trustStore, trustStoreJwks, type TrustStore } from './store.ts';
export { PURPOSES, type Purpose, type TrustedKey } from './trusted-key.ts';
