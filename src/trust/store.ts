import {
  BYTES,
  BYTES_OR_TEXT,
  checkArguments,
  defined,
  FLAG,
  type Kind,
  LIST,
  listOf,
  type MembersOf,
  oneOf,
  optional,
  optionsOf,
  TEXT,
  withMembers,
  withMethods,
} from '../bytes/arguments.ts';
import { canonicalBytes } from '../bytes/json/canonical.ts';
import { compareUtf8 } from '../bytes/text/encoding.ts';
import { type Digest, digestOf } from '../bytes/hash.ts';
import { type JsonObject, type JsonValue, parseJson } from '../bytes/json/parse.ts';
import { DrillproofError } from '../errors.ts';
import { faultError, isObject, extendPointer, type KeyFault, listUnknownMembers } from './faults.ts';
import {
  certificateIdOf,
  formatTrustedCertificate,
  readTrustedCertificate,
  type TrustedCertificate,
} from './certificate.ts';
import { buildVerifyingKey, importPublicKey } from './key/key.ts';
import {
  readTrustedKey,
  thumbprintOf,
  formatKeyName,
  formatTrustedKey,
  type Purpose,
  PURPOSES,
  type TrustedKey,
} from './trusted-key.ts';

/** The keys that the caller trusts (formats §3). Nothing inside the evidence can add one. */
export type TrustStore = {
  /** Sorted by issuer and key id; empty only if there are certificates. */
  readonly keys: readonly TrustedKey[];
  /** Of time authorities, sorted by issuer and digest; absent if there are none. */
  readonly certificates?: readonly TrustedCertificate[];
  /** SHA-256 of the canonical JSON of `trustStoreJwks`. Equal stores, and only those, have equal fingerprints. */
  readonly fingerprint: Digest;
  /** The key with this issuer and key id, compared exactly. */
  find(issuer: string, keyId: string): TrustedKey | undefined;
};

/**
 * A public key, its issuer, and optionally its limits. `key` is PEM ("PUBLIC KEY") or a JWK; `point` replaces it. `keyId`
 * is the name of the key in statements, by default the one that `keyIdOf` derives. Default purposes: evidence and export.
 */
type KeyInput = Pick<TrustedKey, 'issuer'> &
  Partial<TrustedKey> &
  ({ readonly key: string | Uint8Array } | Pick<TrustedKey, 'point'>);

/** A trust store, or one public key and its issuer, as `trustStore` takes them. */
export type Trust = TrustStore | KeyInput;

/** The purposes of a key for which the caller names none: bundles and lists of bundles, so that exports verify. */
export const SIGNER_PURPOSES: readonly Purpose[] = ['evidence', 'export'];

/**
 * The trust store of what the caller trusts.
 * @throws TypeError for anything else; DrillproofError `trust.…` for a key that cannot be read
 */
export function resolveTrust(trust: Trust, purposes = SIGNER_PURPOSES): TrustStore {
  if (isStore(trust)) {
    if (!made.has(trust)) checkArguments({ trust: withMembers('a trust store', { keys: KEYS }) }, { trust });
    return trust;
  }
  checkArguments({ trust: kindOfInput(trust) }, { trust });
  return trustStore([{ purposes, ...trust }]);
}

const MS: Kind<number> = { what: 'milliseconds since 1970', accepts: (value) => typeof value === 'number' };
const LIMITS: MembersOf<Omit<TrustedKey, 'point'>> = {
  issuer: TEXT,
  keyId: optional(TEXT),
  notBeforeMs: optional(MS),
  notAfterMs: optional(MS),
  revokedAtMs: optional(MS),
  compromised: optional(FLAG),
  projects: optional(listOf(TEXT)),
  organizations: optional(listOf(TEXT)),
  purposes: optional(listOf(oneOf(PURPOSES))),
  fromCertificate: optional(FLAG),
};
const POINT: Kind = {
  what: 'an uncompressed point of 65 bytes',
  accepts: (value) => value instanceof Uint8Array && value.length === 65,
};
const KEY_INPUT = optionsOf({ key: BYTES_OR_TEXT, ...LIMITS });
const POINT_INPUT = optionsOf({ point: POINT, ...LIMITS });

const kindOfInput = (input: KeyInput): Kind =>
  typeof input === 'object' && input !== null && 'point' in input ? POINT_INPUT : KEY_INPUT;

