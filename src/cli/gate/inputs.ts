import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeEntry } from '../../codes/index.ts';
import { evidenceExportIdSchema } from '../../contract/index.ts';
import { mirrorExport } from '../../mirror/index.ts';
import { mirrorDirectory } from '../../node/index.ts';
import { type EvidenceInput, summaryFacts } from '../../policy/index.ts';
import type { Cli } from '../cli.ts';
import { looksLikeJson } from '../dsse/subject.ts';
import { failureOf } from '../shared/output/failure.ts';
import type { GateOptions } from './options.ts';
import { readInput } from '../shared/input/input.ts';
import { toolName } from '../mirror/setting.ts';
import { openRemote } from '../shared/input/remote.ts';
import { usageError } from '../shared/options/usage.ts';
import { judgePath, verifyOptions } from '../verify/run.ts';

type How = Awaited<ReturnType<typeof verifyOptions>>;

const isExportId = (name: string): boolean => evidenceExportIdSchema.safeParse(name).success;

/**
 * What becomes of each thing that was named: its report, or why there is none. Only a wrong call and a fault of ours end
 * the work; whatever else goes wrong is a reason in the decision.
 */
export async function inputsOf(
  cli: Cli,
  names: readonly string[],
  options: GateOptions,
  how: How,
): Promise<readonly EvidenceInput[]> {
  const inputs: EvidenceInput[] = [];
  for (const name of names) {
    cli.signal.throwIfAborted();
    inputs.push(await inputOf(cli, name, options, how));
  }
  return inputs;
}

async function inputOf(cli: Cli, name: string, options: GateOptions, how: How): Promise<EvidenceInput> {
  try {
    const remote = options.url !== undefined && isExportId(name);
    if (!remote && (await looksLikeJson(name)))
      return { name, summary: await readSummaryFacts(cli, name, options, how) };
    const report = remote
      ? await fromControlPlane(cli, name, options, how)
      : await judgePath(cli, name, how, options);
    const pinned = how.expect?.manifestDigest !== undefined && report.kind === 'bundle';
    return {
      name,
      report,
      ...(pinned && { pinned: report.manifestDigest === how.expect?.manifestDigest }),
    };
  } catch (error) {
    const { code, message, path } = failureOf(error, cli.signal.aborted);
    if (cli.signal.aborted || /^(?:usage|internal|client)\./.test(code)) throw error;
    if (codeEntry(code).class === 'internal') throw error;
    const missing = code === 'io.NOT_FOUND' && options.url === undefined && isExportId(name);
    const words = missing ? `${message}; an export at a control plane needs --url and --project` : message;
    return { name, failure: { code, message: words, ...(path !== undefined && { path }) } };
  }
}

const MAX_SUMMARY_BYTES = 1024 * 1024;

/** No evidence is a JSON document, so what begins as one is a verification summary or nothing that is read here. */
async function readSummaryFacts(cli: Cli, name: string, { dsse }: GateOptions, how: How) {
  const { asOfMs, trust, expect = {} } = how;
  // What cannot be held against it must not be left out without a word.
  if (Object.keys(expect).length > 0 || dsse !== undefined)
    throw usageError(
      `${name} is a verification summary, which --expect-… and --dsse say nothing of`,
      'Pin the summary in the policy, under summary.accepted.',
    );
  const envelope = await readInput(name, MAX_SUMMARY_BYTES, cli);
  return summaryFacts(envelope, { asOfMs, ...(trust !== undefined && { trust }) });
}

/** Brings an export into a folder of its own, judges it there, and removes the folder whatever happens. */
async function fromControlPlane(cli: Cli, evidenceExportId: string, options: GateOptions, how: How) {
  const { url, project, wait } = options;
  if (url === undefined || project === undefined)
    throw usageError('--url needs a project', 'Name it with --project ID.');
  const client = await openRemote(cli, { ...options, url, project });
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-gate-'));
  try {
    const to = join(folder, evidenceExportId);
    await mirrorExport(
      { projectId: project, evidenceExportId },
      {
        client,
        to: mirrorDirectory(to),
        tool: await toolName(),
        signal: cli.signal,
        now: cli.now,
        ...(wait !== undefined && { waitMs: wait }),
        ...(how.expect?.manifestDigest !== undefined && { expectManifest: how.expect.manifestDigest }),
      },
    );
    return await judgePath(cli, to, how, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
