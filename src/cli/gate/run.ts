import { defined } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import { isoTime } from '../../bytes/text/wording.ts';
import { codeEntry } from '../../codes/catalogue.ts';
import { evidenceExportIdSchema } from '../../contract/scalars.ts';
import { DrillproofError } from '../../errors.ts';
import type { RuleSet } from '../../policy/document/document.ts';
import { evaluate } from '../../policy/evaluate.ts';
import type { EvidenceInput } from '../../policy/facts.ts';
import type { Policy } from '../../policy/policy.ts';
import { type ChallengeLedger, MAX_LEDGER_BYTES, verifyLedger } from '../../verify/challenge/ledger.ts';
import { skewMsOf } from '../../policy/rules/table.ts';
import { summaryFacts } from '../../policy/vsa/verify.ts';
import { verifyReceipts } from '../../verify/receipts/receipts.ts';
import { type Cli, printNote } from '../cli.ts';
import { formatPlace, openPolicy } from '../shared/input/policy.ts';
import {
  looksLikeJson,
  readInput,
  readPaths,
  readEvidenceInput,
  withEvidence,
} from '../shared/input/input.ts';
import { findInside } from '../shared/input/trust.ts';
import { openReportSigning } from '../shared/input/signing.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT, exitOfCode } from '../exit.ts';
import { describeFailure } from '../shared/output/failure.ts';
import { planOutputs, replaceStale } from '../shared/output/targets.ts';
import { describeRun } from '../shared/output/product.ts';
import { readVerifyOptions, type VerifySettings, verifyPath } from '../shared/input/verify.ts';
import { readArtifact, readBaseline } from './compared.ts';
import type { GateOptions } from './options.ts';
import { exitOfAnswer, writeDecision } from './output.ts';
import { openSummary } from './summary.ts';

export async function gate(cli: Cli, args: readonly string[], options: GateOptions): Promise<void> {
  const { vsa } = options;
  const outputs = await planOutputs(cli, options, vsa === undefined ? [] : [vsa]);
  const opened = await replaceStale(cli, outputs, async () => ({
    ...(await readSettings(cli, args, options)),
    sign: await openReportSigning(cli, options, outputs),
  }));
  const { names, policy, settings, ledger, summary, isPast, sign, artifact, baseline } = opened;
  refuseOutputsInEvidence(names, outputs.paths);
  const needsReceipts = policy.layers.some(hasReceiptRule);
  // Without a decision, the command ends with could-not-tell.
  cli.exitCode = EXIT.unchecked;
  if (names.length === 0) await printNote(cli, 'no evidence was named, so there is nothing to check');
  const inputs: EvidenceInput[] = [];
  for (const name of names) {
    cli.signal.throwIfAborted();
    const input = await verifyInput(cli, name, options, { ...settings, short: true });
    const receipts =
      needsReceipts && 'report' in input ? await readReceipts(cli, name, input.report) : undefined;
    inputs.push({ ...input, ...defined({ receipts }) });
  }
  const { asOfMs, trust } = settings;
  const evaluated = evaluate(inputs, policy, {
    asOfMs,
    ...defined({
      trust: trust && { fingerprint: trust.fingerprint, keys: trust.keys.length },
      ledger,
      artifact,
      baseline,
      strict: options.strict,
    }),
  });
  const param = options.param && Object.entries(options.param).map((pair) => pair.join('='));
  const policyPlace = options.policy && formatPlace(options.policy);
  const reported = { ...options, ...defined({ param, policy: policyPlace }) };
  const run = {
    ...(await describeRun(reported)),
    exitCode: exitOfAnswer(evaluated.answer, options),
    unmet: [],
  };
  const decision = { ...evaluated, ...(isPast && { pastTime: true as const }), run };
  await writeDecision(cli, decision, { outputs, options, summary, sign });
}

/** Reads all configuration. A fault in it is a wrong call; a server of policies that does not respond is not. */
async function readSettings(cli: Cli, args: readonly string[], options: GateOptions) {
  const namesNothing = args.length === 0 && options.list === undefined;
  // Both name inputs, which no output may replace, even in a wrong call.
  const [paths, policyResult] = await Promise.allSettled([
    namesNothing ? [] : readPaths(cli, args, options),
    readConfiguration(() => openPolicy(cli, options.policy, options)),
  ]);
  const isPast = checkPast(cli, options);
  const summary = await openSummary(cli, options);
  const { format: _format, ...verifying } = options;
  const policy = unwrap(policyResult);
  const isFetched = policy.sources.some(({ path }) => /^https:/i.test(path));
  if ((options.caFile ?? options.timeout) !== undefined && options.url === undefined && !isFetched)
    throw usageError('--ca-file and --timeout are for a server', 'Pass --url URL, or --policy https://….');
  const settings = {
    ...(await readConfiguration(() => readVerifyOptions(cli, { ...verifying, depth: 'full' }))),
    // Every layer must hold, so the strictest decides.
    clockSkewMs: Math.min(...policy.layers.map(skewMsOf)),
  };
  if (settings.trust === undefined)
    await printNote(
      cli,
      'no trust store was given, so nothing can be verified: pass --trust FILE, or --key FILE,issuer=NAME',
    );
  const names = unwrap(paths);
  await refuseRulesInEvidence(names, policy, options);
  const { asOfMs, trust } = settings;
  const artifact = options.artifact === undefined ? undefined : await readArtifact(cli, options.artifact);
  const baseline =
    options.baseline === undefined
      ? undefined
      : await readConfiguration(() =>
          readBaseline(cli, options.baseline ?? '', { asOfMs, ...defined({ trust }) }),
        );
  if (options.dsse !== undefined && names.length > 1)
    throw usageError('--dsse is about one part or export', 'Run the gate separately for the others.');
  const ledger = await readConfiguration(() => readLedger(cli, options.challenges, settings));
  return { names, policy, settings, ledger, summary, isPast, artifact, baseline };
}

