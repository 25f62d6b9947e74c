export {
  discoverExports,
  mirrorMany,
  type ArchiveOutcome,
  type Discovered,
  type ExportFailure,
  type Wish,
} from './archive.ts';
export { bagSink } from './bag-sink.ts';
export { checkMirror, type MirrorCheck, type MirrorFault } from './check.ts';
export type { FileState, FoundState, MirrorEvent, OnProgress } from './events.ts';
export { mirrorExport } from './mirror.ts';
export { createPacer, type Pacer, type PacerOptions, type Place } from './pace.ts';
export {
  appendReceipt,
  type ReceiptFacts,
  type ReceiptOptions,
  type ReceiptSigning,
  type WrittenReceipt,
} from './receipts.ts';
export { replicaClient, type MirrorClient } from './replica.ts';
export type { MirrorOptions } from './run.ts';
export type { ScrubJournal } from './scrub-journal.ts';
export { repairMirror, type RepairOptions } from './scrub-repair.ts';
export { scrubMany } from './scrub-many.ts';
export { scrubMirror } from './scrub-mirror.ts';
export type { ScrubEvent, ScrubOptions } from './scrub-options.ts';
export type { ScrubPlace, ScrubView } from './scrub-place.ts';
export type { MirrorScrub, ScrubFault } from './scrub-result.ts';
export type { Expected, MirrorSink, MirrorTarget, MirrorView, PartialFile } from './sink.ts';
export type { LinkedReceipt, MirrorReceipt } from '../evidence/receipt.ts';
