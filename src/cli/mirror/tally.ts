import type { FileState, MirrorEvent } from '../../mirror/index.ts';
import type { Whole } from '../shared/output/progress.ts';

/** Counts what one mirror did so far, from its events. It stores only the files under way. */
export class MirrorTally {
  files = 0;
  totalBytes = 0;
  /** Files and bytes that are verified in the mirror, or under way. */
  done = 0;
  bytes = 0;
  /** Bytes received over the network, including bytes that were discarded. */
  moved = 0;
  failed = 0;
  retries = 0;
  readonly states: Record<FileState, number> = { fetched: 0, resumed: 0, linked: 0, kept: 0 };
  /** From the plan to the end of the last file. */
  private beganAtMs = Infinity;
  private endedAtMs = 0;
  /** Received bytes of each file under way. */
  private readonly parts = new Map<string, number>();

  take(event: MirrorEvent, nowMs: number): void {
    if (event.type === 'planned') this.planned(event, nowMs);
    else if (event.type === 'part-started') this.parts.set(event.path, 0);
    else if (event.type === 'resumed') this.received(event.path, event.received, 0);
    else if (event.type === 'bytes') this.came(event.path, event.received);
    else if (event.type === 'retry') this.retries++;
    else if (event.type === 'part-done') this.ended(event, nowMs);
    else if (event.type === 'failed') this.gaveUp(event.path, nowMs);
  }

  get whole(): Whole {
    const { done, files: of, bytes, totalBytes } = this;
    return { done, of, bytes, totalBytes };
  }

  /** Bytes of verified files, without those under way. */
  get provenBytes(): number {
    return [...this.parts.values()].reduce((sum, bytes) => sum - bytes, this.bytes);
  }

  /** How long files were transferred. */
  get transferMs(): number {
    return Math.max(0, this.endedAtMs - this.beganAtMs);
  }

  /** Adds what another mirror did. */
  add(other: MirrorTally): void {
    this.files += other.files;
    this.totalBytes += other.totalBytes;
    this.done += other.done;
    this.bytes += other.provenBytes;
    this.moved += other.moved;
    this.failed += other.failed;
    this.retries += other.retries;
    for (const state of FILE_STATES) this.states[state] += other.states[state];
    this.beganAtMs = Math.min(this.beganAtMs, other.beganAtMs);
    this.endedAtMs = Math.max(this.endedAtMs, other.endedAtMs);
  }

  private planned(event: Extract<MirrorEvent, { type: 'planned' }>, nowMs: number): void {
    this.files = event.files;
    this.totalBytes = event.bytes;
    this.done = event.files - event.missingFiles;
    this.bytes = event.bytes - event.missingBytes;
    this.beganAtMs = nowMs;
    this.endedAtMs = nowMs;
  }

  // Fewer bytes than before: the file was started again.
  private came(path: string, received: number): void {
    const before = this.parts.get(path) ?? 0;
    this.received(path, received, received < before ? received : received - before);
  }

  private received(path: string, received: number, moved: number): void {
    this.bytes += received - (this.parts.get(path) ?? 0);
    this.moved += moved;
    this.parts.set(path, received);
  }

  private ended({ path, bytes, state }: Extract<MirrorEvent, { type: 'part-done' }>, nowMs: number): void {
    this.states[state]++;
    if (state === 'kept') return; // it was so when the plan was made
    this.received(path, bytes, 0);
    this.done++;
    this.leave(path, nowMs);
  }

  private gaveUp(path: string, nowMs: number): void {
    this.bytes -= this.parts.get(path) ?? 0;
    this.failed++;
    this.leave(path, nowMs);
  }

  private leave(path: string, nowMs: number): void {
    this.parts.delete(path);
    this.endedAtMs = nowMs;
  }
}

export const FILE_STATES = ['fetched', 'resumed', 'linked', 'kept'] as const;
