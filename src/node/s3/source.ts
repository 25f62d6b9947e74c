import { compareUtf8 } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { EvidenceSource, OpenFile } from '../../evidence/index.ts';
import { blockAccess } from './block-access.ts';
import type { Bucket, ListedObject } from './bucket.ts';
import { readRange, type ObjectRef } from './object-stream.ts';
import { listTree } from './mirror/tree.ts';

/** What one open object may hold in memory: these blocks. */
const BLOCKS = { blockBytes: 4 * 1024 * 1024, blocks: 4, ahead: true } as const;

/** Random access to an object as it was listed; `io.CHANGED` once it is another. */
export function objectAccess(bucket: Bucket, object: ObjectRef): OpenFile {
  const access = blockAccess(object.bytes, (start, end) => readRange(bucket, object, { start, end }), BLOCKS);
  return { ...access, close: () => Promise.resolve() };
}

/**
 * An export below a prefix of a bucket, as it was when it was listed: an object that is replaced afterwards is not read
 * (`io.CHANGED`). A key that is no path of files, such as one with an empty step, is listed as it is: as what no
 * manifest lists.
 */
export function s3Source(bucket: Bucket, prefix: string): EvidenceSource {
  let listing: Promise<Map<string, ListedObject>> | undefined;
  const tree = (): Promise<Map<string, ListedObject>> => (listing ??= listTree(bucket, prefix));
  return {
    kind: 's3',
    async files() {
      const files = [...(await tree())].map(([path, { bytes, etag }]) => ({
        path,
        bytes,
        regular: true,
        identity: `${bytes}:${etag}`,
      }));
      return files.toSorted((a, b) => compareUtf8(a.path, b.path));
    },
    async open(path) {
      const object = (await tree()).get(path);
      if (object !== undefined) return objectAccess(bucket, object);
      throw new DrillproofError('io.NOT_FOUND', `there is no object ${bucket.nameOf(prefix + path)}`, {
        path,
      });
    },
  };
}
