import { type Bytes, digester } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { BlobRef } from '../store/store.ts';

/** @throws DrillproofError `control.UPLOAD_MISMATCH` when the bytes do not match what was announced */
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
 * Bytes on their way into a store, hashed and counted. The stream ends without an error only when they match, so
 * reading it to its end verifies them; `found` is what was read. It never yields more than the announced size.
 */
export type CheckedStream = { readonly bytes: Bytes; readonly found: () => BlobRef | undefined };

/** Hashes a stream. Its end throws DrillproofError `control.UPLOAD_MISMATCH` when the bytes do not match. */
export function checkStream(source: Bytes, expected: Partial<BlobRef>): CheckedStream {
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
