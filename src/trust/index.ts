export { checkKey, type SignedStatement } from './judge.ts';
export { dsseBytes, parseDsse, preAuthEncoding, signDsse, signedMessage, type DsseEnvelope } from './dsse.ts';
export { verifySignatures, type SignatureClaim, type SignaturesResult } from './signatures.ts';
export { importPublicKeys, type NamedKey } from './key/key-set.ts';
export { importPublicKey, keyIdOf, publicJwk, publicKeyPem, type VerifyingKey } from './key/key.ts';
export { RETIREMENTS, retireKey, type Retirement } from './retire.ts';
export { verifySignature } from './key/signature.ts';
export { createSigner, signChecked, type Signer } from './key/signer.ts';
export {
  distinctPoints,
  parseTrustStore,
  resolveTrust,
  SIGNER_PURPOSES,
  trustStore,
  trustStoreJwks,
  type Trust,
  type TrustStore,
} from './store.ts';
export { PURPOSES, type Purpose, type TrustedKey } from './trusted-key.ts';
