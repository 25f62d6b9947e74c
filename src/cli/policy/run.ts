import { readFile, stat } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { Command } from 'commander';
import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { closeAfter } from '../../bytes/async.ts';
import type { HttpAnswer } from '../../client/options.ts';
import { networkError } from '../../client/http/errors.ts';
import { openFile } from '../../node/evidence/file-access.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import { digestOf } from '../../bytes/hash.ts';
import { fromUtf8 } from '../../bytes/text/encoding.ts';
import { DrillproofError, TransportError } from '../../errors.ts';
import { buildSyntheticReport, compareDecision, parseCases, type PolicyCase } from '../../policy/cases.ts';
import { DEFAULT_POLICY, type Policy } from '../../policy/policy.ts';
import { evaluate } from '../../policy/evaluate.ts';
import type { EvidenceInput } from '../../policy/facts.ts';
import { MAX_POLICY_BYTES, readPolicy } from '../../policy/resolve.ts';
import { momentMs } from '../../policy/document/values.ts';
import type { ParameterValues } from '../../policy/document/parameters.ts';
import { skewMsOf } from '../../policy/rules/table.ts';
import { escapeText } from '../../report/printable.ts';
import { bundleReportSchema, exportReportSchema } from '../../verify/report.ts';
import type { Cli } from '../cli.ts';
import { withFileName, readInput } from '../shared/input/input.ts';
import {
  addCaFileOption,
  addExamples,
  addParameterOption,
  type PolicyOptions,
  addStandardOptions,
  addTrustOptions,
  type TrustOptions,
} from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT } from '../shared/output/exit.ts';
import { writeProduct } from '../shared/output/product.ts';
import { readVerifyOptions, verifyPath } from '../verify/run.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createFetch } from '../shared/input/remote.ts';

const PARENT = /\bpath["']?\s*:\s*["']?([^"'\n,}]+)/g;

/** Reads a policy with its parents (default: the default policy). */
export async function openPolicy(
  cli: Cli,
  path: string | undefined,
  { param: values = {}, ...server }: Omit<PolicyOptions, 'param'> & { readonly param?: ParameterValues },
): Promise<Policy> {
  if (path === undefined) {
    if (values !== 'sample' && Object.keys(values).length > 0)
      throw usageError('the default policy has no parameters', 'Name a policy with --policy FILE.');
    return DEFAULT_POLICY;
  }
  const openLocal = (file: string, bytes: Uint8Array): PolicyBytes => {
    // No output may replace the parents, even if the policy is refused.
    for (const [, parent = ''] of Buffer.from(bytes).toString().matchAll(PARENT))
      cli.inputs.add(resolveRelative(file, parent.trim()));
    return { path: file, bytes };
  };
  const openParent = async (place: string): Promise<PolicyBytes> =>
    isPolicyAddress(place)
      ? readPolicyAddress(cli, place, server)
      : openLocal(place, await readParentFile(cli, place));
  const file = isPolicyAddress(path)
    ? await readPinnedPolicy(cli, path, server)
    : openLocal(path, await readInput(path, MAX_POLICY_BYTES, cli));
  return readPolicy(file, (parent, from) => openParent(resolveRelative(from, parent)), values);
}

/** Reads a file that a policy names, and not its caller: a FIFO or device would wait, or never end. */
async function readParentFile(cli: Cli, path: string): Promise<Uint8Array> {
  cli.inputs.add(path);
  const file = await openFile(path);
  return closeAfter(file, async () => {
    if (file.size > MAX_POLICY_BYTES) throw usageError(`${path} has more than ${MAX_POLICY_BYTES} bytes`);
    return file.read(0, file.size);
  });
}

/** Paths in standard input are relative to the working directory. */
const resolveRelative = (from: string, path: string): string =>
  isPolicyAddress(from) ? resolveAddress(from, path) : from === '-' ? path : join(dirname(from), path);

const MORE = `
Each case in CASES has a name, evidence (paths relative to CASES of exports,
parts, or JSON reports of "drillproof verify"), inputs (such reports in the
file) or runs (invented: "refund failed 8d ago, signed by acme-ci"); optionally
dsse, expectManifest, params and asOf; the expected answer and, optionally, the
expected states of rules and codes. docs/gate/policy.md has examples.

Exit codes: 0 every case holds, 1 one does not, 2 wrong call, policy or cases,
3 a case could not be read, 130 interrupted.`;

type CaseReport = { readonly name: string; readonly holds: boolean; readonly differences: readonly string[] };

