import { foldLines, escapeText } from '../report/index.ts';
import type { ExitCode } from './shared/output/exit.ts';

type OutputFormat = 'text' | 'json';

/** The part of an output stream of the process that commands use. */
export type Output = {
  readonly isTTY: boolean;
  /** The current value, because people resize terminals. */
  readonly columns: number;
  readonly rows: number;
  /** Resolves when the bytes are written, or when the reader has closed; then `closed` is true. */
  readonly write: (chunk: string | Uint8Array) => Promise<void>;
  readonly closed: boolean;
  /** Why bytes could not be written, other than because the reader has closed. */
  readonly failure?: Error | undefined;
};

/** Everything outside the program that a command uses: the process, or a test double. */
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
  /** Set by a command that writes events for programs to stderr, which then carries nothing else. */
  eventsOnStderr?: boolean;
  /** Prepares the process for a command that runs, which help does not. */
  readonly begin?: (command: string) => void;
};

/** Writes an escaped line for people to stderr, unless --quiet. */
export const printNote = (cli: Cli, line: string): Promise<void> => printNotes(cli, escapeText(line));

/** Writes lines that are already escaped. */
export async function printNotes(cli: Cli, lines: string): Promise<void> {
  if (canPrintNotes(cli)) await writeFolded(cli.stderr, `${lines}\n`);
}

/** Writes text in which untrusted words are escaped. On a terminal it never reaches the first column by wrapping. */
export const writeFolded = (output: Output, text: string): Promise<void> =>
  output.write(foldLines(text, findWidth(output)));

/** The width of a terminal; elsewhere lines are not folded, so that programs find what they search for. */
const findWidth = ({ isTTY, columns }: Output): number => (isTTY ? columns : Infinity);

export const describeLook = (
  cli: Cli,
  output: Output,
): { readonly color: boolean; readonly width: number } => ({
  color: isColored(cli, output),
  width: findWidth(output),
});

export const canPrintNotes = ({ quiet, eventsOnStderr = false }: Cli): boolean => !quiet && !eventsOnStderr;

/** Whether to colour: NO_COLOR says no, FORCE_COLOR yes, else whether it is a terminal (no-color.org). */
function isColored(cli: Cli, output: Output): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = cli.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0';
  return output.isTTY && TERM !== 'dumb';
}
