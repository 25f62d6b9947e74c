import { createReadStream } from 'node:fs';
import { LimitError } from '../../../errors.ts';
import { ioError } from '../../../node/index.ts';
import type { Cli } from '../../cli.ts';

/**
 * All bytes of a file that must be small, or of standard input for `-`. Pipes such as `<(…)` work too.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`; LimitError `json.TOO_LARGE` beyond `maxBytes`
 */
export async function readInput(path: string, maxBytes: number, cli: Cli): Promise<Uint8Array> {
  const name = path === '-' ? 'standard input' : path;
  const stream = path === '-' ? cli.stdin : createReadStream(path);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new LimitError('json.TOO_LARGE', `${name} has more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    throw ioError(cause, name, 'read');
  }
  return Buffer.concat(chunks);
}