const isFault = (item: JsonObject | KeyFault): item is KeyFault => 'message' in item;

/** The JWK of a key, or what is wrong with its form. */
function formatInput(input: KeyInput, at: number): JsonObject | KeyFault {
  const name = `keys[${at}]`;
  try {
    checkArguments({ [name]: kindOfInput(input) }, { [name]: input });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { code: 'trust.STORE_INVALID', path: `/keys/${at}`, message: error.message };
  }
  const key = 'point' in input ? buildVerifyingKey(input.point) : importPublicKey(input.key);
  return formatTrustedKey({ compromised: true, purposes: SIGNER_PURPOSES, ...key, ...defined({ ...input }) });
}

const STORE = withMethods('a trust store', 'find');
const isStore = (trust: Trust): trust is TrustStore => STORE.accepts(trust) && 'keys' in trust;
const CERTIFICATES = listOf(withMembers('a TrustedCertificate', { issuer: TEXT, certificate: BYTES }));
const KEYS = listOf(withMembers('a TrustedKey', { issuer: TEXT, keyId: TEXT, point: POINT }));
/** Stores that were made here, so that their keys are not checked again. */
const made = new WeakSet<TrustStore>();

/** Bytes of a trust store; room for some 20,000 keys. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads a trust store: a JWK Set of P-256 keys with our members alongside those of RFC 7517 (formats §3). Unknown
 * members are refused, because one could be a restriction.
 * @throws DrillproofError `trust.STORE_INVALID`, `trust.STORE_EMPTY`, `trust.KEY_DUPLICATE`, `trust.KEY_PRIVATE`,
 *   `trust.KEY_UNSUPPORTED`, `trust.KEY_INVALID`, with every fault in `details.issues`; and what `parseJson` throws
 * @example
 * const trust = parseTrustStore(await readFile('trust.json'));
 */
export function parseTrustStore(bytes: Uint8Array): TrustStore {
  const set = parseJson(bytes, { maxBytes: MAX_BYTES });
  const keys = isObject(set) && Object.hasOwn(set, 'keys') ? set['keys'] : undefined;
  if (!isObject(set) || !Array.isArray(keys)) {
    throw new DrillproofError('trust.STORE_INVALID', 'not a JWK Set: an object with the array "keys"', {
      path: '',
    });
  }
  const { keys: _keys, certificates = [], ...unknown } = set;
  const faults = listUnknownMembers('trust.STORE_INVALID', '', Object.keys(unknown));
  if (Array.isArray(certificates)) return buildStore(keys, certificates, faults);
  const message = 'must be an array';
  throw faultError([...faults, { code: 'trust.STORE_INVALID', path: '/certificates', message }]);
}

/**
 * A trust store of these keys, by the rules of `parseTrustStore` (formats §3): public keys as PEM or JWK, or their points,
 * each with its issuer and its limits. Paths of faults are those in its JWK Set.
 * @param certificates those of time authorities, as DER; default none
 * @throws TypeError for anything that is not an array; what `parseTrustStore` throws, and `trust.STORE_INVALID` for a key
 *   of the wrong form
 * @example
 * const issuer = 'https://drills.example';
 * const trust = trustStore([
 *   { issuer, key: await readFile('old.pem'), notAfterMs: Date.UTC(2026, 0, 1) },
 *   { issuer, key: await readFile('new.pem') },
 * ]);
 */
export function trustStore(
  keys: readonly KeyInput[],
  certificates: readonly TrustedCertificate[] = [],
): TrustStore {
  checkArguments({ keys: LIST, certificates: CERTIFICATES }, { keys, certificates });
  return buildStore(formatInputs(keys), certificates.map(formatTrustedCertificate), []);
}

/** @throws DrillproofError `trust.STORE_INVALID` with every key of the wrong form */
function formatInputs(keys: readonly KeyInput[]): JsonObject[] {
  const items = keys.map(formatInput);
  const faults = items.filter(isFault);
  if (faults.length > 0) throw faultError(faults);
  return items.filter((item) => !isFault(item));
}

/**
 * The JWK Set of a trust store, which `parseTrustStore` reads back as the same store (formats §3).
 * @throws TypeError for anything that is not a trust store; DrillproofError `trust.STORE_INVALID` for a key of the wrong
 *   form
 * @example
 * await writeFile('trust.json', canonicalJson(trustStoreJwks(trustStore([key]))));
 */
