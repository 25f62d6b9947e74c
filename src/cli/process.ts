import type { Cli, Output } from './cli.ts';
import { EXIT } from './shared/output/exit.ts';

// A pipe or file has neither, whatever the types of Node promise.
type Stream = Omit<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'> & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export function processCli(signal: AbortSignal): Cli {
  return {
    env: process.env,
    stdin: process.stdin,
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    signal,
    now: () => Date.now(),
    inputs: new Set(['/dev/stdin']),
    quiet: false,
    format: 'text',
    exitCode: EXIT.pass,
  };
}

// A closed reader (`| head`) is not an error: the rest of the output is dropped.
const GONE = new Set(['EPIPE', 'ERR_STREAM_DESTROYED', 'EIO']);

function output(stream: Stream): Output {
  let closed = false;
  let failure: Error | undefined;
  const end = (error: NodeJS.ErrnoException): void => {
    closed = true;
    if (!GONE.has(error.code ?? '')) failure = error;
  };
  stream.on('error', end);
  return {
    isTTY: stream.isTTY === true,
    // A terminal can report 0 columns.
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
    get closed() {
      return closed;
    },
    get failure() {
      return failure;
    },
    write: (chunk) =>
      new Promise((resolve) => {
        if (closed) resolve();
        else
          stream.write(chunk, (error) => {
            if (error) end(error);
            resolve();
          });
      }),
  };
}

/** Aborts on the first SIGINT or SIGTERM, so that the command ends cleanly; the second SIGINT ends the process. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return controller.signal;
}
