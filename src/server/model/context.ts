import type { Blobs } from '../blobs/blobs.ts';
import type { Store } from '../store/store.ts';
import type { Log } from './log.ts';

/** What the parts of a server and a worker share. Each takes the members that it needs. */
export type ServerContext = {
  readonly store: Store;
  readonly blobs: Blobs;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Log;
};
