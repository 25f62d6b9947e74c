import { digester } from '../../../bytes/index.ts';
import type { PartialFile } from '../../../mirror/index.ts';
import type { StoreDraft } from '../../mirror/part-store.ts';
import { PART_BYTES, type Written } from '../bucket.ts';
import { assertKept, conditionFor, keeping, keyIn, writeSmall, type Place } from './place.ts';
import { startUpload, type Upload } from './upload.ts';

/**
 * A file on its way into a bucket: held in memory while it is small, then an upload in parts. Nothing is seen under the
 * final name before `commit`; of a run that ended nothing can be read again, so there is never a beginning. With a
 * draft the bytes go into a store of this machine as well, once they have their name.
 */
export function openPartial(place: Place, path: string, draft?: StoreDraft): PartialFile {
  const key = keyIn(place.prefix, path);
  let sum = digester();
  let pieces: Uint8Array[] = [];
  let upload: Upload | undefined;

  const discard = async (): Promise<void> => {
    const given = upload;
    upload = undefined;
    pieces = [];
    sum = digester();
    await given?.abort();
  };
  const begin = (): Upload =>
    startUpload((body) =>
      place.bucket.write(key, body, { ...keeping(place), when: conditionFor(place, path) }),
    );
  return {
    bytes: 0,
    etag: undefined,
    async *read() {},
    async restart() {
      await discard();
      draft?.restart();
    },
    async append(chunk) {
      sum.update(chunk);
      draft?.append(chunk);
      pieces.push(chunk);
      if (upload === undefined && sum.bytes <= PART_BYTES) return;
      upload ??= begin();
      for (const piece of pieces.splice(0)) await upload.push(piece);
    },
    async commit() {
      const content = { digest: sum.digest(), bytes: sum.bytes };
      if (upload === undefined) await writeSmall(place, path, Buffer.concat(pieces.splice(0)));
      else {
        await place.lease.assertHeld();
        const answer = await finished(place, path, key, upload);
        upload = undefined;
        await assertKept(place, path, content, answer);
      }
      await draft?.keep(content);
    },
    async close() {
      await discard();
      await draft?.discard();
    },
  };
}

// Servers that do not know conditions at the end of an upload in parts are held to them by a look just before.
async function finished(
  { bucket, tree }: Place,
  path: string,
  key: string,
  upload: Upload,
): Promise<Written> {
  if ((await bucket.facts(key))?.etag === tree.get(path)?.etag) return upload.end();
  await upload.abort();
  return { outcome: 'conflict' };
}
