import type { Code } from '../codes/index.ts';

/** How a file came to be where it is; `linked` from a store on this machine. */
export type FileState = 'kept' | 'fetched' | 'resumed' | 'linked';

/** What a look at a file found. */
export type FoundState = 'proven' | 'missing' | 'damaged' | 'unreadable';

/**
 * What `onProgress` of a mirror receives, for a progress bar or a log. `bytes` are those of files, not of the network.
 */
export type MirrorEvent =
  /** The export is still being generated; the next look comes after `delayMs`. */
  | {
      readonly type: 'waiting';
      readonly state: string;
      readonly completed: number;
      readonly of: number;
      readonly delayMs: number;
    }
  /** The source deletes the export, or did; the mirror goes on from what is here. */
  | { readonly type: 'source-deleted' }
  /** What the manifest lists is known; what is here is going to be proven. */
  | { readonly type: 'listed'; readonly files: number; readonly bytes: number }
  | { readonly type: 'looked'; readonly path: string; readonly bytes: number; readonly found: FoundState }
  | {
      readonly type: 'planned';
      readonly files: number;
      readonly bytes: number;
      readonly missingFiles: number;
      readonly missingBytes: number;
    }
  | { readonly type: 'part-started'; readonly path: string; readonly bytes: number }
  /** `received` of `bytes` lie here from an earlier run, to be continued. */
  | { readonly type: 'resumed'; readonly path: string; readonly received: number; readonly bytes: number }
  /** `received` of `bytes` are here; it falls back to 0 when a file is started over. */
  | { readonly type: 'bytes'; readonly path: string; readonly received: number; readonly bytes: number }
  | { readonly type: 'part-done'; readonly path: string; readonly bytes: number; readonly state: FileState }
  | { readonly type: 'retry'; readonly path: string; readonly error: unknown; readonly delayMs: number }
  | { readonly type: 'failed'; readonly path: string; readonly code: Code; readonly message: string }
  | { readonly type: 'done'; readonly outcome: 'complete' | 'incomplete'; readonly receipt: string };

export type OnProgress = (event: MirrorEvent) => void;
