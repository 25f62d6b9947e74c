import type { Digest } from '../../bytes/hash.ts';
import { digestSchema } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';

/** Whether a value is a digest in the one form that there is. */
export const isDigest = (value: unknown): value is Digest => digestSchema.safeParse(value).success;

/** A text that a schema has already proven to be a digest, as its type. */
export function toDigest(text: string): Digest {
  if (isDigest(text)) return text;
  throw new DrillproofError('internal.BUG', 'a digest of another form came past its schema');
}
