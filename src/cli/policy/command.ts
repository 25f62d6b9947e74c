import { defined } from '../../bytes/arguments.ts';
import { countNoun } from '../../bytes/text/wording.ts';
import { detectSyntax, findRule } from '../../policy/resolve.ts';
import {
  type Doubt,
  explainRules,
  findRemoved,
  listDoubts,
  listMissingRules,
  REMOVED,
} from '../../policy/explain.ts';
import type { PolicyDocument, Waiver } from '../../policy/document/document.ts';
import { jsonTemplate, yamlTemplate } from '../../policy/template.ts';
import type { Policy } from '../../policy/policy.ts';
import { momentMs } from '../../policy/document/values.ts';
import { RULES } from '../../policy/catalogue.ts';
import { formatWaived } from '../../policy/waivers.ts';
import { type Cli, describeLook, printNotes } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { caFileOption, FORCE, QUIET, STANDARD } from '../shared/options/options.ts';
import { EXIT } from '../exit.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { writeBytes } from '../shared/output/output-file.ts';
import { alignFacts, writeProduct, writeWritten } from '../shared/output/product.ts';
import { openPolicy } from '../shared/input/policy.ts';
import { DIFF, diffPolicies } from './diff.ts';
import { test, TEST } from './run.ts';
import { wrapLabel, type Page, sections } from '../../report/text/page.ts';
import { pageOf } from '../../report/text/text.ts';
import { escapeText, quoteShellWord } from '../../report/printable.ts';

const NOTHING = new Uint8Array();

const TEST_MORE = `
CASES has the form of docs/schemas/policy-cases.v1.schema.json, which
docs/gate/policy.md describes.`;

const CHECK = [...STANDARD, option('--strict', 'end with 1 if there is a warning'), caFileOption()];
const READ = [...STANDARD, caFileOption()];
type ReadOptions = OptionsOf<typeof READ>;

export function defineCommand(policy: CliCommand, cli: Cli): void {
  policy.description('Write, check, explain and test the policies of "drillproof gate".');
  policy
    .command('init')
    .description('Write the default policy to a file, as YAML with comments or as JSON.')
    .argument('[output]', 'file to write, .yaml or .json; - for standard output', 'policy.yaml')
    .perform([...QUIET, FORCE], async (options, file: string) => {
      const { json, force = false } = options;
      const inJson = json === true || detectSyntax(file, NOTHING) === 'json';
      await writeBytes(cli, file, [Buffer.from(inJson ? jsonTemplate() : yamlTemplate())], { force });
      if (file === '-') return;
      await writeWritten(cli, file, 'is the default policy');
      await printNotes(cli, `edit it, then\n  drillproof policy check ${escapeText(quoteShellWord(file))}`);
    })
    .examples({
      'YAML with a comment for every rule': 'drillproof policy init policy.yaml',
    });
  policy
    .command('check')
    .description(
      'List every mistake in a policy and what it extends: also rules that cannot hold or cannot fail.',
    )
    .argument('<file>', 'policy in JSON or YAML; - for standard input')
    .perform(CHECK, (options, file: string) => check(cli, file, options))
    .examples({
      'check before use': 'drillproof policy check policy.yaml',
      'in CI': 'drillproof policy check policy.yaml --strict',
      'get its digest, to pin it': 'drillproof policy check policy.yaml --json',
    });
  policy
    .command('explain')
    .description('Explain a policy in words: what it requires, what it waives, and what it does not require.')
    .argument('[file]', 'policy in JSON or YAML; - for standard input (default: the default policy)')
    .perform(READ, (options, file: string | undefined) => explain(cli, file, options))
    .examples({
      'explain a policy': 'drillproof policy explain policy.yaml',
      'explain the default policy': 'drillproof policy explain',
    });
  policy
    .command('diff')
    .description(
      'Compare two policies: what became stricter or weaker, and which past decisions would change.',
    )
    .argument('<before>', 'policy in JSON or YAML')
    .argument('<after>', 'policy in JSON or YAML')
    .perform(DIFF, (options, before: string, after: string) => diffPolicies(cli, before, after, options))
    .examples({
      'before a change is merged': 'drillproof policy diff main.yaml policy.yaml',
      'and what it would have answered':
        'drillproof policy diff main.yaml policy.yaml --decision decision.json',
    });
  policy
    .command('test')
    .description('Apply a policy to cases, and list the differences from the expected answers.')
    .argument('<file>', 'policy in JSON or YAML')
    .argument('<cases>', 'inputs and expected answers, in JSON or YAML')
    .perform(TEST, (options, file: string, cases: string) => test(cli, file, cases, options))
    .examples({ 'run the cases': 'drillproof policy test policy.yaml cases.yaml --trust trust.json' })
    .addHelpText('after', TEST_MORE);
}

