import { defined } from '../../bytes/arguments.ts';
import { createSummary, listContradictions, type SummaryCollector } from '../../report/many/summary.ts';
import { type Detail, renderers, renderLine, type ReportFormat } from '../../report/text/text.ts';
import { foldLines } from '../../report/text/page.ts';
import { escapeText } from '../../report/printable.ts';
import { renderSummary } from '../../report/many/text.ts';
import { streamJson } from '../../report/json.ts';
import { BEGIN_REPORTS_JSON, endReportsJson, streamReportsItem } from '../../report/many/json.ts';
import type { TrustStore } from '../../trust/store.ts';
import type { BundleReport, ExportReport, Run } from '../../verify/report.ts';
import { type Cli, describeLook } from '../cli.ts';
import type { SignText } from '../shared/input/signing.ts';
import { EXIT, type ExitCode, worstExit } from '../exit.ts';
import { type Failure, buildFailureJson, formatFailureText } from '../shared/output/failure.ts';
import { openOutputFile } from '../shared/output/output-file.ts';
import { type Outputs, reportUnwritten } from '../shared/output/targets.ts';

export type PathOutcome = { readonly path: string; readonly exit: ExitCode } & (
  | { readonly report: ExportReport | BundleReport }
  | { readonly failure: Failure }
);

type Look = {
  readonly color: boolean;
  readonly width: number;
  readonly detail: Detail;
  readonly trust?: TrustStore;
};

/** Renders results one by one, so that none stays in memory. */
type Rendering = {
  readonly begin: string;
  result(result: PathOutcome, index: number, look: Look): string | Iterable<string>;
  end(summary: SummaryCollector, look: Look, run: Run): string;
};

const hasPassed = ({ exit }: PathOutcome): boolean => exit === EXIT.pass;
const formatResult = (result: PathOutcome, look: Look): string =>
  'report' in result
    ? renderers.text(result.report, look)
    : foldLines(formatFailureText(result.failure), look.width);
const buildResultJson = (result: PathOutcome): unknown =>
  'report' in result ? result.report : buildFailureJson(result.failure);

type PlainRenderings = Readonly<Record<Exclude<ReportFormat, 'html'>, Rendering>>;

const ONE: PlainRenderings = {
  text: { begin: '', result: (result, _index, look) => formatResult(result, look), end: () => '' },
  json: { begin: '', result: (result) => streamJson(buildResultJson(result)), end: () => '' },
};

const MANY: PlainRenderings = {
  text: {
    begin: '',
    result: (result, _index, look) => {
      if (look.detail === 'verdict') return '';
      if (hasPassed(result) && 'report' in result) return `${renderLine(result.report, result.path, look)}\n`;
      return `\n${foldLines(`# ${escapeText(result.path)}`, look.width)}\n${formatResult(result, look)}\n`;
    },
    end: renderSummary,
  },
  json: {
    begin: BEGIN_REPORTS_JSON,
    result: (result, index) =>
      streamReportsItem(
        { path: result.path, passed: hasPassed(result), result: buildResultJson(result) },
        index,
      ),
    end: ({ summary }, _look, run) => endReportsJson(summary(), run),
  },
};

async function loadRendering(format: ReportFormat, many: boolean): Promise<Rendering> {
  if (format !== 'html') return (many ? MANY : ONE)[format];
  const [{ BEGIN_REPORTS, endReports, renderReportsRow }, { renderReportPage }] = await Promise.all([
    import('../../report/html/pages/many.ts'),
    import('../../report/html/report.ts'),
  ]);
  if (many)
    return {
      begin: BEGIN_REPORTS,
      result: renderReportsRow,
      end: ({ summary }) => endReports(summary()),
    };
  return {
    begin: '',
    result: (result, _index, { trust }) =>
      'report' in result
        ? renderReportPage(result.report, defined({ trust }))
        : BEGIN_REPORTS + renderReportsRow(result) + endReports(undefined),
    end: () => '',
  };
}

