import { fromUtf8 } from '../../bytes/index.ts';
import { evidenceExportIdSchema } from '../../contract/index.ts';
import type { Wish } from '../../mirror/index.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import { usageError } from '../shared/options/usage.ts';

const MAX_LIST_BYTES = 64 * 1024 * 1024;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const FORM =
  'Each line is the id of an export, and the digest of its manifest after a space where you know it.';

/**
 * The exports of a list, one on each line (`evexp_… [sha256:…]`); empty lines and those that begin with # are none. The
 * whole list is read before anything is fetched.
 * @throws DrillproofError `usage.INVALID` with the number of the line; what `readInput` throws
 */
export async function readWishes(cli: Cli, list: string, projectId: string): Promise<readonly Wish[]> {
  const name = list === '-' ? 'standard input' : list;
  const lines = fromUtf8(await readInput(list, MAX_LIST_BYTES, cli)).split(/\r?\n/);
  const wishes = new Map<string, Wish>();
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [id = '', expectManifest, ...more] = line.trim().split(/[ \t]+/);
    const known = evidenceExportIdSchema.safeParse(id).success;
    if (!known || more.length > 0 || !(expectManifest === undefined || DIGEST.test(expectManifest)))
      throw usageError(`${name}, line ${i + 1}: this names no export`, FORM);
    if (wishes.has(id)) throw usageError(`${name}, line ${i + 1}: ${id} is named more than once`, FORM);
    wishes.set(id, {
      projectId,
      evidenceExportId: id,
      ...(expectManifest !== undefined && { expectManifest }),
    });
  }
  return [...wishes.values()];
}
