import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import type { Cli } from '../cli.ts';
import { examples, many, standardOptions, text, wholeNumber } from '../shared/options/options.ts';
import type { SelftestOptions } from './run.ts';

const MORE = `
Exit codes: 0 every case that ran did as expected, 1 one did not, 2 wrong call,
3 no case ran or a command could not be started, 130 interrupted.`;

export function define(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Put the published conformance vectors to this program, or to another verifier.')
    .option('--kind <kind>', 'cases of this kind only (may be given again)', many(text))
    .option('--case <id>', 'the case of this id only (may be given again)', many(text))
    .option('--vectors <dir>', 'folder of the vectors; the default is that of this package')
    .addOption(
      new Option(
        '--platform <which>',
        'primitives of this program: of Node, of a browser, or one after the other',
      )
        .choices(['native', 'portable', 'both'])
        .default('both'),
    )
    .option('--exec <command>', 'test this command instead; see docs/selftest.md')
    .addOption(
      new Option('--timeout <seconds>', 'time that the command has for a case')
        .argParser(wholeNumber(1, 3600))
        .default(60),
    )
    .addOption(
      new Option('--jobs <n>', 'commands at once')
        .argParser(wholeNumber(1, 256))
        .default(availableParallelism(), 'processors'),
    )
    .action(async (options: SelftestOptions) => {
      const { selftest } = await import('./run.ts');
      await selftest(cli, options);
    });
  examples(command, [
    ['does this installation do what it should?', 'drillproof selftest'],
    ['one case', 'drillproof selftest --kind hex --case uppercase'],
    ['another verifier', 'drillproof selftest --exec "python3 verifier.py" --json'],
    ['this program as the other verifier', 'drillproof selftest --exec "drillproof selftest case"'],
  ]).addHelpText('after', MORE);
  defineCase(command.command('case'), cli);
}

function defineCase(command: Command, cli: Cli): void {
  standardOptions(command, { formats: false })
    .description('Judge the folder of one case, as --exec asks a verifier to. The answer is a line of JSON.')
    .argument('<dir>', 'folder of the case, with case.json')
    .action(async (folder: string) => {
      const { selftestCase } = await import('./run.ts');
      await selftestCase(cli, folder);
    });
  examples(command, [['judge one case', 'drillproof selftest case ./case']]);
}
