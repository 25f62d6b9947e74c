import type { JsonObject, JsonValue } from '../bytes/json/parse.ts';
import { DrillproofError } from '../errors.ts';
import { faultError, isObject, extendPointer, type KeyFault, listUnknownMembers } from './faults.ts';
import { readEcJwk } from './key/jwk.ts';
import { openKeySetFile } from './key/key-file.ts';
import { importPublicKey, keyIdOf, type VerifyingKey } from './key/key.ts';
import { keyIdSchema } from './trusted-key.ts';

/**
 * Reads the public keys that an issuer publishes: a JWK Set (RFC 7517 §5), a JWK, or any input of `importPublicKey`. The
 * name of a key is its `kid`, or without one the result of `keyIdOf`. One unsupported key refuses the whole set, because
 * skipping keys silently could leave the store without a key you need.
 * @throws DrillproofError `trust.STORE_EMPTY` for a set without keys, `trust.KEY_DUPLICATE` for a name that
 *   appears twice, `trust.STORE_INVALID` for any member but "keys"; `trust.KEY_PRIVATE`, `trust.KEY_UNSUPPORTED`,
 *   `trust.KEY_INVALID`, with every fault in `details.issues`
 * @throws LimitError `json.TOO_LARGE` beyond 4 MiB
 */
export function importPublicKeys(input: Uint8Array | string): readonly VerifyingKey[] {
  const file = openKeySetFile(input);
  if (file.kind === 'pem') return [importPublicKey(input)];
  if (file.kind === 'jwks') return readSet(file.set);
  const faults: KeyFault[] = [];
  return assertFaultless(faults, [readNamed(file.jwk, '', faults)]);
}

function readSet(set: JsonObject): readonly VerifyingKey[] {
  const members = set['keys'];
  if (!Array.isArray(members))
    throw new DrillproofError('trust.STORE_INVALID', '"keys" is not an array', { path: '/keys' });
  if (members.length === 0) throw new DrillproofError('trust.STORE_EMPTY', 'the JWK Set holds no key');
  const unknown = Object.keys(set).filter((name) => name !== 'keys');
  const faults = listUnknownMembers('trust.STORE_INVALID', '', unknown);
  const names = new Set<string>();
  const keys = members.map((member, at) => {
    const path = extendPointer('/keys', at);
    const key = readNamed(member, path, faults);
    if (key !== undefined && names.has(key.keyId)) {
      const message = `the key ${JSON.stringify(key.keyId)} appears twice`;
      faults.push({ code: 'trust.KEY_DUPLICATE', path, message });
    }
    if (key !== undefined) names.add(key.keyId);
    return key;
  });
  return assertFaultless(faults, keys);
}

function assertFaultless(
  faults: readonly KeyFault[],
  keys: readonly (VerifyingKey | undefined)[],
): readonly VerifyingKey[] {
  if (faults.length > 0) throw faultError(faults);
  return keys.filter((key) => key !== undefined);
}

function readNamed(jwk: JsonValue, path: string, faults: KeyFault[]): VerifyingKey | undefined {
  if (!isObject(jwk)) {
    faults.push({ code: 'trust.KEY_INVALID', path, message: 'a key is an object' });
    return undefined;
  }
  const read = readEcJwk(jwk, 'verify', path);
  const kid = Object.hasOwn(jwk, 'kid') ? keyIdSchema.safeParse(jwk['kid']) : undefined;
  if (kid?.success === false) {
    const message = '"kid" is not text of 1 to 256 characters';
    faults.push({ code: 'trust.KEY_INVALID', path: extendPointer(path, 'kid'), message });
  }
  if ('faults' in read) {
    faults.push(...read.faults);
    return undefined;
  }
  return { keyId: kid?.data ?? keyIdOf(read.point), point: read.point };
}
