import { InvalidArgumentError } from 'commander';
import { defined } from '../../bytes/arguments.ts';
import { ABSOLUTE_URI, signSummary, summarize } from '../../policy/vsa/vsa.ts';
import type { Decision } from '../../policy/decision.ts';
import { encodeDsse } from '../../trust/dsse.ts';
import { type Cli, printNote } from '../cli.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { readSigning, summarySigningOptions } from '../shared/input/signing.ts';
import { usageError } from '../shared/options/values.ts';
import { writeOutputFile } from '../shared/output/output-file.ts';
import { readVersion } from '../shared/output/product.ts';

function parseUri(value: string): string {
  if (ABSOLUTE_URI.test(value)) return value;
  throw new InvalidArgumentError('It must be a URI with a scheme, such as https://ci.example/gate.');
}

export const SUMMARY = [
  option('--vsa <file>', 'also write the decision as a signed summary (SLSA VSA)')
    .needs('--verifier-id')
    .needs('--vsa-key', '--vsa-signer'),
  ...[
    ...summarySigningOptions(),
    option('--verifier-id <uri>', 'id of this gate, which equals the issuer of its key', parseUri),
    option(
      '--resource-uri <uri>',
      'resource that the summary is about (default: derived from the digests of the inputs)',
      parseUri,
    ),
  ].map((each) => each.onlyWith('--vsa')),
];
type SummaryOptions = OptionsOf<typeof SUMMARY>;

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
  const { vsa: file, verifierId, resourceUri } = options;
  const signing = await readSigning(cli, {
    key: options.vsaKey,
    signer: options.vsaSigner,
    publicKey: options.vsaPublicKey,
    signerTimeout: options.vsaSignerTimeout,
    issuer: verifierId,
  });
  if (file === undefined || verifierId === undefined || signing === undefined) return undefined;
  return { file, signer: signing.signer, verifierId, ...defined({ resourceUri }) };
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
