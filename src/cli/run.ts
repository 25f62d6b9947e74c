import { CommanderError } from 'commander';
import type { Cli } from './cli.ts';
import { EXIT, type ExitCode } from './shared/output/exit.ts';
import { createProgram } from './program.ts';

// What commander throws after it has shown what was asked for.
const HELP_SHOWN = new Set(['commander.help', 'commander.helpDisplayed', 'commander.version']);

/** Runs one command line and gives its exit code; whatever is thrown is told in one line with its code. */
export async function run(argv: readonly string[], cli: Cli): Promise<ExitCode> {
  try {
    const program = await createProgram(argv, cli);
    if (argv.length === 0) {
      program.outputHelp({ error: true });
      return EXIT.usage;
    }
    await program.parseAsync([...argv], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && HELP_SHOWN.has(error.code)) {
      return error.exitCode === 0 ? EXIT.pass : EXIT.usage;
    }
    const { failed } = await import('./shared/output/failed.ts');
    return failed(error, argv, cli);
  }
}
