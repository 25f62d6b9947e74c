import { MAX_ENVELOPES } from '../../../verify/index.ts';
import type { Cli } from '../../cli.ts';
import { readInput } from './input.ts';
import { usageError } from '../options/usage.ts';

/** Beyond what an envelope may have, so that one that is too long is a finding, and a file that is none is not read. */
const MAX_ENVELOPE_BYTES = 16 * 1024 * 1024;
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** The envelopes of `--dsse`, in the order in which they were given. @throws DrillproofError what `readInput` throws, `usage.INVALID` */
export async function readEnvelopes(cli: Cli, files: readonly string[]): Promise<readonly Uint8Array[]> {
  if (files.length > MAX_ENVELOPES)
    throw usageError(`--dsse is given ${files.length} times, where ${MAX_ENVELOPES} are possible`);
  if (files.filter((file) => file === '-').length > 1)
    throw usageError('--dsse - is given twice, and standard input is read once');
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
