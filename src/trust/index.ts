export * from './dsse.ts';
export { faultError, isObject, type KeyFault } from './faults.ts';
export { checkKey, type SignedStatement } from './check-key.ts';
export { formatEcJwk, readEcJwk, readFieldElement } from './key/jwk.ts';
export {
  isPrivateLabel,
  MAX_KEY_SET_BYTES,
  openKeyFile,
  openKeySetFile,
  type PemBlock,
  decodePem,
} from './key/key-file.ts';
export * from './key/key-set.ts';
export * from './key/key.ts';
export * from './key/signer.ts';
export { type SignatureClaim, type SignaturesResult, verifySignatures } from './signatures.ts';
export * from './store.ts';
export { type Purpose, PURPOSES, thumbprintOf, type TrustedKey } from './trusted-key.ts';
