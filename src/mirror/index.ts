export {
  discoverExports,
  mirrorMany,
  type ArchiveOutcome,
  type ExportFailure,
  type Wish,
} from './archive.ts';
export { bagSink } from './bag-sink.ts';
export { checkMirror, type MirrorCheck, type MirrorFault } from './check.ts';
export type { FileState, MirrorEvent, OnProgress } from './events.ts';
export { mirrorExport } from './mirror.ts';
export { createPacer } from './fetch/pace.ts';
export { appendReceipt, type ReceiptFacts, type WrittenReceipt } from './receipts.ts';
export { replicaClient, type MirrorClient } from './replica.ts';
export type { MirrorOptions } from './run.ts';
export type { Expected, MirrorSink, MirrorTarget, MirrorView, PartialFile } from './sink.ts';
export type { MirrorReceipt } from '../evidence/export/receipt.ts';
