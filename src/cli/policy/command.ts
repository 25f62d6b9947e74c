import type { Command } from 'commander';
import { detectSyntax } from '../../policy/resolve.ts';
import {
  type Doubt,
  explainRules,
  findRemoved,
  listDoubts,
  listMissingRules,
  REMOVED,
} from '../../policy/explain.ts';
import {
  formatSchema,
  POLICY_SCHEMA_ROW,
  type PolicyDocument,
  type Waiver,
} from '../../policy/document/document.ts';
import { jsonTemplate, yamlTemplate } from '../../policy/template.ts';
import type { Policy } from '../../policy/policy.ts';
import { momentMs } from '../../policy/document/values.ts';
import { RULES } from '../../policy/catalogue.ts';
import { type Cli, printNote, describeLook } from '../cli.ts';
import {
  addCaFileOption,
  addExamples,
  addStandardOptions,
  type PolicyOptions,
} from '../shared/options/options.ts';
import { writeBytes } from '../shared/output/output-file.ts';
import { alignFacts, writeProduct } from '../shared/output/product.ts';
import { defineTest, openPolicy } from './run.ts';
import { wrapLabel, type Page, sections } from '../../report/text/page.ts';
import { pageOf } from '../../report/text/text.ts';
import { escapeText } from '../../report/printable.ts';

export function definePolicyCommand(command: Command, cli: Cli): void {
  command.description('Write, check, explain and test the policies of "drillproof gate".');
  defineInit(command.command('init').summary('write the default policy to a file'), cli);
  defineCheck(command.command('check').summary('list every mistake in a policy'), cli);
  defineSchema(command.command('schema').summary('print the JSON Schema of policies'), cli);
  defineExplain(command.command('explain').summary('explain a policy in words'), cli);
  defineTest(command.command('test').summary('apply a policy to cases with expected answers'), cli);
  addExamples(command, {
    'write the default policy': 'drillproof policy init policy.yaml',
    'find mistakes': 'drillproof policy check policy.yaml',
    'read it in words': 'drillproof policy explain policy.yaml',
    'compare its answers with the expected ones': 'drillproof policy test policy.yaml cases.yaml',
  });
}

const NOTHING = new Uint8Array();

function defineInit(command: Command, cli: Cli): void {
  addStandardOptions(command, { formats: false })
    .description('Write the default policy to a file, as YAML with comments or as JSON.')
    .argument('[output]', 'file to write, .yaml or .json; - for standard output', 'policy.yaml')
    .option('--force', 'replace an existing file')
    .action(async (file: string, { json, force = false }: { json?: boolean; force?: boolean }) => {
      const inJson = json === true || detectSyntax(file, NOTHING) === 'json';
      const text = inJson ? jsonTemplate() : yamlTemplate();
      await writeBytes(cli, file, [Buffer.from(text)], { force });
      if (file !== '-')
        await printNote(cli, `${file} is the default policy; edit it, then drillproof policy check ${file}`);
    });
  addExamples(command, {
    'YAML with a comment for every rule': 'drillproof policy init policy.yaml',
    JSON: 'drillproof policy init policy.json',
  });
}

function defineSchema(command: Command, cli: Cli): void {
  addStandardOptions(command, { formats: false })
    .description('Print the JSON Schema (2020-12) of policies, for editors.')
    .action(async () => {
      await cli.stdout.write(formatSchema(POLICY_SCHEMA_ROW));
    });
  addExamples(command, { 'for an editor': 'drillproof policy schema > policy.v1.schema.json' });
}

const CHECK_MORE = `
Exit codes: 0 the policy is valid, 2 it is not, 130 interrupted.`;

function defineCheck(command: Command, cli: Cli): void {
  addCaFileOption(addStandardOptions(command))
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
  addExamples(command, {
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
  `${name} is valid\n${alignFacts([
    ['  digest', digest],
    ...sources.map(({ path, digest: fileDigest }) => ['  file', `${path} ${fileDigest}`] as const),
    ['  waivers', String(waivers)],
    ...warnings.map(({ policy, path, message }) => ['  warning', `${policy} ${path}: ${message}`] as const),
  ])}`;

export function defineExplain(command: Command, cli: Cli): void {
  addCaFileOption(addStandardOptions(command))
    .description('Explain in words what a policy requires, what it waives, and what it does not require.')
    .argument('[file]', 'policy in JSON or YAML; - for standard input (default: the default policy)')
    .action(async (file: string | undefined, options: PolicyOptions) => {
      const policy = await openPolicy(cli, file, { ...options, param: 'sample' });
      const { name, digest, sources, layers } = policy;
      const policies = layers.map((layer, at) => ({
        name: nameOf(layer, at, policy),
        rules: explainRules(layer),
        waivers: layer.waivers ?? [],
      }));
      const page = pageOf(describeLook(cli, cli.stdout));
      await writeProduct(
        cli,
        {
          kind: 'policy-words',
          name,
          digest,
          sources,
          policies,
          unasked: listMissingRules(layers),
        },
        formatPolicyWords(page, policy, cli.now()),
      );
    });
  addExamples(command, {
    'explain a policy': 'drillproof policy explain policy.yaml',
    'explain the default policy': 'drillproof policy explain',
  });
}

const nameOf = ({ name }: PolicyDocument, at: number, policy: Policy): string =>
  name ?? policy.sources[at]?.path ?? policy.name;

function formatPolicyWords(page: Page, policy: Policy, nowMs: number): string {
  const { layers } = policy;
  const wrap = (text: string): readonly string[] => wrapLabel(page, '  - ', escapeText(text));
  const lines = sections(page, [
    ...layers.flatMap((layer, at) => {
      const title = escapeText(nameOf(layer, at, policy));
      const required = explainRules(layer).flatMap(({ rule, words }) => [
        ...wrap(words),
        `    ${page.paint.dim(rule)}`,
      ]);
      const enforcement = Object.entries(layer.enforcement ?? {});
      return [
        { title: `${title} requires`, lines: required },
        {
          title: `${title} only warns about`,
          lines: enforcement.flatMap(([rule, { effectiveFrom }]) =>
            wrap(effectiveFrom === undefined ? rule : `${rule}, before ${effectiveFrom}`),
          ),
        },
        {
          title: `${title} waives`,
          lines: (layer.waivers ?? []).flatMap((waiver) => wrap(describeWaiver(waiver, nowMs))),
        },
      ];
    }),
    {
      title: 'Not required',
      lines: listMissingRules(layers).flatMap((rule) => wrap(`${RULES[rule].title} (${rule})`)),
    },
  ]);
  const all = layers.length === 1 ? '' : `. Each of the ${layers.length} policies must hold`;
  return `${escapeText(policy.name)}${all}\n${lines.join('\n')}\n`;
}

const describeWaiver = ({ code, subject, drill, reason, owner, expires }: Waiver, nowMs: number): string =>
  `${code} of ${subject ?? `the drill ${drill}`} until ${expires}${momentMs(expires) <= nowMs ? ', which has passed' : ''}, by ${owner}: ${reason}${formatRemoved(code)}`;

function formatRemoved(code: Waiver['code']): string {
  const removed = findRemoved(code);
  return removed === undefined ? '' : `. It removes ${REMOVED[removed]}`;
}
