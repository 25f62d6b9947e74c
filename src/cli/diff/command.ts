import { DrillproofError, hasCode } from '../../errors.ts';
import { diffReports, renderDiff } from '../../report/diff.ts';
import { MAX_REPORT_BYTES, readReport } from '../../report/many/reports.ts';
import { stableJson } from '../../report/json.ts';
import { type Cli, describeLook } from '../cli.ts';
import { withFileName, readEvidenceInput } from '../shared/input/input.ts';
import type { CliCommand } from '../shared/options/command.ts';
import type { OptionsOf } from '../shared/options/option.ts';
import { STANDARD } from '../shared/options/options.ts';
import { openReportSigning, REPORT_SIGNING } from '../shared/input/signing.ts';
import { selectText } from '../shared/output/product.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT } from '../exit.ts';

const DIFF = [...STANDARD, ...REPORT_SIGNING];

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description(
      'Compare two JSON reports of verify, or two decisions of gate. Times and wording do not count.',
    )
    .argument('<before>', 'report in JSON; - for standard input')
    .argument('<after>', 'report in JSON; - for standard input')
    .perform(DIFF, (options, before: string, after: string) => diff(cli, before, after, options))
    .examples({
      'compare with yesterday': 'drillproof diff yesterday.json today.json',
      'compare with the evidence as it is now':
        'drillproof verify ./mirror --trust trust.json --json | drillproof diff accepted.json -',
    });
}

async function diff(cli: Cli, before: string, after: string, options: OptionsOf<typeof DIFF>): Promise<void> {
  if (before === '-' && after === '-')
    throw usageError('standard input is given twice', 'Name a file for one of the reports.');
  const sign = await openReportSigning(cli, options, { shown: cli.format, files: [] });
  const report = diffReports(await read(cli, before), await read(cli, after));
  const json = cli.format === 'json' ? stableJson(report) : undefined;
  const signed = json === undefined ? undefined : await sign?.(json);
  await cli.stdout.write(
    signed ?? json ?? selectText(cli, renderDiff(report, describeLook(cli, cli.stdout))),
  );
  cli.exitCode = report.equal ? EXIT.pass : EXIT.bad;
}

async function read(cli: Cli, file: string) {
  const bytes = await readEvidenceInput(file, MAX_REPORT_BYTES, cli).catch((cause: unknown) => {
    if (!hasCode(cause, 'json.TOO_LARGE')) throw cause;
    throw new DrillproofError('report.UNREADABLE', cause.message, { cause });
  });
  return withFileName(file, () => readReport(bytes));
}