async function check(cli: Cli, file: string, options: OptionsOf<typeof CHECK>): Promise<void> {
  const policy = await openPolicy(cli, file, { ...options, param: 'sample' });
  const { name, digest, sources, layers } = policy;
  const warnings = listWarnings(policy, cli.now());
  const waivers = layers.reduce((sum, layer) => sum + (layer.waivers?.length ?? 0), 0);
  await writeProduct(
    cli,
    { kind: 'policy-check', name, digest, sources, waivers, warnings },
    formatPolicy(policy, waivers, warnings),
  );
  if (options.strict === true && warnings.length > 0) cli.exitCode = EXIT.bad;
}

type Warning = Doubt & { readonly policy: string; readonly line?: number; readonly rule?: string };

const listWarnings = (
  { name, sources, layers, unusedParameters = [], locate }: Policy,
  nowMs: number,
): readonly Warning[] => {
  const last = layers.length - 1;
  const unused = unusedParameters.map((parameter) => ({
    at: last,
    path: `/parameters/${parameter}`,
    message: 'no rule uses the parameter',
  }));
  const doubts = layers.flatMap((layer, at) => listDoubts(layer, nowMs).map((doubt) => ({ at, ...doubt })));
  return [...doubts, ...unused].map(({ at, ...doubt }) => ({
    policy: sources[at]?.path ?? name,
    ...doubt,
    ...defined({ line: locate?.(at, doubt.path), rule: findRule(doubt.path) }),
  }));
};

const formatWarning = ({ policy, line, rule, path, message }: Warning): string =>
  `${policy}${line === undefined ? '' : `:${line}`} ${rule ?? path}: ${message}`;

const formatPolicy = (
  { name, digest, sources }: Policy,
  waivers: number,
  warnings: readonly Warning[],
): string =>
  `${name} is valid\n${alignFacts([
    ['  digest', digest],
    ...sources.map(({ path, digest: fileDigest }) => ['  file', `${path} ${fileDigest}`] as const),
    ['  waivers', String(waivers)],
    ...warnings.map((warning) => ['  warning', formatWarning(warning)] as const),
  ])}`;

async function explain(cli: Cli, file: string | undefined, options: ReadOptions): Promise<void> {
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
    { kind: 'policy-words', name, digest, sources, policies, unasked: listMissingRules(layers) },
    formatPolicyWords(page, policy, cli.now()),
    `${escapeText(name)}: ${countNoun(policies.flatMap(({ rules }) => rules).length, 'rule')}`,
  );
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

const describeWaiver = (waiver: Waiver, nowMs: number): string => {
  const { code, reason, owner, expires } = waiver;
  const end = `${expires}${momentMs(expires) <= nowMs ? ', which has passed' : ''}`;
  return `${code} of ${formatWaived(waiver)} until ${end}, by ${owner}: ${reason}${formatRemoved(code)}`;
};

function formatRemoved(code: Waiver['code']): string {
  const removed = findRemoved(code);
  return removed === undefined ? '' : `. It removes ${REMOVED[removed]}`;
}
