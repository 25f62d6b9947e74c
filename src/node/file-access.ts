import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { DrillproofError } from '../errors.ts';
import type { OpenFile } from '../evidence/index.ts';
import { ioError } from './fs-errors.ts';

/**
 * Random access to a regular file. Reads are synchronous: from the page cache that is several times faster than
 * asynchronous ones, and bulk work runs in threads of its own.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND` for what is no regular file, `io.UNREADABLE`
 */
export async function openFile(path: string): Promise<OpenFile> {
  const fd = openRegular(path);
  const { size } = fstatSync(fd);
  return {
    size,
    read: (offset, length) => readExactly(fd, path, offset, length),
    close() {
      closeSync(fd);
      return Promise.resolve();
    },
  };
}

function openRegular(path: string): number {
  let fd;
  try {
    // Opening a FIFO would wait for a writer for ever.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw ioError(cause, path, 'read');
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new DrillproofError('io.KIND', `${path} is no regular file`, { path });
}

function readExactly(fd: number, path: string, offset: number, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  let have = 0;
  while (have < length) {
    let got;
    try {
      got = readSync(fd, bytes, have, length - have, offset + have);
    } catch (cause) {
      throw ioError(cause, path, 'read');
    }
    if (got === 0)
      throw new DrillproofError('io.CHANGED', `${path} became shorter while it was read`, { path });
    have += got;
  }
  return bytes;
}
