import type { Command } from 'commander';
import { defined, type JsonValue } from '../../../bytes/index.ts';
import {
  MAX_SIGNED_BYTES,
  parseSignedEnvelope,
  REPORT_FORMATS,
  readSignedReport,
  type SignedReport,
  signReport,
} from '../../../report/index.ts';
import { dsseBytes } from '../../../trust/index.ts';
import type { Cli } from '../../cli.ts';
import { withFileName, readInput } from '../input/input.ts';
import type { Outputs } from '../output/targets.ts';
import { many, standardOptions } from './options.ts';
import { readReportSigning, type SignerOptions, signerOptions } from './signing.ts';
import { targetIn, usageError } from './values.ts';

export type ReportSigningOptions = SignerOptions & {
  readonly sign?: string;
  readonly issuer?: string;
  readonly previous?: string;
};

export const reportSigningOptions = (command: Command): Command =>
  signerOptions(
    command.option('--sign <file>', 'sign the JSON report with this private key, P-256 as PEM or JWK'),
    'for the JSON report: ',
  )
    .option('--issuer <name>', 'for the JSON report: sign under this name')
    .option('--previous <file>', 'for the JSON report: name this signed report as the one before it');

/** `standardOptions` of commands that write a report: its formats, and where each goes. */
export const reportFormatOptions = (command: Command): Command =>
  standardOptions(command, { formats: false })
    .option(
      '--format <kind[=file]>',
      'write text, json or html, to standard output or a file (repeatable)',
      many(targetIn(REPORT_FORMATS)),
    )
    .option('--force', 'replace existing report files');

export type SignText = (json: string) => Promise<string>;

/**
 * What signs the JSON report; `undefined` without --sign and --signer. Key and previous report are read before any
 * work.
 */
export async function openReportSigning(
  cli: Cli,
  options: ReportSigningOptions,
  { shown, files }: Pick<Outputs<string>, 'shown' | 'files'>,
): Promise<SignText | undefined> {
  const { previous: file, sign: key, signer, issuer } = options;
  if (issuer !== undefined && key === undefined && signer === undefined)
    throw usageError(
      '--issuer needs --sign',
      'Pass the key that signs the report with --sign FILE. For a key that you trust, pass --key FILE,issuer=NAME.',
    );
  const signing = await readReportSigning(cli, options);
  if (signing === undefined && file !== undefined)
    throw usageError(
      '--previous needs --sign',
      'Pass the key with --sign FILE, or a command with --signer COMMAND.',
    );
  if (signing === undefined) return undefined;
  if (shown !== 'json' && !files.some(({ format }) => format === 'json'))
    throw usageError('only a JSON report is signed', 'Pass --json, or --format json=FILE.');
  const previous = file === undefined ? undefined : await readPrevious(cli, file);
  return async (json) => {
    const report = JSON.parse(json) as JsonValue;
    const issuedAtMs = cli.now();
    const envelope = await signReport(report, { ...signing, issuedAtMs, ...defined({ previous }) });
    return `${Buffer.from(dsseBytes(envelope)).toString()}\n`;
  };
}

async function readPrevious(cli: Cli, file: string): Promise<SignedReport> {
  const bytes = await readInput(file, MAX_SIGNED_BYTES, cli);
  return withFileName(file, () => readSignedReport(parseSignedEnvelope(bytes)));
}
