export {
  AMOUNT,
  amountsOf,
  BYTES,
  BYTES_OR_TEXT,
  checkArguments,
  COUNT,
  type Defined,
  defined,
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
export { abortable, closeAfter, mapConcurrently, once, rejectWithReason, turn } from './async.ts';
export { collectBytes, concatBytes, joinChunks } from './chunks.ts';
export { assertEcdsaDer, type DerElement, derTag, readDer, readDerItems } from './der.ts';
export {
  DIGEST,
  type Digest,
  digestAccess,
  digester,
  digestOf,
  digestSoon,
  digestStream,
  isDigest,
} from './hash.ts';
export { canonicalBytes, canonicalJson, parseCanonicalJson } from './json/canonical.ts';
export {
  formatJsonPointer,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  parseJson,
  parseJsonPointer,
  parseJsonText,
} from './json/parse.ts';
export { platform, zipPlatform } from './platform-portable.ts';
export type { Bytes, P256, P256Verifier } from './platform.ts';
export { pathTwin, portablePathProblem } from './portable-path.ts';
export {
  ACCESS,
  holdSmall,
  memoryAccess,
  type RandomAccess,
  readExactly,
  sliceAccess,
  streamAccess,
  watchedBy,
} from './random-access.ts';
export {
  fromBase64,
  fromBase64url,
  fromHex,
  toBase64,
  toBase64url,
  toHex,
  compareUtf8,
  fromUtf8,
  toUtf8,
} from './text/encoding.ts';
export { didYouMean, isoTime } from './text/wording.ts';
