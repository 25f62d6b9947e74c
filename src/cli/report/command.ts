import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { examples, standardOptions } from '../shared/options/options.ts';

const MORE = `
All files must be JSON reports of one kind: "mirror --list" or "--all", scrub,
or verify with many paths. All shards must be given; reports that contradict
each other about an export are refused. The order of files does not count.

Exit codes: the worst of the reports: 0 everything is good, 1 something is bad
or contradicts; 2 wrong call, 3 a shard is missing or something was not checked.`;

export function defineReportCommand(command: Command, cli: Cli): void {
  command.description('Work on the JSON reports of other commands.');
  const merge = command.command('merge').summary('put the reports of shards or machines together');
  standardOptions(merge)
    .description('Merge the JSON reports of shards or machines into one.')
    .argument('<file...>', 'reports in JSON; - for standard input')
    .action(async (files: string[]) => {
      const { mergeFiles } = await import('./run.ts');
      await mergeFiles(cli, files);
    });
  examples(merge, {
    'three shards of a mirror': 'drillproof report merge shard-0.json shard-1.json shard-2.json',
    'as one report, for a machine': 'drillproof report merge shard-*.json --json > whole.json',
  }).addHelpText('after', MORE);
  examples(command, { 'put shards together': 'drillproof report merge shard-*.json' });
}
