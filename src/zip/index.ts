export { assertSafeName, createNameCheck, ZIP_LIMITS, type ZipLimits } from './limits.ts';
export { exactAccess } from './read/access.ts';
export { type ZipNote, openZip, type ZipArchive } from './read/open.ts';
export { type ZipEntry } from './read/entry.ts';
export * from './write/write.ts';
