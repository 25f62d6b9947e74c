import { type Command, Option } from 'commander';
import type { Cli } from '../cli.ts';
import { examples, many, standardOptions, time } from '../shared/options/options.ts';
import { signingOptions, type SigningOptions } from '../shared/options/signing.ts';
import { type ReportSpec, reportSpec } from './local-report.ts';

export function defineExportCommand(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Put parts and local reports into an export: a folder or one ZIP.')
    .argument('<part...>', 'part archives, as "drillproof pack" writes them')
    .requiredOption('--out <path>', 'write this folder, or this file if the name ends in .zip')
    .option(
      '--report <spec>',
      'add a local report: FILE[,meta=META.json][,project=ID] (repeatable)',
      many(reportSpec),
    )
    .addOption(
      new Option('--scope <scope>', 'scope of the export')
        .choices(['organization', 'project'])
        .default('organization'),
    )
    .option('--from <time>', 'start of the window (default: first creation)', time)
    .option('--through <time>', 'end of the window, exclusive (default: after the last creation)', time)
    .option('--id <id>', 'id of the export (default: a new id)')
    .option('--requested-by <name>', 'who asked for the export', 'drillproof export');
  signingOptions(command, 'the list of bundles')
    .option('--force', 'replace an existing ZIP')
    .action(async (parts: string[], options: ExportOptions) =>
      (await import('./run.ts')).exportParts(cli, parts, options),
    );
  examples(command, {
    'a folder': 'drillproof export part-1.zip part-2.zip --out ./export --key key.pem --issuer acme-ci',
    'one file, with a local report': 'drillproof export part-1.zip --report local.zip --out export.zip',
    'of one project and one month':
      'drillproof export part-1.zip --scope project --from 2026-11-01 --through 2026-12-01 --out ./export',
  }).addHelpText('after', MORE);
}

export type ExportOptions = SigningOptions & {
  readonly out: string;
  readonly report?: readonly ReportSpec[];
  readonly scope: 'organization' | 'project';
  readonly from?: number;
  readonly through?: number;
  readonly id?: string;
  readonly requestedBy: string;
  readonly force?: boolean;
};

const MORE = `
--out NAME.zip writes one file, any other name a folder. A local report is an
archive uploaded by a user. META.json has the claims of its uploader, in the
form that "drillproof admin ingest local-report" takes. Without it they are read
from the manifest.json of the report, if any, and the time is that of the file.

With --key or --signer the list of bundles is attested, so that a missing bundle
is detected.`;
