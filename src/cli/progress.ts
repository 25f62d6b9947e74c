import { count, size } from '../report/figures.ts';
import { printable } from '../report/index.ts';
import { say, type Cli } from './cli.ts';

export type Progress = {
  /** How far it is: parts done of all, and bytes of them. */
  readonly update: (state: ProgressState) => void;
  /** A line that stays, such as a part that failed. */
  readonly note: (line: string) => void;
  /** Takes the bar away. */
  readonly end: () => void;
};
type ProgressState = {
  readonly done: number;
  readonly of: number;
  /** Absent where only things are counted. */
  readonly bytes?: number;
  readonly totalBytes?: number;
};

const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 5_000;
const BAR_WIDTH = 24;
const CLEAR = '\r\u001B[K';

/** A bar on a terminal, a plain line every five seconds elsewhere, nothing when people want quiet. */
export function createProgress(cli: Cli, verb: string, things: string): Progress {
  if (cli.quiet) return { update() {}, note() {}, end() {} };
  const { stderr } = cli;
  const bar = stderr.isTTY && cli.env['TERM'] !== 'dumb';
  const everyMs = bar ? BAR_EVERY_MS : LINE_EVERY_MS;
  let shownAtMs = bar ? -Infinity : cli.now();
  const clear = (): void => void (bar && stderr.write(CLEAR));
  return {
    update(state) {
      const nowMs = cli.now();
      if (nowMs - shownAtMs < everyMs) return;
      shownAtMs = nowMs;
      const line = `${verb} ${counts(state, things)}`;
      void stderr.write(
        bar ? `${CLEAR}${drawn(state)} ${line}`.slice(0, stderr.columns + CLEAR.length - 1) : `${line}\n`,
      );
    },
    note(line) {
      clear();
      void say(cli, printable(line));
    },
    end: clear,
  };
}

function counts({ done, of, bytes, totalBytes }: ProgressState, things: string): string {
  const counted = `${count(done)} of ${count(of)} ${things}`;
  if (bytes === undefined) return counted;
  return `${counted}, ${totalBytes === undefined ? size(bytes) : `${size(bytes)} of ${size(totalBytes)}`}`;
}

function drawn({ done, of, bytes = 0, totalBytes }: ProgressState): string {
  const share = totalBytes === undefined || totalBytes === 0 ? done / Math.max(1, of) : bytes / totalBytes;
  const full = Math.round(Math.min(1, share) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}]`;
}
