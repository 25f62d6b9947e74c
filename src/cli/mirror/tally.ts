import type { FileState, MirrorEvent } from '../../mirror/index.ts';
import type { Part, Whole } from '../shared/progress/meter.ts';

/** What one mirror did so far, counted from its events. Its memory holds what is under way only. */
export class MirrorTally {
  files = 0;
  totalBytes = 0;
  /** Files and bytes that are here and proven, or on their way. */
  done = 0;
  bytes = 0;
  /** Bytes that came over the network, those too that were of no use. */
  moved = 0;
  /** Bytes of files that failed. */
  lost = 0;
  failed = 0;
  retries = 0;
  readonly states: Record<FileState, number> = { fetched: 0, resumed: 0, linked: 0, kept: 0 };
  /** From the plan to the end of the last file. */
  private beganAtMs = Infinity;
  private endedAtMs = 0;
  private readonly parts = new Map<string, Required<Pick<Part, 'bytes' | 'totalBytes' | 'moved'>>>();

  take(event: MirrorEvent, nowMs: number): void {
    if (event.type === 'planned') this.planned(event, nowMs);
    else if (event.type === 'part-started')
      this.parts.set(event.path, { ...NOTHING, totalBytes: event.bytes });
    else if (event.type === 'resumed') this.received(event.path, event.received, 0);
    else if (event.type === 'bytes') this.came(event.path, event.received);
    else if (event.type === 'retry') this.retries++;
    else if (event.type === 'part-done') this.ended(event, nowMs);
    else if (event.type === 'failed') this.gaveUp(event.path, nowMs);
  }

  get whole(): Whole {
    const { done, files: of, bytes, totalBytes, moved, lost } = this;
    return { done, of, bytes, totalBytes, moved, lost };
  }

  /** Bytes of the files that are here, without those under way. */
  get provenBytes(): number {
    return [...this.parts.values()].reduce((sum, part) => sum - part.bytes, this.bytes);
  }

  /** A file that is under way. */
  part(path: string): Part | undefined {
    return this.parts.get(path);
  }

  /** How long bytes were brought. */
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
    this.lost += other.lost;
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

  // Fewer bytes than before: the file was begun anew.
  private came(path: string, received: number): void {
    const before = this.parts.get(path)?.bytes ?? 0;
    this.received(path, received, received < before ? received : received - before);
  }

  private received(path: string, received: number, moved: number): void {
    const part = this.parts.get(path) ?? NOTHING;
    this.bytes += received - part.bytes;
    this.moved += moved;
    this.parts.set(path, { ...part, bytes: received, moved: part.moved + moved });
  }

  private ended({ path, bytes, state }: Extract<MirrorEvent, { type: 'part-done' }>, nowMs: number): void {
    this.states[state]++;
    if (state === 'kept') return; // it was so when the plan was made
    this.received(path, bytes, 0);
    this.done++;
    this.leave(path, nowMs);
  }

  private gaveUp(path: string, nowMs: number): void {
    const { bytes, totalBytes } = this.parts.get(path) ?? NOTHING;
    this.bytes -= bytes;
    this.lost += totalBytes;
    this.failed++;
    this.leave(path, nowMs);
  }

  private leave(path: string, nowMs: number): void {
    this.parts.delete(path);
    this.endedAtMs = nowMs;
  }
}

export const FILE_STATES = ['fetched', 'resumed', 'linked', 'kept'] as const;
const NOTHING = { bytes: 0, totalBytes: 0, moved: 0 };
