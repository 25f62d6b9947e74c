import { stableJson } from '../../../report/index.ts';
import { writeFolded, type Cli } from '../../cli.ts';
import { writeOutputFile, type WriteOptions } from './output-file.ts';

/** Writes the product of a command: JSON of these members, or the text. */
export async function writeProduct(
  cli: Cli,
  json: Readonly<Record<string, unknown>>,
  text: string,
): Promise<void> {
  if (cli.format === 'json') await cli.stdout.write(stableJson({ schemaVersion: 1, ...json }));
  else await writeFolded(cli.stdout, text);
}

/** Writes bytes to a file, or to standard output for `-`. */
export async function writeBytes(
  cli: Cli,
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: WriteOptions,
): Promise<void> {
  if (path !== '-') return writeOutputFile(path, chunks, options);
  for await (const chunk of chunks) await cli.stdout.write(chunk);
}
