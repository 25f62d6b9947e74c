export { scrubMany, scrubMirror } from './mirror.ts';
export type { ScrubEvent, ScrubOptions } from './options.ts';
export type { ScrubJournal, ScrubPlace, ScrubView } from './place.ts';
export { repairMirror, type RepairOptions } from './repair.ts';
export type { MirrorScrub, ScrubFault } from './result.ts';
