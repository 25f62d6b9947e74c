import { digester } from '../../bytes/hash.ts';
import type { Bytes } from '../../bytes/platform.ts';
import { DrillproofError } from '../../errors.ts';
import type { BlobRef } from '../store/store.ts';

/** @throws DrillproofError `control.UPLOAD_MISMATCH` when what came is not what was announced */
function assertExpected(found: BlobRef, expected: Partial<BlobRef>): void {
  for (const fact of ['bytes', 'digest'] as const) {
    const wanted = expected[fact];
    if (wanted === undefined || wanted === found[fact]) continue;
    throw new DrillproofError('control.UPLOAD_MISMATCH', `${fact}: expected ${wanted}, got ${found[fact]}`, {
      details: { expected: wanted, actual: found[fact] },
    });
  }
}

/**
 * Bytes on their way into a store, hashed and counted. The stream ends well only when they were the expected ones, so
 * what reads it to its end has the proof; `found` is what came, once it has ended. An announced size is not passed.
 */
export type Taking = { readonly bytes: Bytes; readonly found: () => BlobRef | undefined };

/** Takes a stream in. Its end throws DrillproofError `control.UPLOAD_MISMATCH` for other bytes than expected. */
export function taking(source: Bytes, expected: Partial<BlobRef>): Taking {
  let found: BlobRef | undefined;
  async function* through(): AsyncGenerator<Uint8Array> {
    const sum = digester();
    for await (const chunk of source) {
      sum.update(chunk);
      if (sum.bytes > (expected.bytes ?? Infinity)) break; // the count already differs
      yield chunk;
    }
    const all = { bytes: sum.bytes, digest: sum.digest() };
    assertExpected(all, expected);
    found = all;
  }
  return { bytes: through(), found: () => found };
}