type ResultWriter = {
  add(result: PathOutcome): Promise<void>;
  /** Completes every rendering, renames the files, and sets the exit code to the worst result. */
  end(): Promise<void>;
  abort(reason: unknown): Promise<void>;
};

type WriteOptions = {
  readonly many: boolean;
  readonly run: Pick<Run, 'tool' | 'options'>;
  readonly verbose?: boolean;
  readonly trust?: TrustStore;
  readonly sign?: SignText;
};

/** Writes every rendering with each result. Files are written first, so that a broken pipe loses none. */
export async function writeResults(
  cli: Cli,
  outputs: Omit<Outputs<ReportFormat>, 'paths'>,
  { many, run, verbose = false, trust, sign }: WriteOptions,
): Promise<ResultWriter> {
  const shown = await loadRendering(outputs.shown, many);
  const renderings = await Promise.all(outputs.files.map(({ format }) => loadRendering(format, many)));
  const files = outputs.files.map(({ format, file }, at) => ({
    rendering: renderings[at]!,
    ...signOnEnd(openOutputFile(cli, file, outputs), format, sign),
  }));
  const plainStdout: Stream = { write: cli.stdout.write, close: () => Promise.resolve(undefined) };
  const stdout = signOnEnd(plainStdout, outputs.shown, sign);
  const detail: Detail = verbose ? 'full' : 'brief';
  const plain: Look = { color: false, width: Infinity, detail, ...defined({ trust }) };
  const look: Look = {
    ...describeLook(cli, cli.stdout),
    detail: cli.quiet ? 'verdict' : detail,
    ...defined({ trust }),
  };
  const abort = async (reason: unknown): Promise<void> => {
    await Promise.all(files.map((file) => file.abort(reason)));
  };
  const all = async (
    render: (rendering: Rendering, look: Look) => string | Iterable<string>,
  ): Promise<void> => {
    for (const { rendering, write } of files) await writePieces(write, render(rendering, plain));
    await writePieces(stdout.write, render(shown, look));
  };
  const summary = createSummary();
  const exits = new Set<ExitCode>();
  let index = 0;
  for (const { rendering, write } of files) await write(rendering.begin);
  let begun = false;
  return {
    abort,
    async add(result) {
      // Standard output begins with the first result, because an earlier error is a separate document.
      if (!begun && shown.begin !== '') await stdout.write(shown.begin);
      begun = true;
      exits.add(result.exit);
      summary.add({ ...result, passed: hasPassed(result) });
      await all((rendering, style) => rendering.result(result, index, style));
      index++;
    },
    async end() {
      const unmet = listContradictions(summary.summary());
      if (unmet.length > 0) exits.add(EXIT.bad);
      const exitCode = worstExit([...exits]);
      const ending = { ...run, exitCode, unmet };
      const unwritten: unknown[] = [];
      for (const { rendering, write, close } of files) {
        await write(rendering.end(summary, plain, ending));
        unwritten.push(...[await close()].filter((failure) => failure !== undefined));
      }
      const begin = begun ? '' : shown.begin;
      const text = begin + shown.end(summary, look, ending);
      if (text !== '') await stdout.write(text);
      await stdout.close();
      cli.exitCode = exitCode;
      await reportUnwritten(cli, unwritten);
    },
  };
}

type Stream = {
  readonly write: (text: string) => Promise<void>;
  readonly close: () => Promise<unknown>;
};

async function writePieces(write: Stream['write'], pieces: string | Iterable<string>): Promise<void> {
  for (const text of typeof pieces === 'string' ? [pieces] : pieces) if (text !== '') await write(text);
}

/** Collects a JSON report, and writes it as a signed envelope at its end. */
function signOnEnd<S extends Stream>(stream: S, format: ReportFormat, sign: SignText | undefined): S {
  if (format !== 'json' || sign === undefined) return stream;
  const texts: string[] = [];
  return {
    ...stream,
    write: (text: string) => Promise.resolve(void texts.push(text)),
    async close() {
      await stream.write(await sign(texts.join('')));
      return stream.close();
    },
  };
}
