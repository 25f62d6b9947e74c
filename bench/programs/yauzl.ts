/**
 * Verifies parts with plain yauzl, as a Node program would: hashes the archive, then every entry, and checks the CRC-32,
 * because yauzl does not.
 *
 *     node yauzl.ts EXPORT
 */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { openPromise } from 'yauzl';
import { crc32 } from 'node:zlib';

const [, , folder = ''] = process.argv;

async function digest(stream: Readable, expectedCrc?: number): Promise<string> {
  const sha256 = createHash('sha256');
  let crc = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sha256.update(chunk);
    crc = crc32(chunk, crc);
  }
  if (expectedCrc !== undefined && crc !== expectedCrc) throw new Error('the CRC-32 does not match');
  return `sha256:${sha256.digest('hex')}`;
}

const { parts } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
  parts: { path: string; digest: string }[];
};
for (const part of parts) {
  const path = join(folder, part.path);
  if ((await digest(createReadStream(path))) !== part.digest) throw new Error(`${path} does not match`);
  const archive = await openPromise(path, { autoClose: false });
  for await (const entry of archive.eachEntry())
    await digest(await archive.openReadStreamPromise(entry), entry.crc32);
  archive.close();
}
