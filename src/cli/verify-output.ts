import { InvalidArgumentError } from 'commander';
import { printable, renderers, stableJson, type ReportFormat } from '../report/index.ts';
import type { Report } from '../verify/report.ts';
import { wantsColour, type Cli } from './cli.ts';
import { failureJsonObject, failureText, type Failure } from './failure.ts';
import { writeOutputFile } from './output-file.ts';
import { usageError } from './usage.ts';

/** One result of a run over several paths: a report, or why there is none. */
export type Result = { readonly path: string } & (
  | { readonly report: Report }
  | { readonly failure: Failure }
);

/** Where a rendering goes: to a file, or to standard output. */
export type Target = { readonly format: ReportFormat; readonly file?: string };

const FORMATS = Object.keys(renderers) as ReportFormat[];

/** `KIND` or `KIND=FILE`. */
export function target(value: string): Target {
  const [kind, ...rest] = value.split('=');
  const format = FORMATS.find((one) => one === kind);
  if (format === undefined || (rest.length > 0 && rest.join('=') === '')) {
    throw new InvalidArgumentError(`It must be ${FORMATS.join(' or ')}, or one of them with =FILE.`);
  }
  return rest.length === 0 ? { format } : { format, file: rest.join('=') };
}

/** The targets with what goes to standard output first: text unless another format is asked for there. */
export function targetsOf(given: readonly Target[], json: boolean): readonly [ReportFormat, ...Target[]] {
  const files = given.filter(({ file }) => file !== undefined);
  const plain = given.filter(({ file }) => file === undefined).map(({ format }) => format);
  if (json && !plain.includes('json')) plain.push('json');
  if (plain.length > 1) {
    throw usageError(
      'two formats are to go to standard output',
      'Send one of them to a file: --format json=FILE.',
    );
  }
  return [plain[0] ?? 'text', ...files];
}

/** Writes every rendering; files first, so that a pipe that breaks loses none. */
export async function writeResults(
  cli: Cli,
  results: readonly Result[],
  [onStdout, ...files]: readonly [ReportFormat, ...Target[]],
  force: boolean,
): Promise<void> {
  for (const { format, file } of files) {
    if (file !== undefined)
      await writeOutputFile(file, [Buffer.from(RENDERINGS[format](results))], { force });
  }
  const color = wantsColour(cli, cli.stdout);
  await cli.stdout.write(RENDERINGS[onStdout](results, { color, width: Math.min(cli.stdout.columns, 100) }));
}

type Look = { readonly color: boolean; readonly width: number };
const PLAIN: Look = { color: false, width: 80 };

const RENDERINGS: Readonly<Record<ReportFormat, (results: readonly Result[], look?: Look) => string>> = {
  text(results, look = PLAIN) {
    const one = results.length === 1;
    return results
      .map((result) => `${one ? '' : `# ${printable(result.path)}\n`}${textOf(result, look)}`)
      .join('\n');
  },
  json(results) {
    const [first] = results;
    if (results.length === 1 && first !== undefined) return stableJson(jsonOf(first));
    const list = results.map((result) => ({ path: result.path, result: jsonOf(result) }));
    return stableJson({ schemaVersion: 1, kind: 'reports', results: list });
  },
};

const textOf = (result: Result, look: Look): string =>
  'report' in result ? renderers.text(result.report, look) : failureText(result.failure);
const jsonOf = (result: Result): unknown =>
  'report' in result ? result.report : failureJsonObject(result.failure);
