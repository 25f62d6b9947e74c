import type { Command } from 'commander';
import { defined } from '../../bytes/index.ts';
import type { ChainResult } from '../../verify/index.ts';
import type { Cli } from '../cli.ts';
import { digest, examples, standardOptions } from '../shared/options/options.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { worstExit } from '../shared/output/exit-codes.ts';
import { writeProduct } from '../shared/output/product.ts';
import { formatReceipts, formatVerified } from './output.ts';
import { type ReceiptsOptions, verifyMirrorReceipts } from './run.ts';

const PLACE = 'mirror, folder of mirrors, s3://bucket/prefix, or one receipt';

export function defineReceiptsCommand(command: Command, cli: Cli): void {
  command.description('List and verify the receipts that mirrors leave: what was fetched, from where, when.');
  defineList(command.command('list').summary('show the receipts of mirrors, without a verdict'), cli);
  defineVerify(command.command('verify').summary('verify the chain of receipts of each mirror'), cli);
  examples(command, {
    'every run of a mirror': 'drillproof receipts list ./mirror',
    'find missing or changed receipts': 'drillproof receipts verify ./archive',
  });
}

function defineList(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Show the receipts of every mirror, oldest first. Nothing is verified.')
    .argument('<path>', PLACE)
    .action((path: string) => list(cli, path));
  examples(command, { 'of a mirror': 'drillproof receipts list ./mirror' });
}

const MORE = `
Each receipt names the previous one by its digest, so the chain shows when one
was changed, added, or removed from the middle. It does not show that the newest
were removed: --expect-head takes the digest of a receipt that must be there.
Receipts are a local log. They prove nothing about when evidence existed.

Exit codes: 0 every chain is valid, 1 one is not, 2 wrong call or configuration,
3 something could not be read, or a mirror has no receipts.`;

function defineVerify(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Verify the receipts of every mirror offline: each by itself, and their chain.')
    .argument('<path>', PLACE)
    .option('--expect-head <digest>', 'SHA-256 of a receipt that the chain must hold', digest)
    .action((path: string, options: ReceiptsOptions) => verify(cli, path, options));
  examples(command, {
    'an archive': 'drillproof receipts verify ./archive',
    'that nothing was removed since you looked':
      'drillproof receipts verify ./mirror --expect-head sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
    'a bucket': 'drillproof receipts verify s3://archive/exports/ --json',
    'a single receipt': 'drillproof receipts verify receipt.json',
  }).addHelpText('after', MORE);
}

const EXITS: Readonly<Record<ChainResult, ExitCode>> = {
  sound: EXIT.pass,
  broken: EXIT.bad,
  unread: EXIT.unchecked,
  none: EXIT.unchecked,
};

async function verify(cli: Cli, path: string, options: ReceiptsOptions): Promise<void> {
  const mirrors = await verifyMirrorReceipts(cli, path, options);
  await writeProduct(cli, { kind: 'receipts.verified', mirrors }, formatVerified(mirrors));
  cli.exitCode = worstExit(mirrors.map(({ report }) => EXITS[report.verdict]));
}

async function list(cli: Cli, path: string): Promise<void> {
  const mirrors = await verifyMirrorReceipts(cli, path, {});
  const items = mirrors.map(({ path: place, report: { evidenceExportId, head, receipts } }) => ({
    path: place,
    ...defined({ evidenceExportId, head }),
    receipts,
  }));
  await writeProduct(cli, { kind: 'receipts.listed', mirrors: items }, formatReceipts(mirrors));
  if (mirrors.every(({ report }) => report.receipts.length === 0)) cli.exitCode = EXIT.unchecked;
}
