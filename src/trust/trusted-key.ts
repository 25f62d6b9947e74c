import * as z from 'zod/mini';
import { compareUtf8 } from '../bytes/text/encoding.ts';
import { defined } from '../bytes/arguments.ts';
import type { Digest } from '../bytes/hash.ts';
import { formatJsonPointer, type JsonObject, type JsonValue } from '../bytes/json/parse.ts';
import { msSchema, textSchema } from '../contract/scalars.ts';
import { typeValue } from '../contract/type-value.ts';
import { isObject, type KeyFault } from './faults.ts';
import { formatEcJwk, readEcJwk } from './key/jwk.ts';
import { keyIdOf } from './key/key.ts';

export const PURPOSES = ['evidence', 'export', 'summary', 'receipt', 'report', 'challenge'] as const;
/**
 * The kind of statement for which a key is trusted (formats §3): `evidence` for bundles, `export` for lists of bundles,
 * `summary` for verification summaries, `report` for signed reports, `challenge` for challenges. `receipt` is reserved: receipts are not signed yet.
 */
export type Purpose = (typeof PURPOSES)[number];

/**
 * A public key with the limits within which it is trusted (formats §3). Times are milliseconds since 1970, and the window
 * includes both ends.
 */
export type TrustedKey = {
  readonly issuer: string;
  /** The name of the key in statements, 1–256 characters; the issuer chooses it. */
  readonly keyId: string;
  /** The public key, uncompressed (65 bytes). */
  readonly point: Uint8Array;
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
  readonly revokedAtMs?: number;
  /**
   * If true (default), the revocation makes every statement invalid; if false, statements issued before `revokedAtMs` stay
   * valid. Ignored for a key that is not revoked.
   */
  readonly compromised: boolean;
  /** The projects for which it is valid; absent: any. */
  readonly projects?: readonly string[];
  /** The organizations for which it is valid; absent: any. */
  readonly organizations?: readonly string[];
  /** Default `['evidence']`. */
  readonly purposes: readonly Purpose[];
  /** The key and its window were taken from a certificate whose chain was not checked. */
  readonly fromCertificate?: boolean;
};

/** The issuer and key id of a key, for messages. */
export const formatKeyName = ({ issuer, keyId }: Pick<TrustedKey, 'issuer' | 'keyId'>): string =>
  `key ${JSON.stringify(keyId)} of issuer ${JSON.stringify(issuer)}`;

// The lengths that a statement may have for them (control API, Evidence bundle; formats §2).
const issuerSchema = textSchema(1, 1024);
/** The name of a key in statements. */
export const keyIdSchema = textSchema(1, 256);
const scopeId = textSchema(1, 128);
// An empty list could be read as "none" and as "any".
const nonEmptyList = <T extends string>(item: z.ZodMiniType<T>) => z.array(item).check(z.minLength(1));

/** Sorted without repeats, so that equal trust has equal bytes. */
const sortUnique = <T extends string>(items: readonly T[]): T[] => [...new Set(items)].toSorted(compareUtf8);

/** Our members in addition to those of RFC 7517. `use` and `alg` are optional there and required in a trust store. */
export const trustedKeySchema = z
  .object({
    use: z.string(),
    alg: z.string(),
    kid: keyIdSchema,
    issuer: issuerSchema,
    notBeforeMs: z.exactOptional(msSchema),
    notAfterMs: z.exactOptional(msSchema),
    revokedAtMs: z.exactOptional(msSchema),
    compromised: z.exactOptional(z.boolean()),
    projects: z.exactOptional(nonEmptyList(scopeId)),
    organizations: z.exactOptional(nonEmptyList(scopeId)),
    purposes: z.exactOptional(nonEmptyList(z.enum(PURPOSES))),
    fromCertificate: z.exactOptional(z.literal(true)),
  })
  .check(
    z.refine((key) => (key.notBeforeMs ?? -Infinity) <= (key.notAfterMs ?? Infinity), {
      path: ['notAfterMs'],
      message: 'the key ends before it begins',
    }),
    z.refine((key) => key.revokedAtMs !== undefined || key.compromised === undefined, {
      path: ['compromised'],
      message: 'only a revoked key can have compromised; add revokedAtMs',
    }),
  );
const EXTENSIONS: ReadonlySet<string> = new Set(Object.keys(trustedKeySchema.shape));

/** The key of one member of a trust store, or every rule that it breaks; `path` is its own JSON pointer. */
export function readTrustedKey(
  jwk: JsonValue,
  path: string,
): { key: TrustedKey } | { faults: readonly KeyFault[] } {
  if (!isObject(jwk))
    return { faults: [{ code: 'trust.STORE_INVALID', path, message: 'a key is an object' }] };
  const ec = readEcJwk(jwk, 'verify', path, EXTENSIONS);
  const members = typeValue(trustedKeySchema, jwk);
  if (members.success && 'point' in ec) {
    const { kid: keyId, use: _use, alg: _alg, compromised = true, ...rest } = members.data;
    const { projects, organizations, purposes = ['evidence'] } = rest;
    const scope = defined({
      projects: projects && sortUnique(projects),
      organizations: organizations && sortUnique(organizations),
      purposes: sortUnique(purposes),
    });
    return { key: Object.freeze({ ...rest, ...scope, keyId, point: ec.point, compromised }) };
  }
  const broken = (members.error?.issues ?? []).map((issue) => ({
    code: 'trust.STORE_INVALID' as const,
    path: path + formatJsonPointer(issue.path),
    message: issue.message,
  }));
  return { faults: [...('faults' in ec ? ec.faults : []), ...broken] };
}

// Few keys sign many bundles. A trusted key is frozen and never changes.
const thumbprints = new WeakMap<TrustedKey, Digest>();

/** The digest of the public key, which is the same whatever the key is called. */
export function thumbprintOf(key: TrustedKey): Digest {
  let thumbprint = thumbprints.get(key);
  if (thumbprint === undefined) thumbprints.set(key, (thumbprint = keyIdOf(key.point)));
  return thumbprint;
}

/** The members of a key in a trust store (formats §3). */
export function formatTrustedKey(key: TrustedKey): JsonObject {
  const { issuer, keyId, notBeforeMs, notAfterMs, revokedAtMs, projects, organizations } = key;
  return defined({
    ...formatEcJwk(key.point),
    use: 'sig',
    alg: 'ES256',
    kid: keyId,
    issuer,
    notBeforeMs,
    notAfterMs,
    revokedAtMs,
    compromised: revokedAtMs === undefined ? undefined : key.compromised,
    projects: projects && [...projects],
    organizations: organizations && [...organizations],
    purposes: [...key.purposes],
    fromCertificate: key.fromCertificate === true ? true : undefined,
  });
}
