import { CommanderError } from 'commander';
import type { Cli } from './cli.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { createProgram } from './program.ts';
import { refuseUsers } from './shared/options/values.ts';

// commander throws these after it has printed help or the version.
const HELP_SHOWN = new Set(['commander.help', 'commander.helpDisplayed', 'commander.version']);

/** Runs a command line, reports errors with their codes, and returns the exit code. */
export async function run(argv: readonly string[], cli: Cli): Promise<ExitCode> {
  try {
    refuseUsers(argv);
    const program = await createProgram(argv, cli);
    if (argv.length === 0) {
      program.outputHelp({ error: true });
      return EXIT.usage;
    }
    await program.parseAsync([...argv], { from: 'user' });
    const { failure } = cli.stdout;
    if (failure !== undefined) await reportStdoutFailure(cli, failure);
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && HELP_SHOWN.has(error.code)) {
      return error.exitCode === 0 ? EXIT.pass : EXIT.usage;
    }
    const { reportFailure } = await import('./failed.ts');
    return reportFailure(error, argv, cli);
  }
}

async function reportStdoutFailure(cli: Cli, failure: Error): Promise<void> {
  const [{ ioError }, { reportUnwritten }] = await Promise.all([
    import('../node/fs-errors.ts'),
    import('./shared/output/targets.ts'),
  ]);
  await reportUnwritten(cli, [ioError(failure, 'standard output', 'write')]);
}
