export type { FileState, MirrorEvent, OnProgress } from './events.ts';
export { mirrorExport } from './mirror.ts';
export type { MirrorOptions } from './run.ts';
export type { MirrorSink, MirrorTarget, PartialFile } from './sink.ts';
export type { MirrorReceipt } from '../evidence/receipt.ts';
