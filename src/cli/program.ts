import { Command } from 'commander';
import type { Cli } from './cli.ts';
import { COMMANDS } from './commands.ts';
import { ownVersion } from './shared/output/version.ts';

const MAX_HELP_WIDTH = 100;

const EPILOGUE = `
Exit codes: 0 pass, 1 the evidence is bad, 2 wrong call or configuration,
3 could not be checked, 130 interrupted.

Examples:
  $ drillproof verify ./mirror --trust trust.json
  $ drillproof explain part.DIGEST_MISMATCH`;

/** The program with every command listed, and the called one defined. */
export async function createProgram(argv: readonly string[], cli: Cli): Promise<Command> {
  const program = new Command('drillproof')
    .description('Package, mirror and verify the evidence of drill runs.')
    .usage('<command> [options]')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help of a command')
    .showSuggestionAfterError(false)
    .exitOverride()
    .addHelpText('after', EPILOGUE)
    .configureOutput({
      writeOut: (text) => void cli.stdout.write(text),
      writeErr: (text) => void cli.stderr.write(text),
      outputError: () => {}, // failed.ts reports errors
      getOutHelpWidth: () => Math.min(cli.stdout.columns, MAX_HELP_WIDTH),
      getErrHelpWidth: () => Math.min(cli.stderr.columns, MAX_HELP_WIDTH),
    })
    .hook('preAction', (_program, action) => readStandardOptions(action, cli));
  if (argv.includes('--version')) program.version(await ownVersion(), '--version', 'show the version');
  else program.option('--version', 'show the version');
  await addCommands(program, argv, cli);
  return program;
}

async function addCommands(program: Command, argv: readonly string[], cli: Cli): Promise<void> {
  const called = argv[0] === 'help' ? argv[1] : argv[0];
  for (const [name, { summary, group, load }] of Object.entries(COMMANDS)) {
    const command = program.command(name).summary(summary).description(sentence(summary)).helpGroup(group);
    if (name === called) (await load()).define(command, cli);
  }
}

const sentence = (summary: string): string => `${summary[0]!.toUpperCase()}${summary.slice(1)}.`;

function readStandardOptions(action: Command, cli: Cli): void {
  const { quiet, json, format }: { quiet?: boolean; json?: boolean; format?: unknown } = action.opts();
  cli.quiet = quiet === true;
  if (json === true || format === 'json') cli.format = 'json';
}
