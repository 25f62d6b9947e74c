export { platform as portablePlatform } from './platform-portable.ts';
export { rejectWithReason } from './abort.ts';
export {
  AMOUNT,
  BYTES,
  BYTES_OR_TEXT,
  checkArguments,
  COUNT,
  FLAG,
  FUNCTION,
  ITERABLE,
  type Kind,
  LIST,
  listOf,
  type Members,
  type MembersOf,
  OBJECT,
  oneOf,
  optional,
  optionsOf,
  PATH,
  SIGNAL,
  TEXT,
  TIME,
  withMembers,
  withMethods,
} from './arguments.ts';
export { mapConcurrently } from './concurrently.ts';
export { defined } from './defined.ts';
export { assertEcdsaDer, type DerElement, derTag, readDer, readDerItems } from './der.ts';
export { abortable, type Digest, digestAccess, digester, digestOf, digestStream } from './hash.ts';
export { canonicalBytes, canonicalJson } from './json/canonical.ts';
export { parseCanonicalJson } from './json/document.ts';
export type { JsonLimits } from './json/limits.ts';
export { type JsonObject, type JsonValue, MAX_JSON_DEPTH, parseJson, parseJsonText } from './json/parse.ts';
export { formatJsonPointer, parseJsonPointer } from './json/pointer.ts';
export { once } from './once.ts';
export { platform } from './platform-portable.ts';
export type { Bytes, P256, P256Verifier } from './platform.ts';
export { pathTwin, portablePathProblem } from './portable-path.ts';
export {
  ACCESS,
  memoryAccess,
  type RandomAccess,
  readExactly,
  sliceAccess,
  streamAccess,
  watchedBy,
} from './random-access.ts';
export { fromBase64, toBase64 } from './text/base64.ts';
export { fromBase64url, toBase64url } from './text/base64url.ts';
export { fromHex, toHex } from './text/hex.ts';
export { isoTime } from './text/iso-time.ts';
export { didYouMean } from './text/near-miss.ts';
export { compareUtf8, fromUtf8, toUtf8 } from './text/utf8.ts';
export { turn } from './turn.ts';
