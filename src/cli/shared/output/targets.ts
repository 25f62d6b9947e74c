import { resolve } from 'node:path';
import { type Cli, writeFolded } from '../../cli.ts';
import { type FormatTarget, usageError } from '../options/values.ts';
import { EXIT } from '../../exit.ts';
import { describeFailure, formatFailureText } from './failure.ts';
import { checkOutputFile, removeStale, writeOutputFile } from './output-file.ts';
import { selectText } from './product.ts';

export type Outputs<F extends string> = {
  readonly shown: F;
  readonly files: readonly Required<FormatTarget<F>>[];
  readonly force: boolean;
  readonly paths: readonly string[];
};

export type FormatOptions<F extends string> = {
  readonly format?: readonly FormatTarget<F>[];
  readonly json?: boolean;
  readonly force?: boolean;
};

/**
 * Splits `--format` into standard output (default: text) and files, and checks that these and the files of other options
 * can be written.
 */
export async function planOutputs<F extends string>(
  cli: Cli,
  { format = [], json = false, force = false }: FormatOptions<F>,
  more: readonly string[] = [],
): Promise<Outputs<F | 'text' | 'json'>> {
  const files = format.flatMap(({ format: kind, file }) =>
    file === undefined ? [] : [{ format: kind, file }],
  );
  const plain = format.filter(({ file }) => file === undefined).map(({ format: kind }) => kind);
  const [shown = json ? 'json' : 'text', second = json && shown !== 'json'] = plain;
  if (shown === 'json') cli.format = 'json';
  if (second !== false)
    throw usageError('two formats for standard output', 'Send one of them to a file: --format json=FILE.');
  const paths = [...files.map(({ file }) => file), ...more];
  if (new Set(paths.map((path) => resolve(path))).size < paths.length)
    throw usageError('two formats for one file', 'Give each its own file.');
  for (const path of paths) await checkOutputFile(cli, path, force);
  return { shown, files, force, paths };
}

/** Reads the inputs; then, even if that fails, removes the outputs of an earlier run. */
export async function replaceStale<T>(
  cli: Cli,
  { paths, force }: Outputs<string>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } finally {
    // Lists and policies name more inputs, which are known only now.
    if (force) for (const path of paths) await removeStale(cli, path);
  }
}

/** Writes a result in each format. Files are written first, so that a broken pipe loses none. */
export async function writeRenderings<F extends string>(
  cli: Cli,
  { shown, files, force }: Outputs<F>,
  renderings: Readonly<Record<F, () => string>>,
  sign?: (json: string) => Promise<string>,
): Promise<void> {
  const render = async (format: F): Promise<string> =>
    format === 'json' && sign !== undefined ? sign(renderings[format]()) : renderings[format]();
  const onStdout = await render(shown);
  const unwritten: unknown[] = [];
  for (const { format, file } of files)
    await writeOutputFile(cli, file, [Buffer.from(await render(format))], { force }).catch((error: unknown) =>
      unwritten.push(error),
    );
  if (shown === 'text') await writeFolded(cli.stdout, selectText(cli, onStdout));
  else await cli.stdout.write(onStdout);
  await reportUnwritten(cli, unwritten);
}

/** Reports files that could not be written. A pass without its report ends with the code of the error. */
export async function reportUnwritten(cli: Cli, errors: readonly unknown[]): Promise<void> {
  for (const error of errors) {
    const failure = describeFailure(error, false);
    await writeFolded(cli.stderr, formatFailureText(failure));
    // The exit code 1 would mean bad evidence.
    if (cli.exitCode === EXIT.pass) cli.exitCode = failure.exit === EXIT.bad ? EXIT.unchecked : failure.exit;
  }
}
