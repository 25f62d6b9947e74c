import { count } from '../../../bytes/text/wording.ts';
import { clipEnd, escapeText } from '../../../report/printable.ts';
import { foldLines, percent, size } from '../../../report/text/page.ts';
import { formatTimeSpan } from '../options/values.ts';
import { type Cli, printNote, canPrintNotes } from '../../cli.ts';

/** The state of the work; without bytes if only items are counted. */
export type Whole = {
  readonly done: number;
  readonly of: number;
  readonly bytes?: number;
  readonly totalBytes?: number;
};

export type Progress = {
  readonly update: (whole: Whole) => void;
  readonly phase: (verb: string) => void;
  readonly note: (line: string) => void;
  readonly end: () => void;
};

const REDRAW_MS = 100;
/** A shorter time says little about the rate. */
const PACE_MS = 2_000;
const FIRST_LINE_MS = 5_000;
const LINE_MS = 30_000;
const CLEAR_LINE = '\r\u001B[K';

/**
 * Redraws one line on a terminal. Elsewhere and in CI it prints a line after five seconds and then every thirty; with
 * `--quiet` nothing.
 */
export function createProgress(cli: Cli, verb: string, things: string): Progress {
  if (!canPrintNotes(cli)) return { update() {}, phase() {}, note() {}, end() {} };
  return canRedraw(cli) ? createTerminalProgress(cli, verb, things) : createLogProgress(cli, verb, things);
}

export async function withProgress<T>(
  cli: Cli,
  verb: string,
  things: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = createProgress(cli, verb, things);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}

function canRedraw({ stderr, env }: Cli): boolean {
  const { TERM, CI = '' } = env;
  return stderr.isTTY && TERM !== 'dumb' && (CI === '' || CI === 'false');
}

function createTerminalProgress(cli: Cli, firstVerb: string, things: string): Progress {
  const { stderr, now } = cli;
  let verb = firstVerb;
  let shown: { readonly verb: string; readonly whole: Whole } | undefined;
  let drawnAtMs = -Infinity;
  let formatPace = createPace(now);
  const draw = (): void => {
    if (shown === undefined) return;
    // The last column stays empty, because some terminals wrap when it is written.
    const text = formatWhole(shown.verb, things, shown.whole) + formatPace(shown.whole);
    const line = clipEnd(text, stderr.columns - 1);
    void stderr.write(`${CLEAR_LINE}${line}`);
  };
  const note = (text: string): void => {
    const lines = foldLines(escapeText(text), stderr.columns);
    void stderr.write(`${shown === undefined ? '' : CLEAR_LINE}${lines}\n`);
    draw();
  };
  cli.printAbove = note;
  return {
    note,
    update(whole) {
      shown = { verb, whole };
      if (now() - drawnAtMs < REDRAW_MS) return;
      drawnAtMs = now();
      draw();
    },
    phase(next) {
      verb = next;
      formatPace = createPace(now);
    },
    end() {
      delete cli.printAbove;
      if (shown !== undefined) void stderr.write(CLEAR_LINE);
      shown = undefined;
    },
  };
}

function createLogProgress(cli: Cli, firstVerb: string, things: string): Progress {
  let verb = firstVerb;
  let dueAtMs = cli.now() + FIRST_LINE_MS;
  let formatPace = createPace(cli.now);
  return {
    update(whole) {
      const pace = formatPace(whole);
      if (cli.now() < dueAtMs) return;
      dueAtMs = cli.now() + LINE_MS;
      void printNote(cli, formatWhole(verb, things, whole) + pace);
    },
    phase(next) {
      verb = next;
      formatPace = createPace(cli.now);
    },
    note: (line) => void printNote(cli, line),
    end() {},
  };
}

/** `verified 5 of 10 parts, 512 bytes of 1.0 KiB, 50.0 %`. */
function formatWhole(verb: string, things: string, { done, of, bytes, totalBytes }: Whole): string {
  const counts = `${verb} ${count(done)} of ${count(of)} ${things}`;
  if (bytes === undefined) return counts;
  if (totalBytes === undefined) return `${counts}, ${size(bytes)}`;
  const share = totalBytes > 0 ? `, ${percent(bytes, totalBytes)}` : '';
  return `${counts}, ${size(bytes)} of ${size(totalBytes)}${share}`;
}

/** Formats the rate since the first call and the time left, by bytes if their total is known: `, 8.1/s, 12 s left`. */
function createPace(now: () => number): (whole: Whole) => string {
  let first: { readonly atMs: number; readonly whole: Whole } | undefined;
  return (whole) => {
    first ??= { atMs: now(), whole };
    const ms = now() - first.atMs;
    const [before, at, end] =
      whole.totalBytes === undefined
        ? [first.whole.done, whole.done, whole.of]
        : [first.whole.bytes ?? 0, whole.bytes ?? 0, whole.totalBytes];
    if (ms < PACE_MS || at <= before) return '';
    const rate = ((whole.done - first.whole.done) * 1000) / ms;
    return `, ${rate.toFixed(1)}/s, ${formatTimeSpan(((end - at) * ms) / (at - before))} left`;
  };
}

/** Formats `again in 0.4 s: …` before a retry; a shorter wait counts as 0.1 s. */
export const formatRetry = ({ delayMs }: { readonly delayMs: number }, what: string): string =>
  `again in ${(Math.max(100, delayMs) / 1000).toFixed(1)} s: ${what}`;

export const readErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : 'the connection failed';
