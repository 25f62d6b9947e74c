export { scrubMany, scrubMirror } from './mirror.ts';
export type { ScrubEvent, ScrubOptions, ScrubJournal, ScrubPlace, ScrubView } from './options.ts';
export { repairMirror, type RepairOptions } from './repair.ts';
export type { MirrorScrub } from './result.ts';
