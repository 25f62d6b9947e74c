import { platform } from '#platform';
import { toHex } from './hex.ts';
import type { Bytes } from './platform.ts';

/** A digest as it is written everywhere: `sha256:` and 64 lowercase hex characters (control API, Conventions). */
export type Digest = `sha256:${string}`;

/** Digest of bytes that are in memory. */
export function digestOf(bytes: Uint8Array): Digest {
  const hash = platform.sha256();
  hash.update(bytes);
  return `sha256:${toHex(hash.digest())}`;
}

/** Counts and digests bytes as they pass. `digest` may be called once. */
export function digester(): { update(chunk: Uint8Array): void; readonly bytes: number; digest(): Digest } {
  const hash = platform.sha256();
  let bytes = 0;
  return {
    update(chunk) {
      hash.update(chunk);
      bytes += chunk.length;
    },
    get bytes() {
      return bytes;
    },
    digest: () => `sha256:${toHex(hash.digest())}`,
  };
}

/** Digest and size of a stream. */
export async function digestStream(bytes: Bytes): Promise<{ digest: Digest; bytes: number }> {
  const sum = digester();
  for await (const chunk of bytes) sum.update(chunk);
  return { digest: sum.digest(), bytes: sum.bytes };
}
