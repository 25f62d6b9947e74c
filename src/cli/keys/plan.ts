import { openEvidence, type OpenEvidence, readVerifyingKeys, verifyDirectory } from '../../node/index.ts';
import {
  MAX_KEY_SET_BYTES,
  retireKey,
  type TrustedKey,
  trustStore,
  type TrustStore,
} from '../../trust/index.ts';
import {
  bundleStanding,
  type ExportReport,
  verifyPartSignature,
  verifyExportSignatures,
  listStanding,
  type SignatureStanding,
  trustEffects,
  verifyExport,
  verifyPart,
} from '../../verify/index.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import { naming, readTrust } from '../shared/input/trust.ts';
import { usageError } from '../shared/options/values.ts';
import { failureOf } from '../shared/output/failure.ts';
import { writeProduct } from '../shared/output/product.ts';
import { createProgress } from '../shared/output/progress.ts';
import type { PlanOptions } from './command.ts';
import { exitOfPlan, type Plan, planJson, type PlanResult, planText } from './output.ts';
import { aliasesOf, findKey, isTrusted } from './trust-file.ts';

/** Judges everything under both trust stores, writes what differs, and sets the exit code. */
export async function plan(cli: Cli, paths: readonly string[], options: PlanOptions): Promise<void> {
  const before = await readTrust(cli, options);
  if (before === undefined)
    throw usageError('no trust store was given', 'Name it with --trust FILE, or single keys with --key.');
  const key = findKey(before, options.retire, options.issuer);
  const how = options.compromised === true ? 'compromised' : options.as;
  const atMs = options.at ?? cli.now();
  const asOfMs = Math.max(atMs, cli.now());
  const retired = retireKey(before, { issuer: key.issuer, keyId: key.keyId, how, atMs });
  const replacements = await readReplacements(cli, options.replaceWith, key, atMs);
  const added = replacements.filter((one) => !isTrusted(before, one));
  const after = trustStore([...retired.keys, ...added]);
  const { depth, jobs } = options;
  const results: PlanResult[] = [];
  for (const path of paths) results.push(await planned(cli, path, { before, after, asOfMs, depth, jobs }));
  const aliases = aliasesOf(before, key);
  const whole: Plan = { key, how, atMs, asOfMs, depth, before, after, replacements, aliases, results };
  cli.exitCode = exitOfPlan(whole);
  await writeProduct(cli, planJson(whole), planText(whole));
}

/** The keys that would be trusted for what the retired one is trusted for, from the moment on. */
async function readReplacements(
  cli: Cli,
  path: string | undefined,
  key: TrustedKey,
  atMs: number,
): Promise<readonly TrustedKey[]> {
  if (path === undefined) return [];
  const bytes = await readInput(path, MAX_KEY_SET_BYTES, cli);
  const {
    notAfterMs: _end,
    notBeforeMs: _begin,
    revokedAtMs: _revoked,
    fromCertificate: _from,
    ...same
  } = key;
  return naming(path, () => readVerifyingKeys(bytes)).map((read) => {
    if (Buffer.compare(read.point, key.point) === 0)
      throw usageError(`${path} holds the key that is retired`, 'Name the public key that takes its place.');
    return { ...same, notBeforeMs: atMs, compromised: true, ...read };
  });
}

export type How = {
  readonly before: TrustStore;
  readonly after: TrustStore;
  readonly asOfMs: number;
  readonly depth: PlanOptions['depth'];
  readonly jobs: number;
};

/** A path that cannot be opened does not hide the others. */
async function planned(cli: Cli, path: string, how: How): Promise<PlanResult> {
  try {
    const evidence = await openEvidence(path, cli.env);
    try {
      const judge = how.depth === 'full' ? judgedFully : judgedBySignature;
      const before = await judge(cli, path, evidence, how.before, how);
      const after = await judge(cli, path, evidence, how.after, how);
      return { path, effects: trustEffects(before, after) };
    } finally {
      await evidence.close();
    }
  } catch (error) {
    if (cli.signal.aborted) throw error;
    return { path, failure: failureOf(error, false) };
  }
}

type Judge = (
  cli: Cli,
  path: string,
  evidence: OpenEvidence,
  trust: TrustStore,
  how: How,
) => Promise<readonly SignatureStanding[]>;

const judgedBySignature: Judge = async (cli, _path, evidence, trust, { asOfMs, jobs }) => {
  const options = { asOfMs, trust, signal: cli.signal };
  if (evidence.kind === 'part') return [await verifyPartSignature(evidence.access, options)];
  const progress = createProgress(cli, 'judged', 'parts');
  try {
    const onProgress = (done: number, of: number): void => progress.update({ done, of, bytes: 0 });
    return await verifyExportSignatures(evidence.source, { ...options, concurrency: jobs, onProgress });
  } finally {
    progress.end();
  }
};

const judgedFully: Judge = async (cli, path, evidence, trust, { asOfMs, jobs }) => {
  const options = { asOfMs, trust, signal: cli.signal };
  if (evidence.kind === 'part') return [bundleStanding(await verifyPart(evidence.access, options))];
  const { source } = evidence;
  const report =
    source.kind === 'directory'
      ? await verifyDirectory(path, { ...options, jobs })
      : await verifyExport(source, { ...options, concurrency: jobs });
  return standingsOf(report);
};

const standingsOf = (report: ExportReport): readonly SignatureStanding[] => [
  listStanding(report),
  ...report.parts.map(bundleStanding),
];
