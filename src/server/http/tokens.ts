import crypto, { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Permission } from '../../contract/operations/operations.ts';
import { DrillproofError } from '../../errors.ts';
import type { Log } from '../model/log.ts';
import type { Reads, Store, TokenRow } from '../store/store.ts';

export type Principal = {
  /** The id of a stored token, or one that is derived from an identity of OpenID Connect. */
  readonly tokenId: string;
  /** That identity: its issuer and its subject. */
  readonly identity?: string;
  readonly organizationId: string;
  readonly projects: readonly string[] | 'all';
  readonly permissions: readonly Permission[];
};

const TOKEN = /^dp_[A-Za-z0-9_-]{43}$/;
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const AUTHORIZATION = /^bearer +(\S+) *$/i;

/** Generates a token: `dp_` and 256 random bits in base64url. It is shown once and never stored. */
export const generateToken = (): string => `dp_${randomBytes(32).toString('base64url')}`;

/** The stored hash of a token, its SHA-256 in hex. 256 random bits need no slow hash. */
export const tokenHash = (token: string): string => crypto.hash('sha256', token);

const sameText = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

export const isLive = (row: TokenRow, nowMs: number): boolean =>
  row.revokedAtMs === undefined && (row.expiresAtMs === undefined || nowMs < row.expiresAtMs);

/** The refusal of a token, the same for each reason. The log has the cause. */
export const unauthenticated = (cause?: unknown): DrillproofError =>
  new DrillproofError('control.UNAUTHENTICATED', 'a valid bearer token is required', { cause });

/**
 * Reads the principal of a request, each time, so that a revocation applies at once. A malformed token is refused without
 * reading the store. Two Authorization headers are joined by a comma, which no token contains.
 * @param verifyIdentity verifies a JWT (`createOidc`); without it, all of them are refused
 * @throws DrillproofError `control.UNAUTHENTICATED`; what `verifyIdentity` throws
 */
export async function authenticate(
  store: Reads,
  authorization: string | undefined,
  nowMs: number,
  verifyIdentity?: (jwt: string, nowMs: number) => Promise<Principal>,
): Promise<TokenRow | Principal> {
  const token = AUTHORIZATION.exec(authorization ?? '')?.[1] ?? '';
  if (!TOKEN.test(token)) {
    if (verifyIdentity === undefined || !JWT.test(token)) throw unauthenticated();
    return verifyIdentity(token, nowMs);
  }
  const hash = tokenHash(token);
  const row = await store.tokens.findByHash(hash);
  if (row === undefined || !sameText(row.tokenHash, hash) || !isLive(row, nowMs)) throw unauthenticated();
  return row;
}

const USE_EVERY_MS = 60_000;
const WRITE_AFTER_MS = 1_000;

/**
 * Writes when each token was last used: after its requests, at most once a minute, and for all tokens together, so that
 * no request waits for it. A process that is killed loses the uses of its last second.
 */
export function createUses(store: Store, log: Log) {
  let uses = new Map<string, number>();
  const write = async (): Promise<void> => {
    const pairs = [...uses].toSorted(([a], [b]) => (a < b ? -1 : 1)); // in one order, so that two servers never deadlock
    uses = new Map();
    if (pairs.length === 0) return;
    try {
      await store.transaction(async (tx) => {
        for (const [tokenId, usedAtMs] of pairs) await tx.tokens.use(tokenId, usedAtMs);
      });
    } catch (error) {
      log({ level: 'warn', event: 'tokens.use_not_written', error });
    }
  };
  return {
    note({ tokenId, lastUsedAtMs = 0 }: Pick<TokenRow, 'tokenId' | 'lastUsedAtMs'>, nowMs: number): void {
      if (nowMs - lastUsedAtMs < USE_EVERY_MS) return;
      if (uses.size === 0) setTimeout(() => void write(), WRITE_AFTER_MS).unref();
      uses.set(tokenId, nowMs);
    },
    write,
  };
}
