import { type Command, Option } from 'commander';
import type { Cli } from '../cli.ts';
import { examples, jobsOption, many, standardOptions, text, wholeNumber } from '../shared/options/options.ts';
import type { SelftestOptions } from './run.ts';

const MORE = `
Exit codes: 0 every case that ran had the expected result, 1 at least one did
not, 2 wrong call, 3 no case ran or a command could not be started, 130
interrupted.`;

export function defineSelftestCommand(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Run the published conformance vectors against this program or another verifier.')
    .option('--kind <kind>', 'run only cases of this kind (repeatable)', many(text))
    .option('--case <id>', 'run only this case (repeatable)', many(text))
    .option('--vectors <dir>', 'folder of the vectors (default: that of this package)')
    .addOption(
      new Option(
        '--platform <which>',
        'primitives of this program: those of Node, those of a browser, or both in turn',
      )
        .choices(['native', 'portable', 'both'])
        .default('both'),
    )
    .option('--exec <command>', 'test this command instead; see docs/formats/selftest.md')
    .addOption(
      new Option('--timeout <seconds>', 'time limit of the command for each case')
        .argParser(wholeNumber(1, 3600))
        .default(60),
    )
    .addOption(jobsOption('run this many commands at once'))
    .action(async (options: SelftestOptions) => {
      const { selftest } = await import('./run.ts');
      await selftest(cli, options);
    });
  examples(command, {
    'test this installation': 'drillproof selftest',
    'one case': 'drillproof selftest --kind hex --case uppercase',
    'another verifier': 'drillproof selftest --exec "python3 verifier.py" --json',
    'run this program as the other verifier': 'drillproof selftest --exec "drillproof selftest case"',
  }).addHelpText('after', MORE);
  defineCase(command.command('case'), cli);
}

function defineCase(command: Command, cli: Cli): void {
  standardOptions(command, { formats: false })
    .description('Verify the folder of one case as a verifier under --exec, and print one line of JSON.')
    .argument('<dir>', 'folder of the case, with case.json')
    .action(async (folder: string) => {
      const { selftestCase } = await import('./run.ts');
      await selftestCase(cli, folder);
    });
  examples(command, { 'verify one case': 'drillproof selftest case ./case' });
}
