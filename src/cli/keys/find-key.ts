import type { TrustedKey, TrustStore } from '../../trust/index.ts';
import { usageError } from '../shared/options/usage.ts';

/** Characters of a key id from which on its beginning names it; `keys list` shows more. */
const LEAST = 12;

/**
 * The key that a person names: by its whole key id or, where that names none, by the beginning that `keys list` shows.
 * @throws DrillproofError `usage.INVALID` when there is none, or more than one
 */
export function findKey(store: TrustStore, name: string, issuer: string | undefined): TrustedKey {
  const keys = store.keys.filter((key) => issuer === undefined || key.issuer === issuer);
  const exact = keys.filter(({ keyId }) => keyId === name);
  const beginning = name.replace(/…$/, '');
  const near = beginning.length < LEAST ? [] : keys.filter(({ keyId }) => keyId.startsWith(beginning));
  const [key, ...more] = exact.length > 0 ? exact : near;
  const quoted = JSON.stringify(name);
  const whose = issuer === undefined ? '' : ` of issuer ${JSON.stringify(issuer)}`;
  if (key === undefined)
    throw usageError(
      `the trust store has no key ${quoted}${whose}`,
      'See its keys with "drillproof keys list FILE".',
    );
  if (more.length === 0) return key;
  const several = `${more.length + 1} keys of the trust store are called ${quoted}${whose}`;
  throw usageError(several, 'Say which with the whole key id and --issuer NAME.');
}

/** Other names under which the trust store holds the same key. */
export const aliasesOf = (store: TrustStore, key: TrustedKey): readonly TrustedKey[] =>
  store.keys.filter((other) => other !== key && Buffer.compare(other.point, key.point) === 0);

/** Whether the store has this very key under this name; another key under it is a clash, which is refused. */
export function isTrusted(store: TrustStore | undefined, { issuer, keyId, point }: TrustedKey): boolean {
  const known = store?.find(issuer, keyId);
  return known !== undefined && Buffer.compare(known.point, point) === 0;
}
