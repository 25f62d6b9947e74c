import type { Command } from 'commander';
import {
  detectSyntax,
  type Doubt,
  formatSchema,
  jsonTemplate,
  listDoubts,
  type Policy,
  POLICY_SCHEMA_ROW,
  yamlTemplate,
} from '../../policy/index.ts';
import { type Cli, say } from '../cli.ts';
import { caFileOption, examples, standardOptions } from '../shared/options/options.ts';
import type { PolicyOptions } from '../shared/options/parameters.ts';
import { writeBytes } from '../shared/output/output-file.ts';
import { facts, writeProduct } from '../shared/output/product.ts';
import { defineExplain } from './explain.ts';
import { defineTest, openPolicy } from './run.ts';

export function definePolicyCommand(command: Command, cli: Cli): void {
  command.description('Write, check, explain and test the policies of "drillproof gate".');
  defineInit(command.command('init').summary('write the default policy to a file'), cli);
  defineCheck(command.command('check').summary('list every mistake in a policy'), cli);
  defineSchema(command.command('schema').summary('print the JSON Schema of policies'), cli);
  defineExplain(command.command('explain').summary('explain a policy in words'), cli);
  defineTest(command.command('test').summary('apply a policy to cases with expected answers'), cli);
  examples(command, {
    'write the default policy': 'drillproof policy init policy.yaml',
    'find mistakes': 'drillproof policy check policy.yaml',
    'read it in words': 'drillproof policy explain policy.yaml',
    'compare its answers with the expected ones': 'drillproof policy test policy.yaml cases.yaml',
  });
}

const NOTHING = new Uint8Array();

function defineInit(command: Command, cli: Cli): void {
  standardOptions(command, { formats: false })
    .description('Write the default policy to a file, as YAML with comments or as JSON.')
    .argument('[output]', 'file to write, .yaml or .json; - for standard output', 'policy.yaml')
    .option('--force', 'replace an existing file')
    .action(async (file: string, { json, force = false }: { json?: boolean; force?: boolean }) => {
      const inJson = json === true || detectSyntax(file, NOTHING) === 'json';
      const text = inJson ? jsonTemplate() : yamlTemplate();
      await writeBytes(cli, file, [Buffer.from(text)], { force });
      if (file !== '-')
        await say(cli, `${file} is the default policy; edit it, then drillproof policy check ${file}`);
    });
  examples(command, {
    'YAML with a comment for every rule': 'drillproof policy init policy.yaml',
    JSON: 'drillproof policy init policy.json',
  });
}

function defineSchema(command: Command, cli: Cli): void {
  standardOptions(command, { formats: false })
    .description('Print the JSON Schema (2020-12) of policies, for editors.')
    .action(async () => {
      await cli.stdout.write(formatSchema(POLICY_SCHEMA_ROW));
    });
  examples(command, { 'for an editor': 'drillproof policy schema > policy.v1.schema.json' });
}

const CHECK_MORE = `
Exit codes: 0 the policy is valid, 2 it is not, 130 interrupted.`;

function defineCheck(command: Command, cli: Cli): void {
  caFileOption(standardOptions(command))
    .description(
      'List every mistake in a policy and what it extends, and warn about rules that cannot hold or fail.',
    )
    .argument('<file>', 'policy in JSON or YAML; - for standard input')
    .action(async (file: string, options: PolicyOptions) => {
      const policy = await openPolicy(cli, file, { ...options, param: 'sample' });
      const { name, digest, sources, layers } = policy;
      const warnings = listWarnings(policy, cli.now());
      const waivers = layers.reduce((sum, layer) => sum + (layer.waivers?.length ?? 0), 0);
      await writeProduct(
        cli,
        { kind: 'policy-check', name, digest, sources, waivers, warnings },
        formatPolicy(policy, waivers, warnings),
      );
    });
  examples(command, {
    'check before use': 'drillproof policy check policy.yaml',
    'get its digest, to pin it': 'drillproof policy check policy.yaml --json',
  }).addHelpText('after', CHECK_MORE);
}

type Warning = Doubt & { readonly policy: string };

const listWarnings = (
  { name, sources, layers, unusedParameters = [] }: Policy,
  nowMs: number,
): readonly Warning[] => [
  ...layers.flatMap((layer, at) =>
    listDoubts(layer, nowMs).map((doubt) => ({ policy: sources[at]?.path ?? name, ...doubt })),
  ),
  ...unusedParameters.map((parameter) => ({
    policy: name,
    path: `/parameters/${parameter}`,
    message: 'no rule uses the parameter',
  })),
];

const formatPolicy = (
  { name, digest, sources }: Policy,
  waivers: number,
  warnings: readonly Warning[],
): string =>
  `${name} is valid\n${facts([
    ['  digest', digest],
    ...sources.map(({ path, digest: of }) => ['  file', `${path} ${of}`] as const),
    ['  waivers', String(waivers)],
    ...warnings.map(({ policy, path, message }) => ['  warning', `${policy} ${path}: ${message}`] as const),
  ])}`;
