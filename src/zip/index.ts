export type { ZipInput } from './encode-entry.ts';
export { zipLimits, type ZipLimits } from './limits.ts';
export type { ZipNote } from './notes.ts';
export { openZip, type ZipArchive, type ZipEntry } from './open.ts';
export { storedZipBytes, writeZip, type ZipWriteOptions } from './write.ts';
