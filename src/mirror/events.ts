import type { Code } from '../codes/index.ts';

/** How a file came to be where it is. */
export type FileState = 'kept' | 'fetched' | 'resumed';

/** What a mirror tells while it runs, for a progress bar or a log. `bytes` are of files, not of the wire. */
export type MirrorEvent =
  | {
      readonly type: 'planned';
      readonly files: number;
      readonly bytes: number;
      readonly missingFiles: number;
      readonly missingBytes: number;
    }
  | { readonly type: 'part-started'; readonly path: string; readonly bytes: number }
  /** `received` of `bytes` are here; it falls back to 0 when a file is started over. */
  | { readonly type: 'bytes'; readonly path: string; readonly received: number; readonly bytes: number }
  | { readonly type: 'part-done'; readonly path: string; readonly bytes: number; readonly state: FileState }
  | { readonly type: 'retry'; readonly path: string; readonly error: unknown; readonly delayMs: number }
  | { readonly type: 'failed'; readonly path: string; readonly code: Code; readonly message: string }
  | { readonly type: 'done'; readonly outcome: 'complete' | 'incomplete'; readonly receipt: string };

export type OnProgress = (event: MirrorEvent) => void;
