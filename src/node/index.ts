/** `drillproof/node`: evidence in folders and files, verified on all cores, and mirrors into folders. */
export { directorySource } from './directory-source.ts';
export { openFile } from './file-access.ts';
export { openEvidence, type OpenEvidence } from './open-evidence.ts';
export { secondOpinion } from './second-opinion.ts';
export { verifyDirectory, type VerifyDirectoryOptions } from './verify-directory.ts';
