export type { ZipInput } from './write/encode-entry.ts';
export { type ZipLimits } from './limits.ts';
export type { ZipNote } from './read/notes.ts';
export { openZip, type ZipArchive, type ZipEntry } from './read/open.ts';
export { storedZipBytes, writeZip, type ZipWriteOptions } from './write/write.ts';
