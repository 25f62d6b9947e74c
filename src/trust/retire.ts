import { DrillproofError } from '../errors.ts';
import { trustStore, type TrustStore } from './store.ts';
import type { TrustedKey } from './trusted-key.ts';

/**
 * The ways in which a key is retired. `revoked`: earlier signatures stay valid. `compromised`: no signature is valid,
 * whenever it was made. `expired`: the moment is the last at which the key is valid.
 */
export const RETIREMENTS = ['revoked', 'compromised', 'expired'] as const;

export type Retirement = {
  readonly issuer: string;
  readonly keyId: string;
  readonly how: (typeof RETIREMENTS)[number];
  /** The moment, in milliseconds since 1970. */
  readonly atMs: number;
};

/**
 * A copy of the trust store with one key retired. It never trusts more than before: an earlier end, an earlier
 * revocation and a compromise in the store remain.
 * @throws DrillproofError `trust.KEY_UNKNOWN` when the store has no such key, `trust.STORE_INVALID` when the key would
 *   end before it begins
 */
export function retireKey(store: Pick<TrustStore, 'keys' | 'find'>, retirement: Retirement): TrustStore {
  const { issuer, keyId } = retirement;
  const key = store.find(issuer, keyId);
  if (key === undefined) {
    const name = `key ${JSON.stringify(keyId)} of issuer ${JSON.stringify(issuer)}`;
    throw new DrillproofError('trust.KEY_UNKNOWN', `the trust store has no ${name}`);
  }
  return trustStore(store.keys.map((other) => (other === key ? retire(key, retirement) : other)));
}

function retire(key: TrustedKey, { how, atMs }: Retirement): TrustedKey {
  if (how === 'expired') return { ...key, notAfterMs: Math.min(key.notAfterMs ?? atMs, atMs) };
  return {
    ...key,
    revokedAtMs: Math.min(key.revokedAtMs ?? atMs, atMs),
    compromised: how === 'compromised' || (key.revokedAtMs !== undefined && key.compromised),
  };
}
