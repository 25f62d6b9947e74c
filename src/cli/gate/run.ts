import { codeEntry } from '../../codes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { type Answer, evaluate, type Policy } from '../../policy/index.ts';
import { say, type Cli } from '../cli.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { exitOfCode } from '../shared/output/exit-codes.ts';
import { inputsOf } from './inputs.ts';
import type { GateOptions } from './options.ts';
import { outputsOf, writeDecision } from './output.ts';
import { openSummary } from './summary.ts';
import { openPolicy } from '../policy/file.ts';
import { findInside } from '../shared/options/trusting.ts';
import { describeRun } from '../shared/output/version.ts';
import { usageError } from '../shared/options/usage.ts';
import { pathsOf } from '../verify/list.ts';
import { verifyOptions } from '../verify/run.ts';

const EXIT_OF: Readonly<Record<Answer, ExitCode>> = {
  yes: EXIT.pass,
  no: EXIT.bad,
  could_not_tell: EXIT.unchecked,
};

/** Judges everything that was named under the policy, writes the decision, and sets the exit code to its answer. */
export async function gate(cli: Cli, named: readonly string[], options: GateOptions): Promise<void> {
  refuse(options);
  const outputs = await outputsOf(options);
  if (outputs.shown === 'json') cli.format = 'json';
  const summary = await openSummary(cli, options);
  const { format: _format, ...verifying } = options;
  const policy = await configured(() => openPolicy(cli, options.policy));
  const how = await configured(() => verifyOptions(cli, { ...verifying, depth: 'full' }));
  if (how.trust === undefined)
    await say(
      cli,
      'no trust store was given, so nothing can be verified: --trust FILE, or --key FILE,issuer=NAME',
    );
  // Until something is judged the answer is that nobody could tell.
  cli.exitCode = EXIT.unchecked;
  const nothing = named.length === 0 && options.list === undefined;
  const names = nothing ? [] : await pathsOf(cli, named, options);
  if (names.length === 0) await say(cli, 'no evidence was named, so there is nothing to check');
  await refuseOwnRules(names, policy, options);
  if (options.dsse !== undefined && names.length > 1)
    throw usageError('--dsse is about one part or export', 'Judge the others in a run of their own.');
  const inputs = await inputsOf(cli, names, options, how);
  const { asOfMs, trust } = how;
  const judgement = evaluate(inputs, policy, {
    asOfMs,
    ...(trust !== undefined && { trust: { fingerprint: trust.fingerprint, keys: trust.keys.length } }),
  });
  const exitCode = EXIT_OF[judgement.answer];
  const decision = { ...judgement, run: { ...(await describeRun(options)), exitCode, unmet: [] } };
  await writeDecision(cli, decision, outputs);
  await summary?.write(decision);
  cli.exitCode = exitCode;
}

/** A fault of the configuration is a wrong call, whatever its code says of evidence: nothing was judged by it. */
async function configured<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof DrillproofError) || exitOfCode(cause.code) !== EXIT.bad) throw cause;
    throw new DrillproofError('usage.INVALID', `${cause.code}: ${cause.message}`, {
      cause,
      ...(cause.path !== undefined && { path: cause.path }),
      details: { ...cause.details, hint: codeEntry(cause.code).action },
    });
  }
}

/** Whoever made the evidence must not have made the rules: neither policy nor keys may lie inside of it. */
async function refuseOwnRules(
  names: readonly string[],
  { sources }: Policy,
  { trust = [], key = [] }: GateOptions,
): Promise<void> {
  const rules = [...sources.map(({ path }) => path), ...trust, ...key.map(({ file }) => file)];
  const inside = await findInside(names, rules);
  if (inside !== undefined)
    throw usageError(
      `${inside.file} lies inside the evidence ${inside.evidence}`,
      'Keep policies and keys where those who make the evidence cannot change them.',
    );
}

function refuse({ depth, url, project, tokenFile, caFile, wait }: GateOptions): void {
  if (depth !== undefined && depth !== 'full')
    throw usageError(
      'a gate reads everything: digests alone prove neither who signed nor what the drill came to',
      'Leave --depth out.',
    );
  const remote = Object.entries({ project, 'token-file': tokenFile, 'ca-file': caFile, wait });
  const [given] = remote.find(([, value]) => value !== undefined) ?? [];
  if (url === undefined && given !== undefined)
    throw usageError(`--${given} is for a control plane`, 'Name it with --url URL.');
}
