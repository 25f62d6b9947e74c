import { isDigest } from '../../../bytes/hash.ts';
import { fromUtf8 } from '../../../bytes/text/encoding.ts';
import { evidenceExportIdSchema } from '../../../contract/scalars.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../options/values.ts';
import { formatInputName, readInput } from './input.ts';

const MAX_LIST_BYTES = 64 * 1024 * 1024;
const FORM = 'Each line is the id of an export, optionally with a space and the digest of its manifest.';

/**
 * Reads a list of exports, one per line (`evexp_… [sha256:…]`), before anything is fetched. Empty lines and lines that
 * begin with # are skipped. Returns the digest of each, if it has one.
 */
export async function readExportList(
  cli: Cli,
  list: string,
): Promise<ReadonlyMap<string, string | undefined>> {
  const name = formatInputName(list);
  const lines = fromUtf8(await readInput(list, MAX_LIST_BYTES, cli)).split(/\r?\n/);
  const rows = new Map<string, string | undefined>();
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [id = '', digest, ...more] = line.trim().split(/[ \t]+/);
    const isValid = evidenceExportIdSchema.safeParse(id).success;
    if (!isValid || more.length > 0 || !(digest === undefined || isDigest(digest)))
      throw usageError(`${name}, line ${i + 1}: this is not the id of an export`, FORM);
    if (rows.has(id)) throw usageError(`${name}, line ${i + 1}: ${id} is named more than once`, FORM);
    rows.set(id, digest);
  }
  return rows;
}
