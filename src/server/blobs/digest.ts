import type { Digest } from '../../bytes/index.ts';
import { digestSchema } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';

/** Whether a value is a digest. */
export const isDigest = (value: unknown): value is Digest => digestSchema.safeParse(value).success;

/** The digest in a text that a schema has already checked. */
export function toDigest(text: string): Digest {
  if (isDigest(text)) return text;
  throw new DrillproofError('internal.BUG', 'a malformed digest passed its schema');
}
