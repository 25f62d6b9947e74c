import { compareUtf8 } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { bagSource, isBag } from '../../evidence/index.ts';
import type { ScrubJournal } from '../../scrub/index.ts';
import { openBucket, type Bucket, type ObjectFacts } from '../s3/bucket.ts';
import { s3Error } from '../s3/errors.ts';
import { parseS3Location, s3Name, type AwsEnvironment, type S3Location } from '../s3/location.ts';
import { mirrorS3 } from '../s3/mirror/s3.ts';
import { readRange } from '../s3/object-stream.ts';
import { loadSdk } from '../s3/sdk.ts';
import { s3Source } from '../s3/source.ts';
import { MAX_LOG_BYTES, type Level, type Volume } from './volume.ts';

const ATTEMPTS = 6;
const APPEND_TRIES = 5;

/** @throws DrillproofError `usage.INVALID`, `io.PACKAGE_MISSING` */
export async function openS3Volume(url: string, env: AwsEnvironment): Promise<Volume> {
  const location = parseS3Location(url, { name: 'the address in S3', code: 'usage.INVALID' });
  const bucket = openBucket(await loadSdk(), location, { env, attempts: ATTEMPTS });
  return s3Volume(bucket, location, env);
}

function s3Volume(bucket: Bucket, location: S3Location, env: AwsEnvironment): Volume {
  const { prefix } = location;
  const at = (below: string): Volume => s3Volume(bucket, { ...location, prefix: below }, env);
  return {
    name: s3Name(location),
    list: () => listLevel(bucket, prefix),
    source: () => s3Source(bucket, prefix),
    async exportTree() {
      const tree = s3Source(bucket, prefix);
      const paths = (await tree.files()).map(({ path }) => path);
      return { source: isBag(paths) ? bagSource(tree) : tree };
    },
    sink: () => mirrorS3(location, { env }),
    log: (path) => objectLog(bucket, `${prefix}${path}`),
    child: (name) => at(`${prefix}${name}/`),
    split() {
      const [, parent = '', name = ''] = /^(.*?)([^/]*)\/?$/s.exec(prefix) ?? [];
      return { parent: at(parent), name: name === '' ? 'bucket' : name };
    },
    close: async () => bucket.client.destroy(),
  };
}

async function listLevel(bucket: Bucket, prefix: string): Promise<Level> {
  const { client, sdk, name } = bucket;
  const folders: string[] = [];
  const files: string[] = [];
  const decode = (key: string): string => decodeURIComponent(key.replaceAll('+', ' ')).slice(prefix.length);
  let token: string | undefined;
  do {
    const command = new sdk.ListObjectsV2Command({
      Bucket: name,
      Prefix: prefix,
      Delimiter: '/',
      EncodingType: 'url', // XML cannot hold every character of a key
      ...(token !== undefined && { ContinuationToken: token }),
    });
    const page = await client.send(command).catch((cause: unknown) => {
      throw s3Error(cause, bucket.nameOf(prefix), 'read');
    });
    for (const { Prefix = '' } of page.CommonPrefixes ?? []) folders.push(decode(Prefix).replace(/\/$/, ''));
    for (const { Key = '' } of page.Contents ?? []) files.push(decode(Key));
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
  return { folders: folders.toSorted(compareUtf8), files: files.filter(Boolean).toSorted(compareUtf8) };
}

/** Appending writes a new object with all lines, provided that the old one is still the one that was read. */
function objectLog(bucket: Bucket, key: string): ScrubJournal {
  const readAll = async (): Promise<{ facts: ObjectFacts | undefined; bytes: Uint8Array }> => {
    const facts = await bucket.facts(key);
    if (facts === undefined || facts.bytes > MAX_LOG_BYTES) return { facts, bytes: new Uint8Array() };
    return { facts, bytes: await readRange(bucket, { key, ...facts }, { start: 0, end: facts.bytes }) };
  };
  const put = async (content: Uint8Array, before: ObjectFacts | undefined): Promise<boolean> => {
    const etags = before === undefined ? [] : [before.etag, before.etag.replaceAll('"', '')];
    const conditions =
      before === undefined ? [{ ifAbsent: true } as const] : etags.map((ifMatch) => ({ ifMatch }));
    // Servers differ in whether the entity tag of a condition has quotation marks.
    for (const when of conditions)
      if ((await bucket.put(key, content, { when })).outcome === 'written') return true;
    return false;
  };
  return {
    async read() {
      const { facts, bytes } = await readAll();
      return facts === undefined ? undefined : bytes;
    },
    async append(lines) {
      for (let tries = 0; tries < APPEND_TRIES; tries++) {
        const { facts, bytes } = await readAll();
        if (await put(Buffer.concat([bytes, lines]), facts)) return;
      }
      const path = bucket.nameOf(key);
      throw new DrillproofError(
        'io.WRITE_FAILED',
        `cannot write ${path}: other processes keep writing to it`,
        { path },
      );
    },
    async replace(content) {
      const { facts } = await readAll();
      await put(content, facts); // whoever wrote meanwhile has a newer log, which is as good
    },
  };
}
