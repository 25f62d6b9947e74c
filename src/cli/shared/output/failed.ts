import { CommanderError } from 'commander';
import { printable } from '../../../report/index.ts';
import { writeFolded, type Cli } from '../../cli.ts';
import { COMMANDS } from '../../commands.ts';
import type { ExitCode } from './exit.ts';
import { failureJson, failureOf, failureText } from './failure.ts';
import { commandOf, usageOf } from '../options/usage-failure.ts';

/** Tells why the work ended, as a line on stderr and, where JSON is asked for, as an object on stdout. */
export async function failed(thrown: unknown, argv: readonly string[], cli: Cli): Promise<ExitCode> {
  const error = thrown instanceof CommanderError ? await usage(thrown, argv, cli) : thrown;
  const failure = failureOf(error, cli.signal.aborted);
  if (cli.format === 'json' || asksForJson(argv)) await cli.stdout.write(failureJson(failure));
  if (cli.eventsOnStderr !== true) await writeFolded(cli.stderr, failureText(failure));
  if (cli.env['DRILLPROOF_DEBUG'] === '1') await writeFolded(cli.stderr, stackOf(error));
  return failure.exit;
}

async function usage(error: CommanderError, argv: readonly string[], cli: Cli): Promise<Error> {
  const { createProgram } = await import('../../program.ts');
  const command = commandOf(await createProgram(argv, cli), argv);
  return usageOf(error, command, argv, Object.keys(COMMANDS));
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause === undefined ? '' : `caused by ${stackOf(error.cause)}`;
  const lines = (error.stack ?? error.message).split('\n').map((line) => `  ${printable(line)}\n`);
  return `${lines.join('')}${cause}`;
}

// Asked on the raw words, because the words may be what could not be parsed.
function asksForJson(argv: readonly string[]): boolean {
  return argv.some(
    (word, i) =>
      word === '--json' || word === '--format=json' || (word === 'json' && argv[i - 1] === '--format'),
  );
}
