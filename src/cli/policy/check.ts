import type { Command } from 'commander';
import type { Policy } from '../../policy/index.ts';
import type { Cli } from '../cli.ts';
import { examples, standardOptions } from '../shared/options/options.ts';
import { openPolicy } from './file.ts';
import { writeProduct } from '../shared/output/product.ts';
import { facts } from '../shared/output/table.ts';

const MORE = `
Exit codes: 0 the policy is valid, 2 it is not, 130 interrupted.`;

export function defineCheck(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Read a policy with all that it extends, and list every mistake with its place.')
    .argument('<file>', 'policy in JSON or YAML; - for standard input')
    .action(async (file: string) => {
      const policy = await openPolicy(cli, file);
      const { name, digest, sources, layers } = policy;
      const waivers = layers.reduce((sum, layer) => sum + (layer.waivers?.length ?? 0), 0);
      await writeProduct(
        cli,
        { kind: 'policy-check', name, digest, sources, waivers },
        text(policy, waivers),
      );
    });
  examples(command, [
    ['check before use', 'drillproof policy check policy.yaml'],
    ['get its digest, to pin it', 'drillproof policy check policy.yaml --json'],
  ]).addHelpText('after', MORE);
}

const text = ({ name, digest, sources }: Policy, waivers: number): string =>
  `${name} is valid\n${facts([
    ['  digest', digest],
    ...sources.map(({ path, digest: of }) => ['  file', `${path} ${of}`] as const),
    ['  waivers', String(waivers)],
  ])}`;
