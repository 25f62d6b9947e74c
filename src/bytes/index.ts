export { digestAccess, digester, digestOf, type Digest } from './hash.ts';
export { canonicalBytes, canonicalJson } from './json/canonical.ts';
export { parseJson, type JsonValue } from './json/parse.ts';
export { memoryAccess, type RandomAccess } from './random-access.ts';
