// Loaded before the command: counts the bytes that it hashes, writes, and reads of archives, and prints them at the end.
import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const counts = { read: 0, hashed: 0, written: 0 };
const { openSync, readSync } = fs;
const archives = new Set();
fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  if (String(path).endsWith('.zip')) archives.add(fd);
  return fd;
};
fs.readSync = (fd, ...rest) => {
  const bytes = readSync(fd, ...rest);
  if (archives.has(fd)) counts.read += bytes; // modules are read too
  return bytes;
};

const { createHash, hash } = crypto;
crypto.createHash = (...args) => {
  const sum = createHash(...args);
  const update = sum.update.bind(sum);
  sum.update = (chunk) => {
    counts.hashed += chunk.length;
    return update(chunk);
  };
  return sum;
};
crypto.hash = (algorithm, data, ...rest) => {
  counts.hashed += data.length;
  return hash(algorithm, data, ...rest);
};

const { write, writeSync } = fs;
fs.writeSync = (...args) => {
  const bytes = writeSync(...args);
  counts.written += bytes;
  return bytes;
};
fs.write = (fd, chunk, at, done) =>
  write(fd, chunk, at, (cause, bytes) => {
    counts.written += bytes;
    done(cause, bytes);
  });
const handle = await fs.promises.open(new URL(import.meta.url));
const prototype = Object.getPrototypeOf(handle);
await handle.close();
const { write: writeToHandle } = prototype;
prototype.write = async function (...args) {
  const result = await writeToHandle.apply(this, args);
  counts.written += result.bytesWritten;
  return result;
};
syncBuiltinESMExports();
process.once('exit', () => process.stderr.write(`\ncounted ${JSON.stringify(counts)}\n`));