export function defineTest(command: Command, cli: Cli): void {
  addCaFileOption(addParameterOption(addTrustOptions(addStandardOptions(command))))
    .description('Apply a policy to cases, and list the differences from the expected answers.')
    .argument('<file>', 'policy in JSON or YAML')
    .argument('<cases>', 'inputs and expected answers, in JSON or YAML')
    .action(async (file: string, cases: string, options: TrustOptions & PolicyOptions) => {
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
      );
      cli.exitCode = failed === 0 ? EXIT.pass : EXIT.bad;
    });
  addExamples(command, {
    'run the cases': 'drillproof policy test policy.yaml cases.yaml --trust trust.json',
  }).addHelpText('after', MORE);
}

type Trial = {
  readonly file: string;
  readonly folder: string;
  readonly options: TrustOptions & PolicyOptions;
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
  const { dsse, expectManifest, runs } = expected;
  const verified = await readVerifyOptions(cli, {
    ...trust,
    depth: 'full',
    jobs: 1,
    ...defined({ asOf, expectManifest, dsse: dsse?.map((path) => join(folder, path)) }),
  });
  const settings = { ...verified, clockSkewMs: Math.min(...policy.layers.map(skewMsOf)) };
  const inputs: EvidenceInput[] = [...(expected.inputs ?? [])];
  for (const path of expected.evidence ?? []) {
    const place = join(folder, path);
    const report = (await findStoredReport(place)) ?? (await verifyPath(cli, place, settings));
    const pinned = expectManifest !== undefined && report.kind === 'bundle';
    inputs.push({ name: path, report, ...(pinned && { pinned: report.manifestDigest === expectManifest }) });
  }
  const asOfMs = asOf ?? findTime(inputs, settings.asOfMs);
  if (runs !== undefined)
    inputs.push({ name: 'runs', report: buildSyntheticReport(runs, expected.list ?? {}, asOfMs) });
  const decision = evaluate(inputs, policy, { asOfMs });
  const differences = compareDecision(expected, decision);
  return { name: expected.name, holds: differences.length === 0, differences };
}

/** Finds the time of the stored reports for a case without a time. */
function findTime(inputs: readonly EvidenceInput[], nowMs: number): number {
  const times = new Set(inputs.flatMap((input) => ('report' in input ? [input.report.asOfMs] : [])));
  const [only] = times;
  return times.size === 1 && only !== undefined ? only : nowMs;
}

const storedSchema = z.discriminatedUnion('kind', [exportReportSchema, bundleReportSchema]);

async function findStoredReport(path: string): Promise<z.infer<typeof storedSchema> | undefined> {
  const stats = await stat(path).catch(() => undefined); // opening it as evidence reports the error
  if (stats?.isFile() !== true || !path.endsWith('.json')) return undefined;
  const result = storedSchema.safeParse(parseJson(await readFile(path)));
  if (result.success) return result.data;
  throw new DrillproofError('policy.INVALID', `${path} is not a report on an export or bundle`, { path });
}

const formatTests = (reports: readonly CaseReport[], failed: number): string =>
  [
    ...reports.flatMap(({ name, holds, differences }) => [
      `${holds ? 'holds' : 'FAILS'}  ${escapeText(name)}`,
      ...differences.map((difference) => `       - ${escapeText(difference)}`),
    ]),
    '',
    `${reports.length - failed} of ${reports.length} cases hold`,
    '',
  ].join('\n');

type ServerOptions = Pick<PolicyOptions, 'caFile' | 'timeout'>;
type PolicyBytes = { readonly path: string; readonly bytes: Uint8Array };

// Any scheme, so that a mistyped address is refused as an address, and not printed as a path.
const REMOTE = /^(?:[a-z][a-z0-9+.-]+:\/|git:)/i;
const PINNED = /^([^]*)#(sha256:[0-9a-f]{64})$/;
const FETCH_TIMEOUT_MS = 30_000;

const isPolicyAddress = (place: string): boolean => REMOTE.test(place);

