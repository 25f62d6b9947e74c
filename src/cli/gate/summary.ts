import type { Command } from 'commander';
import { defined } from '../../bytes/arguments.ts';
import { ABSOLUTE_URI, signSummary, summarize } from '../../policy/vsa/vsa.ts';
import type { Decision } from '../../policy/decision.ts';
import { encodeDsse } from '../../trust/dsse.ts';
import { type Cli, printNote } from '../cli.ts';
import { findSetOption } from '../shared/options/options.ts';
import {
  readSummarySigning,
  addSummarySigningOptions,
  type SummarySigningOptions,
} from '../shared/options/signing.ts';
import { usageError } from '../shared/options/values.ts';
import { writeOutputFile } from '../shared/output/output-file.ts';
import { readVersion } from '../shared/output/product.ts';

export type SummaryOptions = SummarySigningOptions & {
  readonly vsa?: string;
  readonly verifierId?: string;
  readonly resourceUri?: string;
};

const WITH = 'with --vsa: ';

export const addSummaryOptions = (command: Command): Command =>
  addSummarySigningOptions(
    command.option('--vsa <file>', 'also write the decision as a signed summary (SLSA VSA)'),
    WITH,
  )
    .option('--verifier-id <uri>', `${WITH}id of this gate, which equals the issuer of its key`)
    .option(
      '--resource-uri <uri>',
      `${WITH}resource that the summary is about (default: derived from the digests of the inputs)`,
    );

export type SummaryWriter = { write(decision: Decision): Promise<void> };

type Setting = NonNullable<Awaited<ReturnType<typeof readSetting>>>;

/** Reads the key of the summary before the verification; `undefined` without --vsa. */
export async function openSummary(
  cli: Cli,
  options: SummaryOptions & { readonly asOf?: number; readonly force?: boolean },
): Promise<SummaryWriter | undefined> {
  const setting = await readSetting(cli, options);
  if (setting === undefined) return undefined;
  const { asOf, force = false } = options;
  if (asOf !== undefined && asOf > cli.now())
    throw usageError('a summary cannot be as of a future time', 'Omit --as-of, or pass a past time.');
  return { write: (decision) => writeSummary(cli, decision, setting, force) };
}

async function readSetting(cli: Cli, options: SummaryOptions) {
  const { vsa: file, verifierId, resourceUri, ...signing } = options;
  if (file === undefined) return refuseStray(options);
  if (verifierId === undefined)
    throw usageError('--vsa needs --verifier-id', 'Name the verifier with --verifier-id URI.');
  requireUri('--verifier-id', verifierId);
  if (resourceUri !== undefined) requireUri('--resource-uri', resourceUri);
  if (signing.vsaKey === undefined && signing.vsaSigner === undefined)
    throw usageError('no signer given for the summary', 'Pass --vsa-key FILE, or --vsa-signer COMMAND.');
  const signed = await readSummarySigning(cli, signing, verifierId);
  if (signed === undefined) return undefined;
  return { file, signer: signed.signer, verifierId, ...defined({ resourceUri }) };
}

function refuseStray(options: SummaryOptions): undefined {
  const stray = findSetOption(options, [
    'verifierId',
    'resourceUri',
    'vsaKey',
    'vsaSigner',
    'vsaPublicKey',
    'vsaSignerTimeout',
  ]);
  if (stray === undefined) return undefined;
  throw usageError(`${stray} needs --vsa`, 'Name the summary to write with --vsa FILE.');
}

function requireUri(option: string, value: string): void {
  if (!ABSOLUTE_URI.test(value))
    throw usageError(`${option} is not a URI with a scheme`, 'Pass one such as https://ci.example/gate.');
}

async function writeSummary(
  cli: Cli,
  decision: Decision,
  { file, signer, ...names }: Setting,
  force: boolean,
): Promise<void> {
  const unread =
    decision.answer === 'no' && decision.inputs.some((input) => input.manifestDigest === undefined);
  const statement = unread ? undefined : summarize(decision, { ...names, version: await readVersion() });
  if (statement === undefined) {
    const why = unread ? 'an input has no manifest that the summary could name' : 'the gate could not tell';
    await printNote(cli, `no summary was written to ${file}: ${why}`);
    return;
  }
  await writeOutputFile(cli, file, [encodeDsse(await signSummary(statement, [signer]))], { force });
  await printNote(cli, `summary: ${file} states ${statement.predicate.verificationResult}`);
}
