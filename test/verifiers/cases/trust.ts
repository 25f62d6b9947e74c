import type { JsonObject, JsonValue } from '../../../src/bytes/json/parse.ts';
import { ORGANIZATION, PROJECT, T } from '../../../vectors/make/bundle.ts';
import { ISSUER, storeKey } from '../../../vectors/make/keys.ts';
import type { Random } from './random.ts';

export type Store = { readonly keys: readonly JsonObject[] };

/** A time around that of the statements: the boundaries, one millisecond next to them, and far away. */
export const makeTime = (random: Random): number =>
  T + random.pick([-1, -1, 0, 0, 1, 1, 2, -2, 100, -100, -20_000, 1_000_000_000]);

function editPeriod(random: Random, key: JsonObject): JsonObject {
  const time = makeTime(random);
  const compromised = random.once(2);
  return random.pick<() => JsonObject>([
    () => ({ ...key, notBeforeMs: time }),
    () => ({ ...key, notAfterMs: time }),
    () => ({ ...key, notBeforeMs: time, notAfterMs: makeTime(random) }),
    () => ({ ...key, revokedAtMs: time }),
    () => ({ ...key, revokedAtMs: time, compromised }),
    () => ({ ...key, revokedAtMs: time, compromised: false }),
    () => ({ ...key, compromised }),
  ])();
}

const PURPOSES = ['evidence', 'export', 'summary', 'receipt', 'report', 'other'] as const;

function editScope(random: Random, key: JsonObject): JsonObject {
  const list = <T>(...items: readonly [T, ...T[]]): T[] =>
    Array.from({ length: random.below(4) }, () => random.pick(items));
  return random.pick<() => JsonObject>([
    () => ({ ...key, purposes: list(...PURPOSES) }),
    () => ({ ...key, purposes: ['export', 'evidence', ...list(...PURPOSES)] }),
    () => ({ ...key, projects: list(PROJECT, 'prj_000000000002', '') }),
    () => ({ ...key, organizations: list(ORGANIZATION, 'org_000000000002') }),
    () => ({ ...key, projects: [PROJECT, 'prj_000000000002'], organizations: [ORGANIZATION] }),
    () => ({ ...key, issuer: random.pick(['other', ISSUER.toUpperCase(), `${ISSUER}/`]) }),
  ])();
}

/** A member that is text, unless an edit before changed that. */
const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

const swapped = ({ x = '', y = '', ...rest }: JsonObject): JsonObject => ({ ...rest, x: y, y: x });

function editMembers(random: Random, key: JsonObject): JsonObject {
  const operations = random.pick<JsonValue>([
    ['verify'],
    ['sign', 'verify'],
    ['sign'],
    ['verify', 'verify'],
    [],
    'verify',
  ]);
  return random.pick<() => JsonObject>([
    () => ({ ...key, ext: random.pick<JsonValue>([true, false, 'true', null]) }),
    () => ({ ...key, key_ops: operations }),
    () => ({ ...key, x5c: random.pick<JsonValue>([['MAA='], [], 'MAA=', null]), x5t: 'AA' }),
    () => ({ ...key, 'x5t#S256': 'AA', x5u: 'https://example.com/' }),
    () => ({ ...key, fromCertificate: random.pick([true, false]) }),
    () => ({ ...key, d: 'AA' }),
    () => ({ ...key, alg: random.pick(['ES256', 'ES384', 'none']), use: random.pick(['sig', 'enc']) }),
    () => swapped(key),
    () => ({ ...key, x: `${textOf(key['x'])}${random.pick<string>(['=', 'A', ''])}` }),
  ])();
}

/** A trust store after one edit of a key, or with one key more or less. */
export function editStore(random: Random, { keys }: Store): Store {
  const at = random.below(keys.length);
  const key = keys[at] ?? storeKey('a');
  const edits = [editPeriod, editPeriod, editPeriod, editScope, editScope, editScope, editMembers] as const;
  const edited = random.pick(edits)(random, key);
  const other = random.pick(edits)(random, { ...key, kid: random.pick(['other', textOf(key['kid'])]) });
  return {
    keys: random.pick([
      () => keys.toSpliced(at, 1, edited),
      () => keys.toSpliced(at, 1, edited),
      () => keys.toSpliced(at, 1, edited),
      () => keys.toSpliced(at, 1, edited),
      () => [...keys, other],
      () => [{ ...other, issuer: 'other' }, ...keys],
      () => [...keys, storeKey('b', { purposes: ['evidence', 'export'] })],
      () => [storeKey('b')],
      () => [],
    ])(),
  };
}
