import { LimitError } from '../../../errors.ts';
import type { Bucket, ListedObject } from '../bucket.ts';

/** Objects below a prefix that are held in memory, far more than the files that an export may have. */
const MAX_OBJECTS = 1_000_000;

/**
 * The objects below a prefix, which ends with a slash or is empty, by their path from there. What consoles make to
 * show a folder, an empty object whose key ends with a slash, is none.
 * @throws LimitError `export.FILES_EXCEEDED`, and what the bucket throws
 */
export async function listTree(bucket: Bucket, prefix: string): Promise<Map<string, ListedObject>> {
  const tree = new Map<string, ListedObject>();
  for await (const object of bucket.list(prefix)) {
    if (!object.key.startsWith(prefix)) continue;
    if (object.bytes === 0 && (object.key === prefix || object.key.endsWith('/'))) continue;
    tree.set(object.key.slice(prefix.length), object);
    if (tree.size > MAX_OBJECTS) {
      const message = `more than ${MAX_OBJECTS} objects lie under ${bucket.nameOf(prefix)}`;
      throw new LimitError('export.FILES_EXCEEDED', message);
    }
  }
  return tree;
}
