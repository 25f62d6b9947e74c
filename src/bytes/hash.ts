import { BYTES, checkArguments } from './arguments.ts';
import { platform } from '#platform';
import { toHex } from './text/encoding.ts';
import { abortable, turn } from './async.ts';
import type { Bytes } from './platform.ts';
import { streamAccess, type RandomAccess } from './random-access.ts';

/** A digest as it is written everywhere: `sha256:` and 64 lowercase hex characters (control API, Conventions). */
export type Digest = `sha256:${string}`;

/** The form of a digest. */
export const DIGEST = /^sha256:[0-9a-f]{64}$/;
const DIGEST_CHARACTERS = /^sha256:[0-9a-f]*$/;

/** Checks the form of a digest. V8 takes more than twice as long for `{64}` in a pattern. */
export const isDigest = (value: unknown): value is Digest =>
  typeof value === 'string' && value.length === 71 && DIGEST_CHARACTERS.test(value);

/**
 * The SHA-256 of bytes in memory, as `sha256:` and 64 lowercase hex characters (control API, Conventions).
 * @throws TypeError for anything that is not a Uint8Array
 * @example
 * const digest = digestOf(await readFile('manifest.json'));
 */
export function digestOf(bytes: Uint8Array): Digest {
  if (!(bytes instanceof Uint8Array)) checkArguments({ bytes: BYTES }, { bytes });
  return `sha256:${platform.sha256Hex(bytes)}`;
}

/** `digestOf`, or a promise of its result if the platform has a faster asynchronous implementation. */
export function digestSoon(bytes: Uint8Array): Digest | Promise<Digest> {
  const later = platform.sha256HexLater?.(bytes);
  return later === undefined ? digestOf(bytes) : later.then((hex): Digest => `sha256:${hex}`);
}

/** Counts and digests bytes as they pass. `digest` may be called once. */
export function createDigester() {
  const hash = platform.sha256();
  let bytes = 0;
  return {
    update(chunk: Uint8Array): void {
      hash.update(chunk);
      bytes += chunk.length;
    },
    get bytes() {
      return bytes;
    },
    digest: (): Digest => `sha256:${toHex(hash.digest())}`,
  };
}

/**
 * Digest and size of a stream.
 * @param announcedBytes the most bytes that there can be. Up to 128 MiB they are collected if that is faster.
 */
export async function digestStream(
  bytes: Bytes,
  announcedBytes = Infinity,
): Promise<{ digest: Digest; bytes: number }> {
  if (announcedBytes <= COLLECT_BYTES && platform.sha256HexLater !== undefined) {
    const whole = new Uint8Array(announcedBytes);
    let end = 0;
    for await (const chunk of bytes) {
      whole.set(chunk, end);
      end += chunk.length;
    }
    return { digest: await digestSoon(whole.subarray(0, end)), bytes: end };
  }
  const sum = createDigester();
  for await (const chunk of bytes) sum.update(chunk);
  return { digest: sum.digest(), bytes: sum.bytes };
}

const COLLECT_BYTES = 128 * 2 ** 20;
const PIECE_BYTES = 262_144;
/** Bytes that are digested before other work runs and an abort is noticed. */
const TURN_BYTES = 4 * 2 ** 20;
let scratch: Uint8Array | undefined;

/**
 * Digest and size of everything in a random access. One buffer serves all calls: it is filled and digested without a
 * wait in between, so no other call can write into it.
 * @param take called with each piece before the next one is read; not called for bytes in memory
 * @throws what `read` throws, and the reason of an aborted `signal`
 */
export async function digestAccess(
  access: RandomAccess,
  signal?: AbortSignal,
  take?: (piece: Uint8Array) => void,
): Promise<{ digest: Digest; bytes: number }> {
  const soon = access.size <= TURN_BYTES || platform.sha256HexLater !== undefined;
  if (access.bytes !== undefined && soon) {
    signal?.throwIfAborted();
    return { digest: await digestSoon(access.bytes), bytes: access.size };
  }
  if (access.digest !== undefined) return { digest: await access.digest(), bytes: access.size };
  if (access.readInto === undefined) return digestStream(abortable(streamAccess(access), signal));
  const sum = createDigester();
  scratch ??= new Uint8Array(PIECE_BYTES);
  for (let at = 0; at < access.size; at += PIECE_BYTES) {
    if (at > 0 && at % TURN_BYTES === 0) await turn();
    signal?.throwIfAborted();
    const piece = scratch.subarray(0, Math.min(PIECE_BYTES, access.size - at));
    access.readInto(piece, at);
    take?.(piece);
    sum.update(piece);
  }
  return { digest: sum.digest(), bytes: sum.bytes };
}
