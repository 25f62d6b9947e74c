import { basename } from 'node:path';
import { digestOf, digestStream } from '../../bytes/hash.ts';
import { readDigest } from '../../bytes/text/wording.ts';
import { DrillproofError } from '../../errors.ts';
import type { Decision } from '../../policy/decision.ts';
import type { Baseline } from '../../policy/facts.ts';
import { readSummary } from '../../policy/vsa/read.ts';
import { verifySummary } from '../../policy/vsa/verify.ts';
import { MAX_REPORT_BYTES } from '../../report/many/reports.ts';
import { openReport } from '../../report/signed/statement.ts';
import { IN_TOTO_PAYLOAD_TYPE } from '../../evidence/in-toto.ts';
import { parseDsse } from '../../trust/dsse.ts';
import type { Trust } from '../../trust/store.ts';
import type { Cli } from '../cli.ts';
import { readFileBytes, readInput, withFileName } from '../shared/input/input.ts';

/** The digest of what will be deployed: given as such, or that of a file. */
export async function readArtifact(cli: Cli, value: string): Promise<NonNullable<Decision['artifact']>> {
  const given = value.startsWith('sha256:') ? readDigest(value) : undefined;
  if (given !== undefined) return { name: 'artifact', digest: given };
  cli.inputs.add(value);
  const { digest } = await digestStream(readFileBytes(value, cli.signal));
  return { name: basename(value), digest };
}

/**
 * The runs of an earlier gate. A decision is trusted like the policy, because the caller names it; a summary must be
 * signed by a trusted key of its verifier.
 * @throws DrillproofError `policy.BASELINE_INVALID`
 */
export async function readBaseline(
  cli: Cli,
  file: string,
  options: { readonly asOfMs: number; readonly trust?: Trust },
): Promise<Baseline> {
  const bytes = await readInput(file, MAX_REPORT_BYTES, cli);
  return withFileName(file, () => {
    const runs = isSummary(bytes) ? readSummaryRuns(bytes, options) : readDecisionRuns(bytes);
    return { name: file, digest: digestOf(bytes), runs };
  });
}

const invalid = (reason: string): DrillproofError => new DrillproofError('policy.BASELINE_INVALID', reason);

function isSummary(bytes: Uint8Array): boolean {
  try {
    const envelope = parseDsse(bytes);
    return envelope.payloadType === IN_TOTO_PAYLOAD_TYPE && readSummary(envelope) !== undefined;
  } catch {
    return false; // reading it as a decision reports what it is not
  }
}

function readSummaryRuns(
  bytes: Uint8Array,
  options: { readonly asOfMs: number; readonly trust?: Trust },
): Baseline['runs'] {
  const { summary, keys, findings } = verifySummary(bytes, options);
  const error = findings.find(({ severity, code }) => severity === 'error' && code !== 'vsa.NOT_PASSED');
  if (error !== undefined) throw invalid(error.message);
  if (keys.length === 0) throw invalid('no trusted key of purpose summary signed it');
  if (summary?.runs === undefined) throw invalid('the summary does not state its runs');
  return summary.runs;
}

function readDecisionRuns(bytes: Uint8Array): Baseline['runs'] {
  const { report, signed } = readOrRefuse(bytes);
  if (signed !== undefined) throw invalid('it is a signed report, whose signature is not checked here');
  if (report.kind !== 'decision') throw invalid('it is neither a decision nor a summary');
  return report.runs;
}

function readOrRefuse(bytes: Uint8Array): ReturnType<typeof openReport> {
  try {
    return openReport(bytes);
  } catch (cause) {
    throw cause instanceof DrillproofError ? invalid(cause.message) : cause;
  }
}
