export { ZIP_LIMITS, type ZipLimits } from './limits.ts';
export { exactAccess } from './read/access.ts';
export { assertSafeName, distinctNames } from './read/names.ts';
export { type ZipNote, openZip, type ZipArchive } from './read/open.ts';
export { type ZipEntry } from './read/entry.ts';
export type { ZipInput } from './write/encode-entry.ts';
export { storedZipBytes, writeZip, type ZipWriteOptions } from './write/write.ts';