/** A place as messages and reports have it: without its query, which often contains a token. */
export const formatPlace = (place: string): string =>
  isPolicyAddress(place) && !isGit(place) ? place.replace(/\?[^#]*/, '') : place;

const isGit = (place: string): boolean => /^git:/i.test(place);

/** Reads `https://…#sha256:…` or `git:REVISION:PATH#sha256:…`; the digest is that of the file. */
async function readPinnedPolicy(cli: Cli, place: string, server: ServerOptions): Promise<PolicyBytes> {
  if (!isGit(place)) parseAddress(place);
  const [, address, expected] = PINNED.exec(place) ?? [];
  if (address === undefined || expected === undefined)
    throw new DrillproofError('policy.SOURCE_UNPINNED', `${formatPlace(place)} has no digest`);
  const file = await readPolicyAddress(cli, address, server);
  const actual = digestOf(file.bytes);
  if (actual === expected) return file;
  const message = `the SHA-256 of ${file.path} does not match: it is ${actual}`;
  throw new DrillproofError('policy.SOURCE_MISMATCH', message, { details: { expected, actual } });
}

async function readPolicyAddress(cli: Cli, address: string, server: ServerOptions): Promise<PolicyBytes> {
  const bytes = await (isGit(address) ? readFromGit(cli, address) : fetchPolicy(cli, address, server));
  return { path: formatPlace(address), bytes };
}

// The messages omit the address, which may contain a password.
function parseAddress(address: string): URL {
  if (!URL.canParse(address))
    throw usageError('the address of the policy is not a URL', 'Write it as https://HOST/PATH#sha256:….');
  const url = new URL(address);
  if (url.username === '' && url.password === '') return url;
  throw usageError(
    'the address of the policy contains a user or a password, which are never sent',
    'Remove them, and read the policy from a server that needs neither.',
  );
}

function resolveAddress(from: string, path: string): string {
  const [, revision, file] = /^git:([^:]*):([^]*)$/i.exec(from) ?? [];
  if (revision === undefined || file === undefined) return new URL(path, from).href;
  return `git:${revision}:${posix.join(posix.dirname(file), path)}`;
}

const createUnreadableError = (address: string, reason: string, cause?: unknown): DrillproofError =>
  new DrillproofError(
    'policy.SOURCE_UNREADABLE',
    `cannot read ${formatPlace(address)}: ${reason}`,
    defined({ cause }),
  );

async function readFromGit(cli: Cli, address: string): Promise<Uint8Array> {
  const [, revision = '', file = ''] = /^git:([^:]*):([^]*)$/i.exec(address) ?? [];
  // A revision that begins with "-" would be an option of git.
  if (!/^[A-Za-z0-9]/.test(revision) || file === '' || file.startsWith('../'))
    throw createUnreadableError(address, 'it is not git:REVISION:PATH');
  try {
    const options = { encoding: 'buffer', maxBuffer: MAX_POLICY_BYTES + 1, signal: cli.signal } as const;
    const { stdout } = await promisify(execFile)('git', ['cat-file', 'blob', `${revision}:${file}`], options);
    return stdout;
  } catch (cause) {
    cli.signal.throwIfAborted();
    throw createUnreadableError(address, describeCause(cause), cause);
  }
}

function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const { stderr } = cause as Error & { readonly stderr?: Uint8Array };
  const [line = ''] = stderr instanceof Uint8Array ? fromUtf8(stderr).split('\n') : [];
  return line === '' ? cause.message : line;
}

async function fetchPolicy(
  cli: Cli,
  address: string,
  { caFile, timeout: timeoutMs = FETCH_TIMEOUT_MS }: ServerOptions,
): Promise<Uint8Array> {
  const url = parseAddress(address);
  if (url.protocol !== 'https:') throw createUnreadableError(address, 'only https addresses are read');
  const send = await createFetch(cli, caFile);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([cli.signal, timeout]);
  try {
    return await readAnswer(
      address,
      await send(url, { method: 'GET', headers: {}, signal, redirect: 'manual' }),
    );
  } catch (cause) {
    cli.signal.throwIfAborted();
    if (cause instanceof DrillproofError && !(cause instanceof TransportError)) throw cause;
    // The same call may succeed later.
    const { code, message } = timeout.aborted
      ? { code: 'transport.TIMEOUT' as const, message: `no complete answer within ${timeoutMs / 1000} s` }
      : networkError(cause, 'headers');
    throw new TransportError(code, `cannot read ${formatPlace(address)}: ${message}`, { cause });
  }
}

async function readAnswer(address: string, { status, body }: HttpAnswer): Promise<Uint8Array> {
  if (status >= 500 || status === 429)
    throw new TransportError('transport.UNREACHABLE', `the server responded ${status}`);
  if (status !== 200 || body === null) throw createUnreadableError(address, `the server responded ${status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body.getReader();
  for (let read = await reader.read(); read.value !== undefined; read = await reader.read()) {
    bytes += read.value.length;
    if (bytes > MAX_POLICY_BYTES)
      throw createUnreadableError(address, `it has more than ${MAX_POLICY_BYTES} bytes`);
    chunks.push(read.value);
  }
  return Buffer.concat(chunks);
}
