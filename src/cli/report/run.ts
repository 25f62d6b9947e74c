import { countNoun } from '../../bytes/text/wording.ts';
import { defined } from '../../bytes/arguments.ts';
import { stableJson } from '../../report/json.ts';
import {
  type ChainOptions,
  type ReportFile,
  orderSignedReports,
  type ReportChain,
  verifyReportChain,
} from '../../report/signed/chain.ts';
import { type HistoryEntry, renderChainPage, renderHistoryPage } from '../../report/html/pages/history.ts';
import { MAX_SIGNED_BYTES, openReport, type OpenedReport } from '../../report/signed/statement.ts';
import type { Cli } from '../cli.ts';
import { loadCharts } from './charts.ts';
import { readEvidenceInput, withFileName } from '../shared/input/input.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { AS_OF, FORCE, parseDigest, TRUST_STORE } from '../shared/options/options.ts';
import { REPORT_OUTPUT } from '../shared/input/signing.ts';
import { parseTarget } from '../shared/options/values.ts';
import { EXIT, EXIT_OF_SIGNED } from '../exit.ts';
import { formatFinding } from '../shared/output/finding.ts';
import { formatTable, writeWritten } from '../shared/output/product.ts';
import { readTimestamps } from '../shared/input/timestamps.ts';
import { readTrust } from '../shared/input/trust.ts';
import { checkOutputFile, writeBytes } from '../shared/output/output-file.ts';
import { planOutputs, writeRenderings } from '../shared/output/targets.ts';

export const CHAIN = [
  ...REPORT_OUTPUT,
  TRUST_STORE,
  option('--after <digest>', 'accept that the first report follows this one', parseDigest),
  option('--expect-last <digest>', 'require that the chain ends with this report', parseDigest),
  AS_OF,
];

export const HISTORY = [
  option(
    '--format <kind[=file]>',
    'html: write a page, to standard output or a file',
    parseTarget(['html']),
  ).required(),
  option('--trust <file>', 'show the validity of these keys, and verify signed reports with them').repeat(),
  AS_OF,
  FORCE,
  option('--json', 'print errors as JSON'),
  option('-q, --quiet', 'print one line'),
];

export async function verifyChain(
  cli: Cli,
  names: readonly string[],
  options: OptionsOf<typeof CHAIN>,
): Promise<void> {
  const outputs = await planOutputs(cli, options);
  const { asOf = cli.now(), after, expectLast } = options;
  const trust = await readTrust(cli, options);
  const files = await readFiles(cli, names);
  const timestamps = await readTimestamps(cli, { about: names }, { asOfMs: asOf, trust });
  const chain = verifyReportChain(files, {
    asOfMs: asOf,
    timestamps,
    ...defined({ trust, after, expectLast }),
  });
  cli.exitCode = EXIT_OF_SIGNED[chain.verdict];
  await writeRenderings(cli, outputs, {
    text: () => formatChain(chain),
    json: () => stableJson(chain),
    html: () => renderChainPage(chain),
  });
}

async function readFiles(cli: Cli, names: readonly string[]): Promise<readonly ReportFile[]> {
  const files: ReportFile[] = [];
  for (const name of names)
    files.push({ name, report: await readEvidenceInput(name, MAX_SIGNED_BYTES, cli) });
  return files;
}

const WORDS = { valid: 'VALID', invalid: 'INVALID', not_checked: 'NOT CHECKED' } as const;

function formatChain({ verdict, reports, findings }: ReportChain): string {
  const rows = reports.map(({ name, sequence, issuer, report, digest }) => [
    sequence === undefined ? '' : String(sequence),
    name,
    issuer ?? '',
    report === undefined ? 'not read' : `${report.kind} ${report.result}`,
    digest ?? '',
  ]);
  const head = `${WORDS[verdict]} chain of ${reports.length} signed ${reports.length === 1 ? 'report' : 'reports'}\n`;
  return [
    head,
    formatTable(['#', 'REPORT', 'SIGNED BY', 'RESULT', 'DIGEST'], rows),
    ...findings.map(formatFinding),
  ].join('');
}

/** Writes a page about many reports. If reports are signed, their chain decides the exit code. */
export async function showHistory(
  cli: Cli,
  names: readonly string[],
  options: OptionsOf<typeof HISTORY>,
): Promise<void> {
  const { format, force = false, asOf = cli.now() } = options;
  const { file = '-' } = format;
  if (file !== '-') await checkOutputFile(cli, file, force);
  const trust = await readTrust(cli, options);
  const reports = (await readFiles(cli, names)).map(openFile);
  const chain = findChain(reports, { asOfMs: asOf, ...defined({ trust }) });
  const entries = reports.map(({ name, report, signed }): HistoryEntry =>
    defined({ name, report, issuedAtMs: signed?.issuedAtMs }),
  );
  const draw = await loadCharts();
  const page = renderHistoryPage(entries, { asOfMs: asOf, draw, ...defined({ trust, chain }) });
  cli.exitCode = chain === undefined ? EXIT.pass : EXIT_OF_SIGNED[chain.verdict];
  await writeBytes(cli, file, [Buffer.from(page)], { force });
  if (file !== '-') await writeWritten(cli, file, `shows ${countNoun(names.length, 'report')}`);
}

type Opened = OpenedReport & { readonly name: string; readonly bytes: Uint8Array };

const openFile = ({ name, report: bytes }: ReportFile): Opened => ({
  name,
  bytes,
  ...withFileName(name, () => openReport(bytes)),
});

/** Verifies the signed reports as a chain, in the order of their numbers. */
function findChain(reports: readonly Opened[], options: ChainOptions): ReportChain | undefined {
  const files = reports.flatMap(({ name, bytes, signed }) =>
    signed === undefined ? [] : [{ name, report: bytes }],
  );
  return files.length === 0 ? undefined : verifyReportChain(orderSignedReports(files), options);
}
