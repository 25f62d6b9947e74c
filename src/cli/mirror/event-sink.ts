import { open } from 'node:fs/promises';
import { ioError } from '../../node/fs-errors.ts';
import { printableJson } from '../../report/printable.ts';
import type { Cli } from '../cli.ts';

/** Takes events, a JSON object on each line. */
export type EventSink = {
  readonly write: (event: object) => void;
  /** @throws DrillproofError what writing failed with, `io.DISK_FULL` or `io.WRITE_FAILED` */
  readonly close: () => Promise<void>;
};

const line = (event: object): string => `${printableJson(JSON.stringify(event))}\n`;

/** Events on standard error, which from now on has nothing else. */
export function eventsOnStderr(cli: Cli): EventSink {
  cli.eventsOnStderr = true;
  return { write: (event) => void cli.stderr.write(line(event)), close: () => Promise.resolve() };
}

/**
 * Events at the end of a file, which may be a pipe. One that cannot be written stops nothing: the work goes on, and the
 * failure is thrown at the end.
 * @throws DrillproofError as `ioError` says, when it cannot be opened
 */
export async function eventsInFile(path: string): Promise<EventSink> {
  const file = await open(path, 'a', 0o644).catch((cause: unknown) => {
    throw ioError(cause, path, 'write');
  });
  let failure: unknown;
  let written = Promise.resolve();
  return {
    write(event) {
      written = written
        .then(async () => {
          if (failure === undefined) await file.appendFile(line(event));
        })
        .catch((cause: unknown) => {
          failure ??= cause;
        });
    },
    async close() {
      await written;
      await file.close();
      if (failure !== undefined) throw ioError(failure, path, 'write');
    },
  };
}
