export type { MirrorReceipt } from './../evidence/export/receipt.ts';
export {
  type ArchiveOutcome,
  discoverExports,
  type ExportFailure,
  mirrorMany,
  type Wish,
} from './archive.ts';
export { bagSink } from './bag-sink.ts';
export { checkMirror, type MirrorCheck, type MirrorFault } from './check.ts';
export type { FileState, MirrorEvent, MirrorOptions, OnProgress } from './run.ts';
export type { Failure } from './fetch/all.ts';
export { createPacer } from './fetch/pace.ts';
export { mirrorExport } from './mirror.ts';
export { appendReceipt, type ReceiptFacts, type WrittenReceipt } from './finish.ts';
export { type MirrorClient, replicaClient } from './replica.ts';
export { lookWith, readSmallFile } from './sink.ts';
export type { Expected, MirrorSink, MirrorTarget, MirrorView, PartialFile } from './sink.ts';
