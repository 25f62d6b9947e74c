import { sumSizes } from '../../bytes/async.ts';
import type { MirrorCheck } from '../../mirror/check.ts';
import type { FileState, MirrorEvent, OnProgress } from '../../mirror/run.ts';
import { formatRetry, type Progress, readErrorMessage, type Whole } from '../shared/output/progress.ts';

/** Counts the events of one mirror. It stores only the files of running downloads. */
export class MirrorTally {
  files = 0;
  totalBytes = 0;
  /** Files and bytes that are verified in the mirror or partly downloaded. */
  done = 0;
  bytes = 0;
  /** Bytes received over the network, including bytes that were discarded. */
  moved = 0;
  failed = 0;
  retries = 0;
  /** What a dry run found to be fetched. */
  readonly missing = { exports: 0, files: 0, bytes: 0 };
  readonly states: Record<FileState, number> = { fetched: 0, resumed: 0, linked: 0, kept: 0 };
  private beganAtMs = Infinity;
  private endedAtMs = 0;
  private readonly parts = new Map<string, number>();

  take(event: MirrorEvent, nowMs: number): void {
    if (event.type === 'planned') this.start(event, nowMs);
    else if (event.type === 'part-started') this.parts.set(event.path, 0);
    else if (event.type === 'resumed') this.addReceived(event.path, event.received, 0);
    else if (event.type === 'bytes') this.addDownloaded(event.path, event.received);
    else if (event.type === 'retry') this.retries++;
    else if (event.type === 'part-done') this.endFile(event, nowMs);
    else if (event.type === 'failed') this.failFile(event.path, nowMs);
  }

  get whole(): Whole {
    const { done, files: of, bytes, totalBytes } = this;
    return { done, of, bytes, totalBytes };
  }

  /** Bytes of verified files, without partial downloads. */
  get provenBytes(): number {
    return [...this.parts.values()].reduce((sum, bytes) => sum - bytes, this.bytes);
  }

  get transferMs(): number {
    return Math.max(0, this.endedAtMs - this.beganAtMs);
  }

  addMissing({ faults }: MirrorCheck): void {
    const fetched = faults.filter(({ found }) => found !== 'extra');
    this.missing.exports += fetched.length === 0 ? 0 : 1;
    this.missing.files += fetched.length;
    this.missing.bytes += sumSizes(fetched);
  }

  add(other: MirrorTally): void {
    this.missing.exports += other.missing.exports;
    this.missing.files += other.missing.files;
    this.missing.bytes += other.missing.bytes;
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

  private start(event: Extract<MirrorEvent, { type: 'planned' }>, nowMs: number): void {
    this.files = event.files;
    this.totalBytes = event.bytes;
    this.done = event.files - event.missingFiles;
    this.bytes = event.bytes - event.missingBytes;
    this.beganAtMs = nowMs;
    this.endedAtMs = nowMs;
  }

  // Fewer bytes than before mean that the file was restarted.
  private addDownloaded(path: string, received: number): void {
    const before = this.parts.get(path) ?? 0;
    this.addReceived(path, received, received < before ? received : received - before);
  }

  private addReceived(path: string, received: number, moved: number): void {
    this.bytes += received - (this.parts.get(path) ?? 0);
    this.moved += moved;
    this.parts.set(path, received);
  }

  private endFile({ path, bytes, state }: Extract<MirrorEvent, { type: 'part-done' }>, nowMs: number): void {
    this.states[state]++;
    if (state === 'kept') return; // the plan counts it
    this.addReceived(path, bytes, 0);
    this.done++;
    this.removeFile(path, nowMs);
  }

  private failFile(path: string, nowMs: number): void {
    this.bytes -= this.parts.get(path) ?? 0;
    this.failed++;
    this.removeFile(path, nowMs);
  }

  private removeFile(path: string, nowMs: number): void {
    this.parts.delete(path);
    this.endedAtMs = nowMs;
  }
}

export const FILE_STATES = ['fetched', 'resumed', 'linked', 'kept'] as const;

/** Failed files of one mirror that are reported at once: without a server, all of them fail. */
const MAX_FAILED = 10;

export function followMirror(progress: Progress, tally: MirrorTally, now: () => number): OnProgress {
  const look = followCheck(progress);
  const note = createNoteWriter(progress);
  return (event) => {
    tally.take(event, now());
    look(event);
    note(event);
    if (event.type === 'planned') progress.phase('mirrored');
    else if (!('path' in event) || event.type === 'looked') return;
    progress.update(tally.whole);
  };
}

export function followCheck(progress: Progress): OnProgress {
  let state = { done: 0, of: 0, bytes: 0, totalBytes: 0 };
  return (event) => {
    if (event.type === 'listed') {
      progress.phase('checked');
      state = { done: 0, of: event.files, bytes: 0, totalBytes: event.bytes };
    }
    if (event.type !== 'looked') return;
    state = { ...state, done: state.done + 1, bytes: state.bytes + event.bytes };
    progress.update(state);
  };
}

/** Shows the progress of `of` mirrors, and adds each to the totals at its end. */
export function followMany(progress: Progress, of: number, totals: MirrorTally, now: () => number) {
  const running = new Map<string, MirrorTally>();
  let done = 0;
  const show = (): void => {
    let { bytes } = totals;
    for (const tally of running.values()) bytes += tally.bytes;
    progress.update({ done, of, bytes });
  };
  return {
    begin(evidenceExportId: string, tally: MirrorTally): OnProgress {
      running.set(evidenceExportId, tally);
      show();
      const note = createNoteWriter(progress, `${evidenceExportId}: `);
      return (event) => {
        tally.take(event, now());
        note(event);
        if (event.type !== 'looked') show();
      };
    },
    end(evidenceExportId: string): void {
      const tally = running.get(evidenceExportId);
      running.delete(evidenceExportId);
      done++;
      if (tally !== undefined) totals.add(tally);
      show();
    },
  };
}

function createNoteWriter(progress: Progress, subject = ''): OnProgress {
  let failed = 0;
  return (event) => {
    if (event.type !== 'failed') writeNote(progress, event, subject);
    else if (++failed <= MAX_FAILED)
      progress.note(`failed: ${subject}${event.code}: ${addPath(event.path, event.message)}`);
    else if (failed === MAX_FAILED + 1)
      progress.note(`failed: ${subject}more files; they are counted at the end`);
  };
}

function writeNote(progress: Progress, event: MirrorEvent, subject: string): void {
  if (event.type === 'retry') {
    progress.note(formatRetry(event, `${subject}${addPath(event.path, readErrorMessage(event.error))}`));
  } else if (event.type === 'waiting') {
    const { state, completed, of: all, delayMs } = event;
    progress.note(
      `${subject}${state}, ${completed} of ${all} bundles; looking again in ${Math.ceil(delayMs / 1000)} s`,
    );
  } else if (event.type === 'source-deleted') {
    progress.note(`${subject}the source deletes this export; continuing with the files in the mirror`);
  }
}

const addPath = (path: string, message: string): string =>
  message.includes(path) ? message : `${path}: ${message}`;
