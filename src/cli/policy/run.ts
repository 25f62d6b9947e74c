import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import * as z from 'zod/mini';
import { defined, parseJson } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  buildSyntheticReport,
  compareDecision,
  DEFAULT_POLICY,
  evaluate,
  type EvidenceInput,
  MAX_POLICY_BYTES,
  momentMs,
  type ParameterValues,
  parseCases,
  type Policy,
  type PolicyCase,
  readPolicy,
  skewMsOf,
} from '../../policy/index.ts';
import { printable } from '../../report/index.ts';
import { bundleReportSchema, exportReportSchema } from '../../verify/index.ts';
import type { Cli } from '../cli.ts';
import { namingFile, readInput } from '../shared/input/input.ts';
import { trustOptions, type TrustOptions } from '../shared/options/evidence.ts';
import {
  caFileOption,
  examples,
  standardOptions,
  parameterOption,
  type PolicyOptions,
} from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT } from '../shared/output/exit.ts';
import { writeProduct } from '../shared/output/product.ts';
import { readVerifyOptions, verifyPath } from '../verify/run.ts';
import { isPolicyAddress, readPinnedPolicy, readPolicyAddress, resolveAddress } from './source.ts';

const PARENT = /\bpath["']?\s*:\s*["']?([^"'\n,}]+)/g;

/** The policy of a file with everything that it extends (default: the default policy). */
export async function openPolicy(
  cli: Cli,
  path: string | undefined,
  { param: values = {}, caFile }: Omit<PolicyOptions, 'param'> & { readonly param?: ParameterValues },
): Promise<Policy> {
  if (path === undefined) {
    if (values !== 'sample' && Object.keys(values).length > 0)
      throw usageError('the default policy has no parameters', 'Name a policy with --policy FILE.');
    return DEFAULT_POLICY;
  }
  const read = async (file: string) => {
    if (isPolicyAddress(file)) return readPolicyAddress(cli, file, caFile);
    const bytes = await readInput(file, MAX_POLICY_BYTES, cli);
    // No output may replace them, not even when the policy is refused.
    for (const [, parent = ''] of Buffer.from(bytes).toString().matchAll(PARENT))
      cli.inputs.add(resolveBeside(file, parent.trim()));
    return { path: file, bytes };
  };
  const file = isPolicyAddress(path) ? await readPinnedPolicy(cli, path, caFile) : await read(path);
  return readPolicy(file, (parent, from) => read(resolveBeside(from, parent)), values);
}

/** Paths in standard input are relative to the working directory. */
const resolveBeside = (from: string, path: string): string =>
  isPolicyAddress(from) ? resolveAddress(from, path) : from === '-' ? path : join(dirname(from), path);

const MORE = `
Each case in CASES has a name, evidence (paths relative to CASES of exports,
parts, or JSON reports of "drillproof verify"), inputs (such reports in the
file) or runs (made up: "refund failed 8d ago, signed by acme-ci"); optionally
dsse, expectManifest, params and asOf; the expected answer and, optionally, the
expected states of rules and codes. docs/gate/policy.md has examples.

Exit codes: 0 every case holds, 1 one does not, 2 wrong call, policy or cases,
3 a case could not be read, 130 interrupted.`;

type Tested = { readonly name: string; readonly holds: boolean; readonly differences: readonly string[] };

export function defineTest(command: Command, cli: Cli): void {
  caFileOption(parameterOption(trustOptions(standardOptions(command))))
    .description('Apply a policy to cases, and list the differences from the expected answers.')
    .argument('<file>', 'policy in JSON or YAML')
    .argument('<cases>', 'inputs and expected answers, in JSON or YAML')
    .action(async (file: string, cases: string, options: TrustOptions & PolicyOptions) => {
      const policy = await openPolicy(cli, file, { ...options, param: 'sample' });
      const tested: Tested[] = [];
      const trial: Trial = { file, folder: dirname(cases), options };
      const bytes = await readInput(cases, MAX_POLICY_BYTES, cli);
      for (const expected of namingFile(cases, () => parseCases(bytes, cases)))
        tested.push(await tryCase(cli, trial, expected));
      const failed = tested.filter(({ holds }) => !holds).length;
      await writeProduct(
        cli,
        { kind: 'policy-test', policy: policy.name, digest: policy.digest, cases: tested, failed },
        text(tested, failed),
      );
      cli.exitCode = failed === 0 ? EXIT.pass : EXIT.bad;
    });
  examples(command, {
    'run the cases': 'drillproof policy test policy.yaml cases.yaml --trust trust.json',
  }).addHelpText('after', MORE);
}

type Trial = {
  readonly file: string;
  readonly folder: string;
  readonly options: TrustOptions & PolicyOptions;
};

async function tryCase(cli: Cli, { file, folder, options }: Trial, expected: PolicyCase): Promise<Tested> {
  cli.signal.throwIfAborted();
  const policy = await openPolicy(cli, file, { ...options, param: { ...options.param, ...expected.params } });
  const asOf = expected.asOf === undefined ? undefined : momentMs(expected.asOf);
  const { param: _param, caFile: _caFile, ...trust } = options;
  const { dsse, expectManifest, runs } = expected;
  const verified = await readVerifyOptions(cli, {
    ...trust,
    depth: 'full',
    jobs: 1,
    ...defined({ asOf, expectManifest, dsse: dsse?.map((path) => join(folder, path)) }),
  });
  const how = { ...verified, clockSkewMs: Math.min(...policy.layers.map(skewMsOf)) };
  const inputs: EvidenceInput[] = [...(expected.inputs ?? [])];
  for (const path of expected.evidence ?? []) {
    const place = join(folder, path);
    const report = (await storedReport(place)) ?? (await verifyPath(cli, place, how));
    const pinned = expectManifest !== undefined && report.kind === 'bundle';
    inputs.push({ name: path, report, ...(pinned && { pinned: report.manifestDigest === expectManifest }) });
  }
  const asOfMs = asOf ?? timeOf(inputs, how.asOfMs);
  if (runs !== undefined)
    inputs.push({ name: 'runs', report: buildSyntheticReport(runs, expected.list ?? {}, asOfMs) });
  const decision = evaluate(inputs, policy, { asOfMs });
  const differences = compareDecision(expected, decision);
  return { name: expected.name, holds: differences.length === 0, differences };
}

/** The time of stored reports, if the case has none. */
function timeOf(inputs: readonly EvidenceInput[], nowMs: number): number {
  const times = new Set(inputs.flatMap((one) => ('report' in one ? [one.report.asOfMs] : [])));
  const [only] = times;
  return times.size === 1 && only !== undefined ? only : nowMs;
}

const storedSchema = z.discriminatedUnion('kind', [exportReportSchema, bundleReportSchema]);

async function storedReport(path: string): Promise<z.infer<typeof storedSchema> | undefined> {
  const stats = await stat(path).catch(() => undefined); // opening it as evidence reports the error
  if (stats?.isFile() !== true || !path.endsWith('.json')) return undefined;
  const result = storedSchema.safeParse(parseJson(await readFile(path)));
  if (result.success) return result.data;
  throw new DrillproofError('policy.INVALID', `${path} is not a report on an export or bundle`, { path });
}

const text = (tested: readonly Tested[], failed: number): string =>
  [
    ...tested.flatMap(({ name, holds, differences: found }) => [
      `${holds ? 'holds' : 'FAILS'}  ${printable(name)}`,
      ...found.map((one) => `       - ${printable(one)}`),
    ]),
    '',
    `${tested.length - failed} of ${tested.length} cases hold`,
    '',
  ].join('\n');
