import { toHex } from '../bytes/index.ts';

/** An Idempotency-Key of 128 random bits (control API, Conventions: 8 to 128 of A-Z a-z 0-9 . _ : -). */
export function newIdempotencyKey(): string {
  return `dp-${toHex(crypto.getRandomValues(new Uint8Array(16)))}`;
}
