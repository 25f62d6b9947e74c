import { type Digest, digestOf, isDigest } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';

export { newId } from '../../node/fs-errors.ts';

/** An id derived from what it names, so that ingesting the same thing twice uses one id. */
export const deriveId = (prefix: string, ...names: readonly string[]): string =>
  `${prefix}_${digestOf(toUtf8(names.join(' '))).slice('sha256:'.length, 'sha256:'.length + 24)}`;

/** The digest in a text that a schema has already checked. */
export function toDigest(text: string): Digest {
  if (isDigest(text)) return text;
  throw new DrillproofError('internal.BUG', 'a malformed digest passed its schema');
}
