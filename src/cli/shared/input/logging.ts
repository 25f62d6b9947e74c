import { Option, type Command } from 'commander';
import {
  createLog,
  type Log,
  type LogEntry,
  type LogFormat,
  type LogLevel,
  logLevels,
} from '../../../server/index.ts';
import { sayLines, type Cli } from '../../cli.ts';

export type LogOptions = { readonly logLevel: LogLevel; readonly logFormat?: LogFormat };

/** The options of what runs on and on: what it logs to stderr, one line for each request and event. */
export function logOptions(command: Command): Command {
  return command
    .addOption(new Option('--log-level <level>', 'lowest level to log').choices(logLevels).default('info'))
    .addOption(
      new Option('--log-format <kind>', 'format of the log (default: text on a terminal, else json)').choices(
        ['text', 'json'],
      ),
    );
}

export type Logging = {
  readonly log: Log;
  /** Tells people of an event in their words, or, where nobody reads along, logs it. */
  readonly announce: (words: string, event: string, facts?: LogEntry['facts']) => Promise<void>;
};

/** The log that the options ask for. With --quiet it holds errors only. */
export function logging(cli: Cli, { logLevel, logFormat }: LogOptions): Logging {
  const format = logFormat ?? (cli.stderr.isTTY ? 'text' : 'json');
  const write = (line: string): void => void cli.stderr.write(line);
  const log = createLog({ level: cli.quiet ? 'error' : logLevel, format, write, now: cli.now });
  return {
    log,
    announce: async (words, event, facts = {}) =>
      format === 'text' ? sayLines(cli, words) : log({ level: 'info', event, facts }),
  };
}
