export { fromBase64url, toBase64url } from './text/base64url.ts';
export { assertEcdsaDer } from './der.ts';
export { digestAccess, digester, digestOf, digestStream, type Digest } from './hash.ts';
export { fromHex, toHex } from './text/hex.ts';
export { canonicalBytes, canonicalJson } from './json/canonical.ts';
export { parseCanonicalJson } from './json/document.ts';
export { parseJson, type JsonLimits, type JsonObject, type JsonValue } from './json/parse.ts';
export type { Bytes, P256, P256Signer, Platform, Sha256 } from './platform.ts';
export { memoryAccess, sliceAccess, streamAccess, type RandomAccess } from './random-access.ts';
