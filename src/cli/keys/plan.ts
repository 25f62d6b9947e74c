import type { OpenEvidence } from '../../node/evidence/open-evidence.ts';
import { readVerifyingKeys } from '../../node/keys/keys.ts';
import { verifyDirectory } from '../../node/verify-directory.ts';
import { MAX_KEY_SET_BYTES } from '../../trust/key/key-file.ts';
import { retireKey, trustStore, type TrustStore } from '../../trust/store.ts';
import type { TrustedKey } from '../../trust/trusted-key.ts';
import {
  findBundleStanding,
  findListStanding,
  type SignatureStanding,
  compareStandings,
} from '../../verify/signature/standing.ts';
import { verifyPartSignature, verifyExportSignatures } from '../../verify/signature/verify-signatures.ts';
import { verifyExport } from '../../verify/export/export.ts';
import { verifyPart } from '../../verify/part/part.ts';
import type { Cli } from '../cli.ts';
import { readInput, withEvidence, withFileName } from '../shared/input/input.ts';
import { requireTrust } from '../shared/input/trust.ts';
import { usageError } from '../shared/options/values.ts';
import { describeFailure } from '../shared/output/failure.ts';
import { writeProduct } from '../shared/output/product.ts';
import { withProgress } from '../shared/output/progress.ts';
import type { PlanOptions } from './command.ts';
import { exitOfPlan, formatPlan, type Plan, buildPlanProduct, type PlanResult } from './output.ts';
import { listAliases, findKey, isTrusted } from './trust-file.ts';

export async function plan(cli: Cli, paths: readonly string[], options: PlanOptions): Promise<void> {
  const before = await requireTrust(cli, options);
  const key = findKey(before, options.retire, options.issuer);
  const how = options.compromised === true ? 'compromised' : options.as;
  const atMs = options.at ?? cli.now();
  const asOfMs = Math.max(atMs, cli.now());
  const retired = retireKey(before, { issuer: key.issuer, keyId: key.keyId, how, atMs });
  const replacements = await readReplacements(cli, options.replaceWith, key, atMs);
  const added = replacements.filter((replacement) => !isTrusted(before, replacement));
  const after = trustStore([...retired.keys, ...added]);
  const { depth, jobs } = options;
  const results: PlanResult[] = [];
  for (const path of paths) results.push(await planPath(cli, path, { before, after, asOfMs, depth, jobs }));
  const aliases = listAliases(before, key);
  const result: Plan = { key, how, atMs, asOfMs, depth, before, after, replacements, aliases, results };
  cli.exitCode = exitOfPlan(result);
  await writeProduct(cli, buildPlanProduct(result), formatPlan(result));
}

/** Reads the keys that replace the retired key from that time on, for the same purposes. */
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
  return withFileName(path, () => readVerifyingKeys(bytes)).map((read) => {
    if (Buffer.compare(read.point, key.point) === 0)
      throw usageError(`${path} contains the key that is retired`, 'Name the public key that replaces it.');
    return { ...same, notBeforeMs: atMs, compromised: true, ...read };
  });
}

export type PlanSettings = {
  readonly before: TrustStore;
  readonly after: TrustStore;
  readonly asOfMs: number;
  readonly depth: PlanOptions['depth'];
  readonly jobs: number;
};

async function planPath(cli: Cli, path: string, settings: PlanSettings): Promise<PlanResult> {
  try {
    return await withEvidence(cli, path, async (evidence) => {
      const readStandings = settings.depth === 'full' ? verifyEverything : verifySignaturesOnly;
      const under = (trust: TrustStore) => readStandings(cli, { path, evidence, trust }, settings);
      const before = await under(settings.before);
      return { path, effects: compareStandings(before, await under(settings.after)) };
    });
  } catch (error) {
    if (cli.signal.aborted) throw error;
    return { path, failure: describeFailure(error, false) };
  }
}

type Subject = { readonly path: string; readonly evidence: OpenEvidence; readonly trust: TrustStore };
type ReadStandings = (
  cli: Cli,
  subject: Subject,
  settings: PlanSettings,
) => Promise<readonly SignatureStanding[]>;

const verifySignaturesOnly: ReadStandings = async (cli, { evidence, trust }, { asOfMs, jobs }) => {
  const options = { asOfMs, trust, signal: cli.signal };
  if (evidence.kind === 'part') return [await verifyPartSignature(evidence.access, options)];
  const { source } = evidence;
  return withProgress(cli, 'verified', 'parts', ({ update }) => {
    const onProgress = (done: number, of: number): void => update({ done, of, bytes: 0 });
    return verifyExportSignatures(source, { ...options, concurrency: jobs, onProgress });
  });
};

const verifyEverything: ReadStandings = async (cli, { path, evidence, trust }, { asOfMs, jobs }) => {
  const options = { asOfMs, trust, signal: cli.signal };
  if (evidence.kind === 'part') return [findBundleStanding(await verifyPart(evidence.access, options))];
  const { source } = evidence;
  const report =
    source.kind === 'directory'
      ? await verifyDirectory(path, { ...options, jobs })
      : await verifyExport(source, { ...options, concurrency: jobs });
  return [findListStanding(report), ...report.parts.map(findBundleStanding)];
};
