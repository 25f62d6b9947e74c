import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { parseDigest, addExamples, parseTime, collectTexts } from '../shared/options/options.ts';
import { addReportFormatOptions } from '../shared/options/signing.ts';
import { parseTarget } from '../shared/options/values.ts';
import { type ChainCommandOptions, type HistoryOptions, showHistory, verifyChain } from './run.ts';

const CHAIN_MORE = `
The trust store needs the signing keys with the purpose "report". Pass the
reports from oldest to newest. Newer reports could be missing at the end,
unless you pass --expect-last.

Exit codes: 0 trusted keys signed every report and each follows the one before
it, 1 something does not hold, 2 wrong call, 3 no trusted keys were given.`;

const HISTORY_MORE = `
Reports of verify, gate, scrub and diff in JSON, signed or not, in any order.
The page has plots, and needs no network and no script.

Exit codes: 0 the page was written, 1 a signed report or the chain does not
hold, 2 wrong call, 3 a report could not be read.`;

export function defineReportCommand(command: Command, cli: Cli): void {
  command.description('Show many JSON reports of other commands over time, and verify signed ones.');
  defineShow(
    command.command('show', { isDefault: true }).summary('show many reports over time as a page (default)'),
    cli,
  );
  defineVerify(command.command('verify').summary('verify a chain of signed reports'), cli);
  addExamples(command, {
    'a page about a year of reports':
      'drillproof report show reports/*.json --format html=year.html --trust trust.json',
    'check a chain of signed reports':
      'drillproof report verify 1.dsse.json 2.dsse.json --trust auditors.json',
  });
}

function defineShow(show: Command, cli: Cli): void {
  show
    .description('Show many reports over time as a page: verdicts, bytes, and keys with their expiry.')
    .argument('<file...>', 'reports in JSON, signed or not')
    .requiredOption(
      '--format <kind[=file]>',
      'html: write a page, to standard output or a file',
      parseTarget(['html']),
    )
    .option(
      '--trust <file>',
      'show the validity of these keys, and verify signed reports with them (repeatable)',
      collectTexts,
    )
    .option('--as-of <time>', 'verify signed reports as of this time (default: now)', parseTime)
    .option('--force', 'replace an existing page')
    .option('--json', 'print errors as JSON')
    .option('-q, --quiet', 'print errors only')
    .helpOption('-h, --help', 'show help')
    .action((files: string[], options: HistoryOptions) => showHistory(cli, files, options));
  addExamples(show, {
    'a year of reports': 'drillproof report show reports/*.json --format html=year.html --trust trust.json',
  }).addHelpText('after', HISTORY_MORE);
}

function defineVerify(verify: Command, cli: Cli): void {
  addReportFormatOptions(verify)
    .description('Verify signed reports offline: each signature, their order, gaps, and replaced reports.')
    .argument('<file...>', 'envelopes, oldest first')
    .option('--trust <file>', 'trust the keys of this trust store (repeatable)', collectTexts)
    .option('--after <digest>', 'accept that the first report follows this one', parseDigest)
    .option('--expect-last <digest>', 'require that the chain ends with this report', parseDigest)
    .option('--as-of <time>', 'verify as of this time (default: now)', parseTime)
    .action((files: string[], options: ChainCommandOptions) => verifyChain(cli, files, options));
  addExamples(verify, {
    'a chain that an auditor handed over':
      'drillproof report verify 2026-*.dsse.json --trust auditors.json --format html=chain.html',
  }).addHelpText('after', CHAIN_MORE);
}
