import { foldLines } from '../report/text/page.ts';
import { escapeText } from '../report/printable.ts';
import type { ExitCode } from './exit.ts';

type OutputFormat = 'text' | 'json';

/** The part of an output stream of the process that commands use. */
export type Output = {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  /** Resolves when the bytes are written, or when the reader has closed. */
  readonly write: (chunk: string | Uint8Array) => Promise<void>;
  readonly closed: boolean;
  /** The reason for unwritten bytes, except a closed reader. */
  readonly failure?: Error | undefined;
};

/** Everything outside the program that a command uses. */
export type Cli = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Paths that the command reads; no output replaces one of them. */
  readonly inputs: Set<string>;
  /** Set by the options of the command before it runs. */
  quiet: boolean;
  format: OutputFormat;
  exitCode: ExitCode;
  /** A command that writes events for programs to stderr sets this; then it prints no notes. */
  eventsOnStderr?: boolean;
  /** Prints a note above the line of progress, while one is redrawn. */
  printAbove?: (line: string) => void;
  /** Prepares the process before a command runs; not called for help. */
  readonly begin?: (command: string) => void;
};

/** Prints an escaped line on stderr, unless --quiet. */
export async function printNote(cli: Cli, line: string): Promise<void> {
  if (cli.printAbove === undefined) await printNotes(cli, escapeText(line));
  else cli.printAbove(line);
}

/** Prints lines that are already escaped on stderr, unless --quiet. */
export async function printNotes(cli: Cli, lines: string): Promise<void> {
  if (canPrintNotes(cli)) await writeFolded(cli.stderr, `${lines}\n`);
}

/** Writes escaped text, and indents wrapped lines, so that untrusted words never begin a line of a terminal. */
export const writeFolded = (output: Output, text: string): Promise<void> =>
  output.write(foldLines(text, findWidth(output)));

/** Finds the width of a terminal. Lines for files and pipes are not folded, so that programs can search them. */
const findWidth = ({ isTTY, columns }: Output): number => (isTTY ? columns : Infinity);

export const describeLook = (
  cli: Cli,
  output: Output,
): { readonly color: boolean; readonly width: number } => ({
  color: isColored(cli, output),
  width: findWidth(output),
});

export const canPrintNotes = ({ quiet, eventsOnStderr = false }: Cli): boolean => !quiet && !eventsOnStderr;

/** Follows NO_COLOR, then FORCE_COLOR, and otherwise colors terminals only (no-color.org). */
function isColored(cli: Cli, output: Output): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = cli.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0';
  return output.isTTY && TERM !== 'dumb';
}