export function trustStoreJwks(store: Pick<TrustStore, 'keys' | 'certificates'>): {
  keys: JsonObject[];
  certificates?: JsonObject[];
} {
  checkArguments({ store: withMembers('a trust store', { keys: LIST }) }, { store });
  const certificates = store.certificates?.map(formatTrustedCertificate);
  return { keys: formatInputs(store.keys), ...defined({ certificates }) };
}

/** One store with what all of these contain. @throws DrillproofError `trust.KEY_DUPLICATE` */
export const joinTrust = (stores: readonly TrustStore[]): TrustStore =>
  trustStore(
    stores.flatMap(({ keys }) => keys),
    stores.flatMap(({ certificates = [] }) => certificates),
  );

/** The arguments that make a store again, in another thread too. */
export type Trusted = readonly [keys: readonly TrustedKey[], certificates?: readonly TrustedCertificate[]];
export const listTrusted = ({ keys, certificates }: TrustStore): Trusted =>
  certificates === undefined ? [keys] : [keys, certificates];

/** The number of different keys: one point counts once, whatever its names (formats §3). */
export const countDistinctKeys = (keys: readonly TrustedKey[]): number =>
  keys.length < 2 ? keys.length : new Set(keys.map(thumbprintOf)).size;

function buildStore(items: readonly JsonValue[], rows: readonly JsonValue[], faults: KeyFault[]): TrustStore {
  const index = new Map<string, Map<string, TrustedKey>>(); // maps, so no name is special
  for (const [at, item] of items.entries()) {
    const path = extendPointer('/keys', at);
    const read = readTrustedKey(item, path);
    if ('faults' in read) faults.push(...read.faults);
    else if (!addToIndex(index, read.key))
      faults.push({
        code: 'trust.KEY_DUPLICATE',
        path,
        message: `the ${formatKeyName(read.key)} appears twice`,
      });
  }
  const listed = readCertificates(rows, faults);
  if (faults.length > 0) throw faultError(faults);
  if (items.length + rows.length === 0)
    throw new DrillproofError('trust.STORE_EMPTY', 'the trust store holds no key');
  const keys = [...index.values()].flatMap((named) => [...named.values()]).toSorted(compareNames);
  const certificates = listed.length === 0 ? undefined : listed;
  const store: TrustStore = {
    keys,
    ...defined({ certificates }),
    fingerprint: digestOf(
      canonicalBytes(
        defined({
          keys: keys.map(formatTrustedKey),
          certificates: certificates?.map(formatTrustedCertificate),
        }),
      ),
    ),
    find: (issuer, keyId) => index.get(issuer)?.get(keyId),
  };
  made.add(store);
  return store;
}

/** Sorted by issuer and digest. One certificate has one row, whatever its issuer, so that it has one set of limits. */
function readCertificates(rows: readonly JsonValue[], faults: KeyFault[]): readonly TrustedCertificate[] {
  const byId = new Map<Digest, TrustedCertificate>();
  for (const [at, row] of rows.entries()) {
    const path = extendPointer('/certificates', at);
    const read = readTrustedCertificate(row, path);
    if ('faults' in read) {
      faults.push(...read.faults);
      continue;
    }
    const id = certificateIdOf(read.certificate);
    if (byId.has(id))
      faults.push({ code: 'trust.KEY_DUPLICATE', path, message: `the certificate ${id} appears twice` });
    byId.set(id, read.certificate);
  }
  return [...byId]
    .toSorted(([idA, a], [idB, b]) => compareUtf8(a.issuer, b.issuer) || compareUtf8(idA, idB))
    .map(([, certificate]) => certificate);
}

function addToIndex(index: Map<string, Map<string, TrustedKey>>, key: TrustedKey): boolean {
  const named = index.get(key.issuer) ?? new Map<string, TrustedKey>();
  if (named.has(key.keyId)) return false;
  index.set(key.issuer, named.set(key.keyId, key));
  return true;
}

const compareNames = (a: TrustedKey, b: TrustedKey): number =>
  compareUtf8(a.issuer, b.issuer) || compareUtf8(a.keyId, b.keyId);
