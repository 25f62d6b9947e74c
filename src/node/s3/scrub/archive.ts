import { compareUtf8 } from '../../../bytes/text/utf8.ts';
import { bagSource, isBag, type EvidenceSource } from '../../../evidence/index.ts';
import type { ScrubPlace, ScrubView } from '../../../scrub/index.ts';
import { PRIVATE } from '../../mirror/tree.ts';
import {
  isSign,
  JOURNALS,
  scrubbed,
  type ScrubArchive,
  type ScrubArchiveOptions,
} from '../../scrub/archive.ts';
import { folderJournal } from '../../scrub/journal.ts';
import { openBucket, type Bucket } from '../bucket.ts';
import { s3Error } from '../errors.ts';
import { parseS3Location, s3Name, type S3Location } from '../location.ts';
import { mirrorS3 } from '../mirror/s3.ts';
import { objectJournal } from './journal.ts';
import { loadSdk } from '../sdk.ts';
import { s3Source } from '../source.ts';

const ATTEMPTS = 6;

/** `openScrubArchive` for `s3://bucket/prefix`. @throws as it does */
export async function openS3Archive(url: string, options: ScrubArchiveOptions): Promise<ScrubArchive> {
  const { env = process.env, journal } = options;
  const location = parseS3Location(url, { name: 'the address in S3', code: 'usage.INVALID' });
  const bucket = openBucket(await loadSdk(), location, { env, attempts: ATTEMPTS });
  try {
    const { prefix } = location;
    const { folders, objects } = await listLevel(bucket, prefix);
    const single = [...folders, ...objects].some(isSign);
    const [parent, own] = single ? split(prefix) : [prefix, ''];
    const open = (name: string): ScrubPlace => {
      const at = { ...location, prefix: single ? prefix : `${prefix}${name}/` };
      const kept =
        journal === undefined
          ? objectJournal(bucket, `${parent}${JOURNALS}/${name}.jsonl`)
          : folderJournal(journal, name);
      return place(bucket, at, name, kept, env);
    };
    return {
      single,
      mirrors: single ? [own] : folders.filter((name) => !hidden(name)).toSorted(compareUtf8),
      strays: single ? [] : objects.filter((name) => !hidden(name)).toSorted(compareUtf8),
      open,
      close: async () => bucket.client.destroy(),
    };
  } catch (cause) {
    bucket.client.destroy();
    throw cause;
  }
}

function place(
  bucket: Bucket,
  location: S3Location,
  name: string,
  journal: ScrubPlace['journal'],
  env: ScrubArchiveOptions['env'] = {},
): ScrubPlace {
  return {
    name,
    place: s3Name(location),
    journal,
    look: () => lookAt(bucket, location.prefix),
    sink: async () => mirrorS3(location, { env }),
    close: () => Promise.resolve(),
  };
}

async function lookAt(bucket: Bucket, prefix: string): Promise<ScrubView> {
  const tree = s3Source(bucket, prefix);
  const all = await tree.files();
  const source: EvidenceSource = isBag(all.map(({ path }) => path)) ? bagSource(tree) : tree;
  const files = scrubbed(await source.files());
  return { source, files, unfinished: all.some(({ path }) => path.startsWith(`${PRIVATE}/`)) };
}

const hidden = (name: string): boolean => name.startsWith('.');

/** The last step of a prefix, and what stands before it; the bucket itself where there is none. */
function split(prefix: string): [parent: string, name: string] {
  const [, parent = '', name = ''] = /^(.*?)([^/]*)\/?$/s.exec(prefix) ?? [];
  return [parent, name === '' ? 'bucket' : name];
}

/** The names directly below a prefix: of what lies deeper, and of objects. */
async function listLevel(bucket: Bucket, prefix: string): Promise<{ folders: string[]; objects: string[] }> {
  const { client, sdk, name } = bucket;
  const folders: string[] = [];
  const objects: string[] = [];
  const decoded = (key: string): string => decodeURIComponent(key.replaceAll('+', ' ')).slice(prefix.length);
  let token: string | undefined;
  do {
    const page = await client
      .send(
        new sdk.ListObjectsV2Command({
          Bucket: name,
          Prefix: prefix,
          Delimiter: '/',
          EncodingType: 'url', // XML cannot hold every character of a key
          ...(token !== undefined && { ContinuationToken: token }),
        }),
      )
      .catch((cause: unknown) => {
        throw s3Error(cause, bucket.nameOf(prefix), 'read');
      });
    for (const { Prefix = '' } of page.CommonPrefixes ?? []) folders.push(decoded(Prefix).replace(/\/$/, ''));
    for (const { Key = '' } of page.Contents ?? []) objects.push(decoded(Key));
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
  return { folders, objects: objects.filter((key) => key !== '') };
}
