import type { Command } from 'commander';
import { ABSOLUTE_URI, type Decision, signSummary, summarize } from '../../policy/index.ts';
import { dsseBytes, type Signer } from '../../trust/index.ts';
import { type Cli, say } from '../cli.ts';
import {
  readSummarySigning,
  summarySigningOptions,
  type SummarySigningOptions,
} from '../shared/options/signing.ts';
import { usageError } from '../shared/options/values.ts';
import { refuseExisting, writeOutputFile } from '../shared/output/output-file.ts';
import { ownVersion } from '../shared/output/version.ts';

/** What the command line says of a summary that is to be signed. */
export type SummaryOptions = SummarySigningOptions & {
  readonly vsa?: string;
  readonly verifierId?: string;
  readonly resourceUri?: string;
};

const WITH = 'with --vsa: ';

export const summaryOptions = (command: Command): Command =>
  summarySigningOptions(
    command.option('--vsa <file>', 'also write the decision as a signed summary (SLSA VSA)'),
    WITH,
  )
    .option('--verifier-id <uri>', `${WITH}who this gate is, as the issuer under which its key is trusted`)
    .option(
      '--resource-uri <uri>',
      `${WITH}what it may be used for (default: made of the digests of the inputs)`,
    );

/** Signs decisions as summaries into one file. */
export type SummaryWriter = { write(decision: Decision): Promise<void> };

type Setting = {
  readonly file: string;
  readonly signer: Signer;
  readonly verifierId: string;
  readonly resourceUri?: string;
};

/**
 * What writes the summary, its key read and its file free before anything is judged; `undefined` without --vsa.
 * @throws DrillproofError `usage.INVALID`, `io.EXISTS`, and what reading the key throws
 */
export async function openSummary(
  cli: Cli,
  options: SummaryOptions & { readonly asOf?: number; readonly force?: boolean },
): Promise<SummaryWriter | undefined> {
  const setting = await settingOf(cli, options);
  if (setting === undefined) return undefined;
  const { asOf, force = false } = options;
  if (asOf !== undefined && asOf > cli.now())
    throw usageError(
      'a summary cannot be as of a time to come',
      'Leave --as-of out, or name a time that has been.',
    );
  if (!force) await refuseExisting(setting.file);
  return { write: (decision) => writeSummary(cli, decision, setting, force) };
}

async function settingOf(cli: Cli, options: SummaryOptions): Promise<Setting | undefined> {
  const { vsa: file, verifierId, resourceUri, ...signing } = options;
  if (file === undefined) return refuseStray(options);
  if (verifierId === undefined)
    throw usageError('--vsa is given without --verifier-id', 'Say who verifies with --verifier-id URI.');
  refuseNoUri('--verifier-id', verifierId);
  if (resourceUri !== undefined) refuseNoUri('--resource-uri', resourceUri);
  if (signing.vsaKey === undefined && signing.vsaSigner === undefined)
    throw usageError('nothing says who signs the summary', 'Give --vsa-key FILE, or --vsa-signer COMMAND.');
  const made = await readSummarySigning(cli, signing, verifierId);
  if (made === undefined) return undefined;
  return { file, signer: made.signer, verifierId, ...(resourceUri !== undefined && { resourceUri }) };
}

const OPTIONS = [
  ['verifierId', '--verifier-id'],
  ['resourceUri', '--resource-uri'],
  ['vsaKey', '--vsa-key'],
  ['vsaSigner', '--vsa-signer'],
  ['vsaPublicKey', '--vsa-public-key'],
  ['vsaSignerTimeout', '--vsa-signer-timeout'],
] as const;

function refuseStray(options: SummaryOptions): undefined {
  const [, stray] = OPTIONS.find(([name]) => options[name] !== undefined) ?? [];
  if (stray === undefined) return undefined;
  throw usageError(`${stray} is given without --vsa`, 'Name the summary to write with --vsa FILE.');
}

function refuseNoUri(option: string, value: string): void {
  if (!ABSOLUTE_URI.test(value))
    throw usageError(`${option} is no URI with a scheme`, 'Give one such as https://ci.example/gate.');
}

async function writeSummary(
  cli: Cli,
  decision: Decision,
  { file, signer, ...names }: Setting,
  force: boolean,
): Promise<void> {
  const unread = decision.answer === 'no' && decision.inputs.some((one) => one.manifestDigest === undefined);
  const statement = unread ? undefined : summarize(decision, { ...names, version: await ownVersion() });
  if (statement === undefined) {
    const why = unread ? 'an input has no manifest that it could name' : 'the gate could not tell';
    await say(cli, `no summary was written to ${file}: ${why}`);
    return;
  }
  await writeOutputFile(file, [dsseBytes(await signSummary(statement, [signer]))], { force });
  await say(cli, `summary: ${file} says ${statement.predicate.verificationResult}`);
}
