import { platform } from '#platform';
import { fromBase64url, toBase64url } from '../../bytes/text/encoding.ts';
import type { JsonObject, JsonValue } from '../../bytes/json/parse.ts';
import { DrillproofError } from '../../errors.ts';
import { extendPointer, type KeyFault, listUnknownMembers } from '../faults.ts';

/** The operation of a key: a public key verifies, and a private key signs. */
export type KeyOperation = 'verify' | 'sign';

type Members = ReadonlyMap<string, JsonValue>;

/** A P-256 public key as the members that every JWK of it has (RFC 7518 §6.2.1). */
type EcJwk = { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string };

// Members of RFC 7517 §4 and of Web Crypto that do not restrict the key. Certificates are ignored, because a key is only
// trusted if it is in the store.
const IGNORED = ['kid', 'ext', 'x5u', 'x5c', 'x5t', 'x5t#S256'];
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];
const PINNED = [
  ['kty', 'EC'],
  ['crv', 'P-256'],
  ['alg', 'ES256'],
  ['use', 'sig'],
] as const;
const KNOWN = ['x', 'y', 'key_ops', ...PINNED.map(([name]) => name), ...IGNORED];

/** The members of an uncompressed point. */
export function formatEcJwk(point: Uint8Array): EcJwk {
  if (point.length !== 65) throw new TypeError('a point is 65 bytes, uncompressed');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)];
  return { kty: 'EC', crv: 'P-256', x: toBase64url(x), y: toBase64url(y) };
}

/**
 * The uncompressed point of a JWK of an EC P-256 key, or every fault of it. Curve, algorithm, use and operations are
 * checked. Names in `extensions` are allowed in addition to those of RFC 7517.
 */
export function readEcJwk(
  jwk: JsonObject,
  operation: KeyOperation,
  path = '',
  extensions: ReadonlySet<string> = new Set(),
): { point: Uint8Array } | { faults: readonly KeyFault[] } {
  const members: Members = new Map(Object.entries(jwk)); // own members only, whatever their names
  const faults = [
    ...(operation === 'verify' ? listPrivateFaults(members, path) : []),
    ...listKindFaults(members, operation, path),
    ...listUnknownFaults(members, operation, extensions, path),
  ];
  const point = faults.length === 0 ? readPoint(members, path, faults) : undefined;
  return point === undefined ? { faults } : { point };
}

/** The 32 bytes of a member, such as a coordinate or the private scalar; adds a fault for anything else. */
export function readFieldElement(
  value: JsonValue | undefined,
  path: string,
  faults: KeyFault[],
): Uint8Array | undefined {
  try {
    const bytes = typeof value === 'string' ? fromBase64url(value) : new Uint8Array();
    if (bytes.length === 32) return bytes;
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
  }
  faults.push({ code: 'trust.KEY_INVALID', path, message: `${path} is not base64url of 32 bytes` });
  return undefined;
}

function listPrivateFaults(members: Members, path: string): KeyFault[] {
  return PRIVATE.filter((name) => members.has(name)).map((name) => ({
    code: 'trust.KEY_PRIVATE',
    path: extendPointer(path, name),
    message: `the JWK has the private member "${name}"`,
  }));
}

function listKindFaults(members: Members, operation: KeyOperation, path: string): KeyFault[] {
  const faults: KeyFault[] = [];
  for (const [name, wanted] of PINNED) {
    const value = members.get(name);
    const optional = name === 'alg' || name === 'use';
    if (value === wanted || (value === undefined && optional)) continue;
    const code = typeof value === 'string' ? 'trust.KEY_UNSUPPORTED' : 'trust.KEY_INVALID';
    const actual = value === undefined ? 'is absent' : `is ${JSON.stringify(value)}`;
    faults.push({ code, path: extendPointer(path, name), message: `"${name}" ${actual}, not "${wanted}"` });
    if (name === 'kty') break; // the members of another kind of key mean other things
  }
  const operations = members.get('key_ops');
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes(operation))) {
    const message = `"key_ops" does not allow "${operation}"`;
    faults.push({ code: 'trust.KEY_UNSUPPORTED', path: extendPointer(path, 'key_ops'), message });
  }
  return faults;
}

function readPoint(members: Members, path: string, faults: KeyFault[]): Uint8Array | undefined {
  const x = readFieldElement(members.get('x'), extendPointer(path, 'x'), faults);
  const y = readFieldElement(members.get('y'), extendPointer(path, 'y'), faults);
  if (x === undefined || y === undefined) return undefined;
  try {
    return platform.p256.uncompress(Uint8Array.of(4, ...x, ...y));
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    faults.push({ code: error.code, path, message: error.message });
    return undefined;
  }
}

function listUnknownFaults(
  members: Members,
  operation: KeyOperation,
  extensions: ReadonlySet<string>,
  path: string,
): KeyFault[] {
  if (members.get('kty') !== 'EC') return []; // other kinds of keys have their own members
  const allowed = new Set([...KNOWN, ...extensions, ...(operation === 'sign' ? ['d'] : PRIVATE)]);
  const unknown = [...members.keys()].filter((name) => !allowed.has(name));
  return listUnknownMembers('trust.KEY_INVALID', path, unknown);
}
