import type { Cli } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { SCRUB, scrub } from './run.ts';

const MORE = `
Mirrors that were read longest ago come first. A journal next to the mirrors
records when each was read, with which version and policy; it is not proof.
Nothing else is written without --repair-from.`;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description('Read mirrors again, in slices, report damage and repair it.')
    .argument('<place>', 'folder or s3://bucket/prefix of many mirrors, or of one')
    .perform(SCRUB, (options, place: string) => scrub(cli, place, options))
    .examples({
      'everything within 90 days': 'drillproof scrub ./archive --within 90d',
      'ten minutes every night': 'drillproof scrub ./archive --for 10m --older-than 30d',
      'repair from a second archive': 'drillproof scrub ./archive --repair-from s3://second/archive',
      'verify signatures as well': 'drillproof scrub ./archive --depth full --trust trust.json',
    })
    .addHelpText('after', MORE);
}
