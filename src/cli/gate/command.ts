import type { Cli } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { GATE } from './options.ts';

const MORE = `
Only the policy and the keys that you name are used. "drillproof policy explain"
describes the default policy. Only yes ends with 0.`;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description('Answer whether evidence satisfies a policy: yes, no or could not tell.')
    .argument(
      '[evidence...]',
      'folder, bag or s3://bucket/prefix of an export, a ZIP of it, a part, or with --url the id of an export',
    )
    // Loaded only when it runs, because help needs no verification.
    .perform(GATE, async (options, names: readonly string[]) =>
      (await import('./run.ts')).gate(cli, names, options),
    )
    .examples({
      'a mirror, under a policy': 'drillproof gate ./mirror --policy policy.yaml --trust trust.json',
      'under the default policy': 'drillproof gate ./mirror --trust trust.json',
      'an export at a control plane, once it is generated':
        'drillproof gate evexp_0123456789ab --url http://127.0.0.1:8080 --project prj_0123456789ab --wait 30m --policy policy.yaml --trust trust.json',
    })
    .addHelpText('after', MORE);
}
