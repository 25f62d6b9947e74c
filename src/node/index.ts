/** `drillproof/node`: evidence in folders and files, verified on all cores, key files, and mirrors into folders. */
export { commandSigner, type CommandSignerOptions } from './keys/command-signer.ts';
export { directorySource } from './evidence/directory-source.ts';
export { openFile } from './evidence/file-access.ts';
export { generateSigningKey, readSigningKey, readVerifyingKey } from './keys/keys.ts';
export { mirrorDirectory } from './mirror/directory.ts';
export { verifyDirectory } from './verify-directory.ts';
export { mirrorExport } from '../mirror/index.ts';
