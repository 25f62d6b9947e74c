import { resolve } from 'node:path';
import { fromUtf8 } from '../../bytes/index.ts';
import { isS3Url } from '../../node/s3/index.ts';
import { say, type Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import { usageError } from '../shared/options/usage.ts';

const MAX_LIST_BYTES = 64 * 1024 * 1024;

export type PathList = { readonly list?: string; readonly null?: boolean };

/**
 * The paths to be judged: those of the command line, then those of the list. One that is named twice is judged once.
 * @throws DrillproofError `usage.INVALID` when none is named and there is no list; what `readInput` throws
 */
export async function pathsOf(
  cli: Cli,
  named: readonly string[],
  { list, null: byNull = false }: PathList,
): Promise<readonly string[]> {
  if (list === undefined) {
    if (byNull) throw usageError('-0 speaks of a list, and there is none', 'Add --list FILE.');
    if (named.length === 0) throw usageError('no path was given', 'Name a path, or give --list FILE.');
  }
  const listed = list === undefined ? [] : namesIn(await readInput(list, MAX_LIST_BYTES, cli), byNull);
  return distinct(cli, [...named, ...listed]);
}

/** Names with one on each line (of either ending), or each ended by NUL; empty ones are none. */
function namesIn(bytes: Uint8Array, byNull: boolean): readonly string[] {
  const text = fromUtf8(bytes);
  return text.split(byNull ? '\0' : /\r?\n/).filter((name) => name !== '');
}

async function distinct(cli: Cli, paths: readonly string[]): Promise<readonly string[]> {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const place = isS3Url(path) ? path : resolve(path);
    if (seen.has(place)) await say(cli, `${path} is named more than once; it is verified once`);
    else seen.set(place, path);
  }
  return [...seen.values()];
}
