import { defined, type Digest } from '../../bytes/index.ts';
import { codeEntry } from '../../codes/index.ts';
import {
  type ChainOptions,
  type HistoryEntry,
  MAX_SIGNED_BYTES,
  type Named,
  openReport,
  orderSignedReports,
  type OpenedReport,
  renderChainPage,
  renderHistoryPage,
  type ReportChain,
  type ReportFormat,
  stableJson,
  verifyReportChain,
} from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { namingFile, readInput } from '../shared/input/input.ts';
import { readTrust } from '../shared/input/trust.ts';
import type { FormatTarget } from '../shared/options/values.ts';
import { EXIT } from '../shared/output/exit.ts';
import { facts, table } from '../shared/output/product.ts';
import { checkOutputFile, writeBytes } from '../shared/output/output-file.ts';
import { type FormatOptions, planOutputs, writeRenderings } from '../shared/output/targets.ts';

type TrustedOptions = { readonly trust?: readonly string[]; readonly asOf?: number };
export type ChainCommandOptions = TrustedOptions &
  FormatOptions<ReportFormat> & { readonly after?: Digest; readonly expectLast?: Digest };
export type HistoryOptions = TrustedOptions & {
  readonly format: FormatTarget<'html'>;
  readonly force?: boolean;
};

const EXITS = { valid: EXIT.pass, invalid: EXIT.bad, not_judged: EXIT.unchecked } as const;

export async function verifyChain(
  cli: Cli,
  names: readonly string[],
  options: ChainCommandOptions,
): Promise<void> {
  const outputs = await planOutputs(cli, options);
  const { asOf = cli.now(), after, expectLast } = options;
  const trust = await readTrust(cli, options);
  const files = await readFiles(cli, names);
  const chain = verifyReportChain(files, { asOfMs: asOf, ...defined({ trust, after, expectLast }) });
  cli.exitCode = EXITS[chain.verdict];
  await writeRenderings(cli, outputs, {
    text: () => chainText(chain),
    json: () => stableJson(chain),
    html: () => renderChainPage(chain),
  });
}

async function readFiles(cli: Cli, names: readonly string[]): Promise<readonly Named<Uint8Array>[]> {
  const files: Named<Uint8Array>[] = [];
  for (const name of names) files.push({ name, report: await readInput(name, MAX_SIGNED_BYTES, cli) });
  return files;
}

const WORDS = { valid: 'VALID', invalid: 'INVALID', not_judged: 'NOT JUDGED' } as const;

function chainText({ verdict, reports, findings }: ReportChain): string {
  const rows = reports.map(({ name, sequence, issuer, report, digest }) => [
    sequence === undefined ? '' : String(sequence),
    name,
    issuer ?? '',
    report === undefined ? 'not read' : `${report.kind} ${report.result}`,
    digest ?? '',
  ]);
  const problems = findings.map(({ code, subject, message, expected, actual }) =>
    facts([
      [code, `${subject}: ${message}`],
      ['expected', expected],
      ['actual', actual],
      ['to do', codeEntry(code).action],
    ]),
  );
  const head = `${WORDS[verdict]} chain of ${reports.length} signed ${reports.length === 1 ? 'report' : 'reports'}\n`;
  return [head, table(['#', 'REPORT', 'SIGNED BY', 'RESULT', 'DIGEST'], rows), ...problems].join('');
}

/** Shows many reports over time as a page. The exit code is that of the chain, if any report is signed. */
export async function showHistory(
  cli: Cli,
  names: readonly string[],
  options: HistoryOptions,
): Promise<void> {
  const { format, force = false, asOf = cli.now() } = options;
  const { file = '-' } = format;
  if (file !== '-') await checkOutputFile(cli, file, force);
  const trust = await readTrust(cli, options);
  const opened = (await readFiles(cli, names)).map(openFile);
  const chain = chainAmong(opened, { asOfMs: asOf, ...defined({ trust }) });
  const entries = opened.map(({ name, report, signed }): HistoryEntry =>
    defined({ name, report, issuedAtMs: signed?.issuedAtMs }),
  );
  const { drawChart } = await import('./charts.ts');
  const page = renderHistoryPage(entries, { asOfMs: asOf, draw: drawChart, ...defined({ trust, chain }) });
  cli.exitCode = chain === undefined ? EXIT.pass : EXITS[chain.verdict];
  await writeBytes(cli, file, [Buffer.from(page)], { force });
}

type Opened = OpenedReport & { readonly name: string; readonly bytes: Uint8Array };

const openFile = ({ name, report: bytes }: Named<Uint8Array>): Opened => ({
  name,
  bytes,
  ...namingFile(name, () => openReport(bytes)),
});

/** The chain of the signed reports among others, in the order of their numbers. */
function chainAmong(opened: readonly Opened[], options: ChainOptions): ReportChain | undefined {
  const files = opened.flatMap(({ name, bytes, signed }) =>
    signed === undefined ? [] : [{ name, report: bytes }],
  );
  return files.length === 0 ? undefined : verifyReportChain(orderSignedReports(files), options);
}