const readLedger = async (
  cli: Cli,
  file: string | undefined,
  { asOfMs, trust }: VerifySettings,
): Promise<ChallengeLedger | undefined> =>
  file === undefined
    ? undefined
    : verifyLedger(await readInput(file, MAX_LEDGER_BYTES, cli), { asOfMs, ...defined({ trust }) });

function unwrap<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** A faulty configuration is a wrong call, whatever the class of its code: no evidence was verified. */
async function readConfiguration<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof DrillproofError) || exitOfCode(cause.code) !== EXIT.bad) throw cause;
    throw new DrillproofError('usage.INVALID', `${cause.code}: ${cause.message}`, {
      cause,
      ...defined({ path: cause.path }),
      details: { ...cause.details, hint: codeEntry(cause.code).action },
    });
  }
}

/** Refuses a policy or keys inside the evidence, whose author must not choose the rules. */
async function refuseRulesInEvidence(
  names: readonly string[],
  { sources }: Policy,
  { trust = [], key = [], baseline }: GateOptions,
): Promise<void> {
  const paths = [...sources.map(({ path }) => path), ...trust, ...key.map(({ file }) => file)];
  const rules = baseline === undefined ? paths : [...paths, baseline];
  const inside = findInside(names, rules);
  if (inside !== undefined)
    throw usageError(
      `${inside.file} is inside the evidence ${inside.evidence}`,
      'Store policies and keys where the authors of the evidence cannot change them.',
    );
}

/** Refuses reports inside the evidence, which would change it: the next gate would find a file that nothing covers. */
function refuseOutputsInEvidence(names: readonly string[], paths: readonly string[]): void {
  const inside = findInside(names, paths);
  if (inside !== undefined)
    throw usageError(
      `the output ${inside.file} would be inside the evidence ${inside.evidence}`,
      'Write it to a folder that is not evidence.',
    );
}

const hasReceiptRule = ({ receipts, anyOf = [], allOf = [] }: RuleSet): boolean =>
  receipts !== undefined || [...anyOf, ...allOf].some(hasReceiptRule);

/** The chain of receipts of a mirror, for a policy that requires one. */
const readReceipts = (cli: Cli, name: string, { kind }: { readonly kind: string }) =>
  kind !== 'export'
    ? undefined
    : withEvidence(cli, name, async (evidence) => {
        if (evidence.kind !== 'export') return undefined;
        const { verdict, head } = await verifyReceipts(evidence.source, { signal: cli.signal });
        return { verdict, ...defined({ finishedAtMs: head?.finishedAtMs }) };
      });

/** Refuses a past time, which would revive expired waivers and keys, unless the caller allows it. */
function checkPast(cli: Cli, { asOf, allowPast = false }: GateOptions): boolean {
  const isPast = asOf !== undefined && asOf < cli.now();
  if (!isPast || allowPast) return isPast;
  const message = `--as-of ${isoTime(asOf)} is a past time, at which expired waivers and keys would count`;
  throw new DrillproofError('usage.PAST_TIME', message);
}

const isExportId = (name: string): boolean => evidenceExportIdSchema.safeParse(name).success;

async function verifyInput(
  cli: Cli,
  name: string,
  options: GateOptions,
  settings: VerifySettings,
): Promise<EvidenceInput> {
  try {
    const remote = options.url !== undefined && isExportId(name);
    if (!remote && (await looksLikeJson(name)))
      return { name, ...(await readSummaryFacts(cli, name, options, settings)) };
    const report = remote
      ? await (await import('./remote.ts')).verifyRemote(cli, name, options, settings)
      : await verifyPath(cli, name, settings);
    const pinned = settings.expect?.manifestDigest !== undefined && report.kind === 'bundle';
    return {
      name,
      report,
      ...defined({ envelopes: settings.dsse?.map((envelope) => digestOf(envelope)) }),
      ...(pinned && { pinned: report.manifestDigest === settings.expect?.manifestDigest }),
    };
  } catch (error) {
    const { code, message, path } = describeFailure(error, cli.signal.aborted);
    if (cli.signal.aborted || /^(?:usage|internal|client)\./.test(code)) throw error;
    if (codeEntry(code).class === 'internal') throw error;
    const missing = code === 'io.NOT_FOUND' && options.url === undefined && isExportId(name);
    const words = missing ? `${message}; an export at a control plane needs --url and --project` : message;
    return { name, failure: { code, message: words, ...defined({ path }) } };
  }
}

const MAX_SUMMARY_BYTES = 1024 * 1024;

async function readSummaryFacts(cli: Cli, name: string, { dsse }: GateOptions, settings: VerifySettings) {
  const { asOfMs, trust, expect = {} } = settings;
  if (Object.keys(expect).length > 0 || dsse !== undefined)
    throw usageError(
      `${name} is a verification summary, which --expect-… and --dsse do not apply to`,
      'Pin the summary in the policy, under summary.accepted.',
    );
  const envelope = await readEvidenceInput(name, MAX_SUMMARY_BYTES, cli);
  return {
    summary: summaryFacts(envelope, { asOfMs, ...defined({ trust }) }),
    envelopes: [digestOf(envelope)],
  };
}
