import { stableJson } from '../../../report/index.ts';
import type { Cli } from '../../cli.ts';
import { writeOutputFile, type WriteOptions } from './output-file.ts';

/** Writes the product of a command: JSON of these members, or the text. */
export async function writeProduct(
  cli: Cli,
  json: Readonly<Record<string, unknown>>,
  text: string,
): Promise<void> {
  await cli.stdout.write(cli.format === 'json' ? stableJson({ schemaVersion: 1, ...json }) : text);
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
