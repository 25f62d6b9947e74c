import type { Command } from 'commander';
import {
  explainRules,
  listMissingRules,
  momentMs,
  type Policy,
  type PolicyDocument,
  RULES,
  type Waiver,
} from '../../policy/index.ts';
import { labelled, type Page, pageOf, printable, sections } from '../../report/index.ts';
import { type Cli, lookOf } from '../cli.ts';
import { caFileOption, examples, standardOptions } from '../shared/options/options.ts';
import type { PolicyOptions } from '../shared/options/parameters.ts';
import { writeProduct } from '../shared/output/product.ts';
import { openPolicy } from './run.ts';

export function defineExplain(command: Command, cli: Cli): void {
  caFileOption(standardOptions(command))
    .description('Explain in words what a policy requires, what it waives, and what it does not require.')
    .argument('[file]', 'policy in JSON or YAML; - for standard input (default: the default policy)')
    .action(async (file: string | undefined, options: PolicyOptions) => {
      const policy = await openPolicy(cli, file, { ...options, param: 'sample' });
      const { name, digest, sources, layers } = policy;
      const explained = layers.map((layer, at) => ({
        name: nameOf(layer, at, policy),
        rules: explainRules(layer),
        waivers: layer.waivers ?? [],
      }));
      const page = pageOf(lookOf(cli, cli.stdout));
      await writeProduct(
        cli,
        {
          kind: 'policy-words',
          name,
          digest,
          sources,
          policies: explained,
          unasked: listMissingRules(layers),
        },
        text(page, policy, cli.now()),
      );
    });
  examples(command, {
    'explain a policy': 'drillproof policy explain policy.yaml',
    'explain the default policy': 'drillproof policy explain',
  });
}

const nameOf = ({ name }: PolicyDocument, at: number, policy: Policy): string =>
  name ?? policy.sources[at]?.path ?? policy.name;

function text(page: Page, policy: Policy, nowMs: number): string {
  const { layers } = policy;
  const lines = sections(page, [
    ...layers.flatMap((layer, at) => [
      {
        title: `${printable(nameOf(layer, at, policy))} requires`,
        lines: explainRules(layer).flatMap(({ rule, words }) => [
          ...labelled(page, '  - ', printable(words)),
          `    ${page.paint.dim(rule)}`,
        ]),
      },
      {
        title: `${printable(nameOf(layer, at, policy))} only warns about`,
        lines: Object.entries(layer.enforcement ?? {}).flatMap(([rule, { effectiveFrom }]) =>
          labelled(page, '  - ', effectiveFrom === undefined ? rule : `${rule}, before ${effectiveFrom}`),
        ),
      },
      {
        title: `${printable(nameOf(layer, at, policy))} waives`,
        lines: (layer.waivers ?? []).flatMap((one) =>
          labelled(page, '  - ', printable(waiverWords(one, nowMs))),
        ),
      },
    ]),
    {
      title: 'Not required',
      lines: listMissingRules(layers).flatMap((rule) =>
        labelled(page, '  - ', `${RULES[rule].title} (${rule})`),
      ),
    },
  ]);
  const all = layers.length === 1 ? '' : `. Each of the ${layers.length} policies must hold`;
  return `${printable(policy.name)}${all}\n${lines.join('\n')}\n`;
}

const waiverWords = ({ code, subject, drill, reason, owner, expires }: Waiver, nowMs: number): string =>
  `${code} of ${subject ?? `the drill ${drill}`} until ${expires}${momentMs(expires) <= nowMs ? ', which has passed' : ''}, by ${owner}: ${reason}`;
