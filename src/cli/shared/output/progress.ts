import { printable } from '../../../report/index.ts';
import { say, talks, type Cli } from '../../cli.ts';
import { Meter, type Part, type Picture, type Whole } from '../progress/meter.ts';
import { Painter } from '../progress/painter.ts';
import { plainLine, screenLines } from '../progress/screen.ts';

/** Shows people how far a command is: what is done, how fast, and how long it will take. */
export type Progress = {
  /** How far the whole is. */
  readonly update: (whole: Whole) => void;
  /** How far a part is that is under way; `undefined` when it no longer is. */
  readonly part: (name: string, part: Part | undefined) => void;
  /** Another step of the command begins, with counts and rates of its own. */
  readonly phase: (verb: string) => void;
  /** A line that stays, such as a part that failed. */
  readonly note: (line: string) => void;
  /** Takes it away. */
  readonly end: () => void;
};

/** Calls at intervals, until what it gives back is called. */
export type Timer = (everyMs: number, tick: () => void) => () => void;

/** Where a picture goes, and how long after the one before. */
type View = {
  readonly dueMs: (pictures: number) => number;
  readonly show: (picture: Picture) => void;
  readonly note: (line: string) => void;
  readonly clear: () => void;
};

const TICK_MS = 250;
const REDRAW_MS = 100;
const FIRST_LINE_MS = 5_000;
const LINE_MS = 30_000;

/**
 * Lines that are redrawn on a terminal; elsewhere, and in CI, a plain line after five seconds and every thirty from then
 * on; nothing when people want quiet.
 */
export function createProgress(
  cli: Cli,
  verb: string,
  things: string,
  timer: Timer = everySoOften,
): Progress {
  if (!talks(cli)) return { update() {}, part() {}, phase() {}, note() {}, end() {} };
  const view = canRedraw(cli) ? onTerminal(cli) : inLog(cli);
  let meter = new Meter(verb, things, cli.now());
  let pictures = 0;
  let shownAtMs = cli.now();
  const show = (): void => {
    const nowMs = cli.now();
    if (nowMs - shownAtMs < view.dueMs(pictures)) return;
    shownAtMs = nowMs;
    pictures++;
    view.show(meter.picture(nowMs));
  };
  const stop = timer(TICK_MS, () => pictures > 0 && show());
  return {
    update(whole) {
      meter.whole(whole, cli.now());
      show();
    },
    part(name, part) {
      meter.part(name, part, cli.now());
      show();
    },
    phase: (next) => void (meter = new Meter(next, things, cli.now())),
    note: (line) => view.note(line),
    end() {
      stop();
      view.clear();
    },
  };
}

function canRedraw({ stderr, env }: Cli): boolean {
  const { TERM, CI = '' } = env;
  return stderr.isTTY && TERM !== 'dumb' && (CI === '' || CI === 'false');
}

function onTerminal({ stderr }: Cli): View {
  const painter = new Painter(stderr);
  return {
    dueMs: (pictures) => (pictures === 0 ? 0 : REDRAW_MS),
    // The last column stays empty: what is written there makes some terminals go to the next line.
    show: (picture) =>
      painter.draw(screenLines(picture, { columns: stderr.columns - 1, rows: stderr.rows - 1 })),
    note: (line) => painter.above(printable(line)),
    clear: () => painter.clear(),
  };
}

function inLog(cli: Cli): View {
  return {
    dueMs: (pictures) => (pictures === 0 ? FIRST_LINE_MS : LINE_MS),
    show: (picture) => void say(cli, plainLine(picture)),
    note: (line) => void say(cli, line),
    clear() {},
  };
}

const everySoOften: Timer = (everyMs, tick) => {
  const timer = setInterval(tick, everyMs).unref();
  return () => clearInterval(timer);
};
