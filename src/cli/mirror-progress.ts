import type { MirrorEvent } from '../mirror/index.ts';
import type { Progress } from './progress.ts';

/** Shows the events of one mirror. */
export function followMirror(progress: Progress): (event: MirrorEvent) => void {
  const received = new Map<string, number>();
  let state = { done: 0, of: 0, bytes: 0, totalBytes: 0 };
  const show = (change: Partial<typeof state>): void => {
    state = { ...state, ...change };
    progress.update(state);
  };
  return (event) => {
    if (event.type === 'planned') {
      const { files, bytes, missingFiles, missingBytes } = event;
      show({ of: files, totalBytes: bytes, done: files - missingFiles, bytes: bytes - missingBytes });
    } else if (event.type === 'bytes') {
      const before = received.get(event.path) ?? 0;
      received.set(event.path, event.received);
      show({ bytes: state.bytes + event.received - before });
    } else if (event.type === 'part-done') {
      if (event.state !== 'kept') show({ done: state.done + 1 });
    } else if (event.type === 'retry') {
      progress.note(
        `again in ${(event.delayMs / 1000).toFixed(1)} s: ${event.path}: ${reasonOf(event.error)}`,
      );
    } else if (event.type === 'waiting') {
      const { state: now, completed, of, delayMs } = event;
      progress.note(`${now}, ${completed} of ${of} bundles; looking again in ${Math.ceil(delayMs / 1000)} s`);
    } else if (event.type === 'failed') {
      progress.note(`failed: ${event.path}: ${event.code}: ${event.message}`);
    }
  };
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'the connection failed';
