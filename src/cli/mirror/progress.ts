import type { MirrorEvent, OnProgress } from '../../mirror/index.ts';
import { MirrorTally } from './tally.ts';
import type { Progress } from '../shared/output/progress.ts';

/** Files of one mirror whose failure is told when it happens: a server that is away fails them all. */
const MAX_FAILED = 10;

/** Shows the events of one mirror, which are counted in `tally`. */
export function followMirror(progress: Progress, tally: MirrorTally, now: () => number): OnProgress {
  const look = followLook(progress);
  const note = noteTeller(progress);
  return (event) => {
    tally.take(event, now());
    look(event);
    note(event);
    if (event.type === 'planned') progress.phase('mirrored');
    else if (!('path' in event) || event.type === 'looked') return;
    progress.update(tally.whole);
  };
}

/** Shows how far the look at what is here is. */
export function followLook(progress: Progress): OnProgress {
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

/** Shows the progress of many mirrors at once. */
export class ManyMirrors {
  private readonly progress: Progress;
  private readonly of: number;
  private readonly totals: MirrorTally;
  private readonly now: () => number;
  private readonly running = new Map<string, MirrorTally>();
  private done = 0;

  /** `totals` takes up what each of them comes to. */
  constructor(progress: Progress, of: number, totals: MirrorTally, now: () => number) {
    this.progress = progress;
    this.of = of;
    this.totals = totals;
    this.now = now;
  }

  begin(evidenceExportId: string, tally: MirrorTally): OnProgress {
    this.running.set(evidenceExportId, tally);
    this.show();
    const note = noteTeller(this.progress, `${evidenceExportId}: `);
    return (event) => {
      tally.take(event, this.now());
      note(event);
      if (event.type !== 'looked') this.show();
    };
  }

  end(evidenceExportId: string): void {
    const tally = this.running.get(evidenceExportId);
    this.running.delete(evidenceExportId);
    this.done++;
    if (tally !== undefined) this.totals.add(tally);
    this.show();
  }

  private show(): void {
    let { bytes } = this.totals;
    for (const tally of this.running.values()) bytes += tally.bytes;
    this.progress.update({ done: this.done, of: this.of, bytes });
  }
}

/** What stays to be read of one mirror: what is repeated, waited for, or failed. */
function noteTeller(progress: Progress, of = ''): OnProgress {
  let failed = 0;
  return (event) => {
    if (event.type !== 'failed') tellNote(progress, event, of);
    else if (++failed <= MAX_FAILED)
      progress.note(`failed: ${of}${event.code}: ${withPath(event.path, event.message)}`);
    else if (failed === MAX_FAILED + 1) progress.note(`failed: ${of}more files; they are counted at the end`);
  };
}

function tellNote(progress: Progress, event: MirrorEvent, of: string): void {
  if (event.type === 'retry') {
    progress.note(retryNote(event, `${of}${withPath(event.path, reasonOf(event.error))}`));
  } else if (event.type === 'waiting') {
    const { state, completed, of: all, delayMs } = event;
    progress.note(
      `${of}${state}, ${completed} of ${all} bundles; looking again in ${Math.ceil(delayMs / 1000)} s`,
    );
  } else if (event.type === 'source-deleted') {
    progress.note(`${of}the source deletes this export; going on from what is here`);
  }
}

/** `again in 0.4 s: …`, before something is asked for once more. */
export const retryNote = ({ delayMs }: { readonly delayMs: number }, what: string): string =>
  `${delayMs === 0 ? 'again' : `again in ${(delayMs / 1000).toFixed(1)} s`}: ${what}`;

export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'the connection failed';

const withPath = (path: string, message: string): string =>
  message.includes(path) ? message : `${path}: ${message}`;
