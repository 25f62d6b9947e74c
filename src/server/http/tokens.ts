import crypto, { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Permission } from '../../contract/operations/operations.ts';
import { DrillproofError } from '../../errors.ts';
import type { Reads, TokenRow } from '../store/store.ts';

export type Principal = {
  readonly tokenId: string;
  readonly organizationId: string;
  readonly projects: readonly string[] | 'all';
  readonly permissions: readonly Permission[];
};

const TOKEN = /^dp_[A-Za-z0-9_-]{43}$/;
const AUTHORIZATION = /^bearer +(\S+) *$/i;

/** Generates a token: `dp_` and 256 random bits in base64url. It is shown once and never stored. */
export const generateToken = (): string => `dp_${randomBytes(32).toString('base64url')}`;

/** The stored hash of a token, its SHA-256 in hex. 256 random bits need no slow hash. */
export const tokenHash = (token: string): string => crypto.hash('sha256', token);

/** Parses an Authorization header. Two headers are joined by a comma, which no token contains. */
function parseBearer(authorization: string | undefined): string | undefined {
  const token = authorization === undefined ? undefined : AUTHORIZATION.exec(authorization)?.[1];
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

const sameText = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const isLive = (row: TokenRow, nowMs: number): boolean =>
  row.revokedAtMs === undefined && (row.expiresAtMs === undefined || nowMs < row.expiresAtMs);

/**
 * Reads the principal of a request, each time, so that a revocation applies at once. A malformed token is refused without
 * reading the store.
 * @throws DrillproofError `control.UNAUTHENTICATED`, the same for each reason
 */
export async function authenticate(
  store: Reads,
  authorization: string | undefined,
  nowMs: number,
): Promise<Principal> {
  const token = parseBearer(authorization);
  const hash = token === undefined ? undefined : tokenHash(token);
  const row = hash === undefined ? undefined : await store.tokens.findByHash(hash);
  if (row === undefined || hash === undefined || !sameText(row.tokenHash, hash) || !isLive(row, nowMs)) {
    throw new DrillproofError('control.UNAUTHENTICATED', 'a valid bearer token is required');
  }
  return row;
}
