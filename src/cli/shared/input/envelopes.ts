import { MAX_ENVELOPES } from '../../../verify/index.ts';
import type { Cli } from '../../cli.ts';
import { readInput } from './input.ts';
import { usageError } from '../options/usage.ts';

/** More than an envelope may have, so that an oversized one is a finding. */
const MAX_ENVELOPE_BYTES = 16 * 1024 * 1024;
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** The envelopes of `--dsse`, in the order in which they were given. @throws DrillproofError what `readInput` throws, `usage.INVALID` */
export async function readEnvelopes(cli: Cli, files: readonly string[]): Promise<readonly Uint8Array[]> {
  if (files.length > MAX_ENVELOPES)
    throw usageError(`${files.length} envelopes given with --dsse; the maximum is ${MAX_ENVELOPES}`);
  if (files.filter((file) => file === '-').length > 1)
    throw usageError('--dsse - is given twice, but standard input can be read only once');
  const envelopes: Uint8Array[] = [];
  let bytes = 0;
  for (const file of files) {
    const envelope = await readInput(file, MAX_ENVELOPE_BYTES, cli);
    bytes += envelope.length;
    if (bytes > MAX_TOTAL_BYTES) throw usageError('the envelopes of --dsse have more than 256 MiB together');
    envelopes.push(envelope);
  }
  return envelopes;
}
