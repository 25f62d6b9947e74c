export type { ScrubJournal } from './journal.ts';
export { scrubMany } from './many.ts';
export { scrubMirror } from './mirror.ts';
export type { ScrubEvent, ScrubOptions } from './options.ts';
export type { ScrubPlace, ScrubView } from './place.ts';
export { repairMirror, type RepairOptions } from './repair.ts';
export type { MirrorScrub, ScrubFault } from './result.ts';
