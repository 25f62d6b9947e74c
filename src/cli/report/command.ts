import type { Cli } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { CHAIN, HISTORY, showHistory, verifyChain } from './run.ts';

const CHAIN_MORE = `
The trust store needs the signing keys with the purpose "report". Pass the
reports from oldest to newest. Newer reports could be missing at the end,
unless you pass --expect-last.`;

const HISTORY_MORE = `
Reports of verify, gate, scrub and diff in JSON, signed or not, in any order.`;

export function defineCommand(report: CliCommand, cli: Cli): void {
  report.description('Show many JSON reports of other commands over time, and verify signed ones.');
  report
    .command('show', { isDefault: true })
    .description(
      'Show many reports over time as a page (default): verdicts, bytes, and keys with their expiry.',
    )
    .argument('<file...>', 'reports in JSON, signed or not')
    .perform(HISTORY, (options, files: readonly string[]) => showHistory(cli, files, options))
    .examples({
      'a year of reports': 'drillproof report show reports/*.json --format html=year.html --trust trust.json',
    })
    .addHelpText('after', HISTORY_MORE);
  report
    .command('verify')
    .description('Verify signed reports offline: each signature, their order, gaps, and replaced reports.')
    .argument('<file...>', 'envelopes, oldest first')
    .perform(CHAIN, (options, files: readonly string[]) => verifyChain(cli, files, options))
    .examples({
      'a chain that an auditor handed over':
        'drillproof report verify 2026-*.dsse.json --trust auditors.json --format html=chain.html',
    })
    .addHelpText('after', CHAIN_MORE);
}
