import { dirname, join } from 'node:path';
import { defined } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { buildSyntheticReport, compareDecision, parseCases, type PolicyCase } from '../../policy/cases.ts';
import { evaluate } from '../../policy/evaluate.ts';
import type { EvidenceInput } from '../../policy/facts.ts';
import { MAX_POLICY_BYTES } from '../../policy/resolve.ts';
import { durationMs, momentMs } from '../../policy/document/values.ts';
import { skewMsOf } from '../../policy/rules/table.ts';
import { escapeText } from '../../report/printable.ts';
import type { Cli } from '../cli.ts';
import { withFileName, readInput } from '../shared/input/input.ts';
import { openPolicy } from '../shared/input/policy.ts';
import { readVerifyOptions, verifyPath } from '../shared/input/verify.ts';
import type { OptionsOf } from '../shared/options/option.ts';
import { caFileOption, PARAMETER, STANDARD, TRUST } from '../shared/options/options.ts';
import { EXIT } from '../exit.ts';
import { writeProduct } from '../shared/output/product.ts';

type CaseReport = { readonly name: string; readonly holds: boolean; readonly differences: readonly string[] };

export const TEST = [...STANDARD, ...TRUST, PARAMETER, caFileOption()];
type TestOptions = OptionsOf<typeof TEST>;

export async function test(cli: Cli, file: string, cases: string, options: TestOptions): Promise<void> {
  const policy = await openPolicy(cli, file, { ...options, param: 'sample' });
  const reports: CaseReport[] = [];
  const trial: Trial = { file, folder: dirname(cases), options };
  const bytes = await readInput(cases, MAX_POLICY_BYTES, cli);
  for (const expected of withFileName(cases, () => parseCases(bytes, cases)))
    reports.push(await tryCase(cli, trial, expected));
  const failed = reports.filter(({ holds }) => !holds).length;
  await writeProduct(
    cli,
    { kind: 'policy-test', policy: policy.name, digest: policy.digest, cases: reports, failed },
    formatTests(reports, failed),
    formatTotal(reports, failed),
  );
  cli.exitCode = failed === 0 ? EXIT.pass : EXIT.bad;
}

type Trial = {
  readonly file: string;
  readonly folder: string;
  readonly options: TestOptions;
};

async function tryCase(
  cli: Cli,
  { file, folder, options }: Trial,
  expected: PolicyCase,
): Promise<CaseReport> {
  cli.signal.throwIfAborted();
  const policy = await openPolicy(cli, file, { ...options, param: { ...options.param, ...expected.params } });
  const asOf = expected.asOf === undefined ? undefined : momentMs(expected.asOf);
  const { param: _param, caFile: _caFile, ...trust } = options;
  const { dsse, expectManifest, runs, receipts } = expected;
  const verified = await readVerifyOptions(cli, {
    ...trust,
    depth: 'full',
    jobs: 1,
    ...defined({ asOf, expectManifest, dsse: dsse?.map((path) => join(folder, path)) }),
  });
  const settings = { ...verified, clockSkewMs: Math.min(...policy.layers.map(skewMsOf)) };
  const inputs: EvidenceInput[] = [...(expected.inputs ?? [])];
  for (const path of expected.evidence ?? []) {
    const report = await verifyPath(cli, join(folder, path), settings);
    const pinned = expectManifest !== undefined && report.kind === 'bundle';
    inputs.push({ name: path, report, ...(pinned && { pinned: report.manifestDigest === expectManifest }) });
  }
  const asOfMs = asOf ?? findTime(inputs, settings.asOfMs);
  if (runs !== undefined)
    inputs.push({
      name: 'runs',
      report: buildSyntheticReport(runs, expected.list ?? {}, asOfMs),
      ...(receipts !== undefined && {
        receipts: { verdict: receipts.verdict, finishedAtMs: asOfMs - durationMs(receipts.ago ?? '1h') },
      }),
    });
  const decision = evaluate(inputs, policy, { asOfMs, ...buildCaseContext(expected) });
  const differences = compareDecision(expected, decision);
  return { name: expected.name, holds: differences.length === 0, differences };
}

const buildCaseContext = ({ artifact, baseline: runs, strict }: PolicyCase) =>
  defined({
    artifact: artifact && { name: 'artifact', digest: artifact },
    baseline: runs && { name: 'baseline', digest: digestOf(toUtf8('baseline')), runs },
    strict,
  });

/** Finds the time of the reports in a case without a time. */
function findTime(inputs: readonly EvidenceInput[], nowMs: number): number {
  const times = new Set(inputs.flatMap((input) => ('report' in input ? [input.report.asOfMs] : [])));
  const [only] = times;
  return times.size === 1 && only !== undefined ? only : nowMs;
}

const formatTests = (reports: readonly CaseReport[], failed: number): string =>
  [
    ...reports.flatMap(({ name, holds, differences }) => [
      `${holds ? 'holds' : 'FAILS'}  ${escapeText(name)}`,
      ...differences.map((difference) => `       - ${escapeText(difference)}`),
    ]),
    '',
    formatTotal(reports, failed),
    '',
  ].join('\n');

const formatTotal = ({ length }: readonly CaseReport[], failed: number): string =>
  `${length - failed} of ${length} cases hold`;
