export { scrubMany, scrubMirror } from './mirror.ts';
export type { ScrubEvent, ScrubOptions, ScrubJournal, ScrubPlace, ScrubView } from './options.ts';
export * from './repair.ts';
export type { MirrorScrub } from './result.ts';
