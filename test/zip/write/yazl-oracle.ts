import { deflateRawSync } from 'node:zlib';
import { ZipFile } from 'yazl';
import { bytesOf } from '../raw-zip.ts';
import { collect, type Files } from '../support.ts';

/** With `deflate`, an entry that does not become smaller is stored; yazl itself would deflate it all the same. */
export async function yazlZip(
  files: Files,
  compression: 'store' | 'deflate',
  firstOffset = 0,
): Promise<Uint8Array> {
  const zip = new ZipFile();
  Object.assign(zip, { outputStreamCursor: firstOffset }); // as if that many bytes had been written before
  for (const [name, content] of Object.entries(files)) {
    const buffer = Buffer.from(bytesOf(content));
    const compress = compression === 'deflate' && deflateRawSync(buffer).length < buffer.length;
    zip.addBuffer(buffer, name, { mtime: new Date(0), forceDosTimestamp: true, mode: 0o100644, compress });
  }
  zip.end();
  return collect(zip.outputStream as AsyncIterable<Uint8Array>);
}
