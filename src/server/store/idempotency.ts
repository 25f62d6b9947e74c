import type { Digest } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { Sql } from './sql.ts';
import {
  digest,
  findRow,
  inProject,
  type InProject,
  insertRow,
  integer,
  oneOf,
  optional,
  table,
  text,
} from './table.ts';

/** Within this scope a key means one request (control API, Idempotency). */
export type IdempotencyScope = InProject & {
  readonly principalId: string;
  /** Name in the table of operations. */
  readonly operation: string;
  readonly idempotencyKey: string;
};

/** `in_progress`: a holder works on it until its lease ends. `done`: the effect is committed, with this answer. */
export type IdempotencyRow = IdempotencyScope & {
  readonly requestHash: Digest;
  readonly status: 'in_progress' | 'done';
  readonly holder: string;
  readonly leaseUntilMs: number;
  /** JSON text; present when done. */
  readonly response?: string;
  readonly createdAtMs: number;
  /** From then on the key is free again. */
  readonly expiresAtMs: number;
};

const requests = table<IdempotencyRow>({
  name: 'idempotency',
  key: ['organizationId', 'projectId', 'principalId', 'operation', 'idempotencyKey'],
  columns: {
    ...inProject,
    principalId: text,
    operation: text,
    idempotencyKey: text,
    requestHash: digest,
    status: oneOf('in_progress', 'done'),
    holder: text,
    leaseUntilMs: integer,
    response: optional(text),
    createdAtMs: integer,
    expiresAtMs: integer,
  },
});

const scopeOf = ({
  organizationId,
  projectId,
  principalId,
  operation,
  idempotencyKey,
}: IdempotencyScope): IdempotencyScope => ({
  organizationId,
  projectId,
  principalId,
  operation,
  idempotencyKey,
});

// One statement, so that the database lets one of two simultaneous requests claim the key.
const CLAIM_AGAIN = `
  ON CONFLICT (organization_id, project_id, principal_id, operation, idempotency_key) DO UPDATE
  SET request_hash = excluded.request_hash, status = excluded.status, holder = excluded.holder,
    lease_until_ms = excluded.lease_until_ms, response = NULL, created_at_ms = excluded.created_at_ms,
    expires_at_ms = excluded.expires_at_ms
  WHERE idempotency.expires_at_ms <= excluded.created_at_ms
    OR (idempotency.status = 'in_progress' AND idempotency.lease_until_ms <= excluded.created_at_ms)`;

const HELD = `organization_id = ? AND project_id = ? AND principal_id = ? AND operation = ? AND idempotency_key = ?
  AND holder = ? AND status = 'in_progress'`;

export const idempotencyReads = (sql: Sql) => ({
  idempotency: (scope: IdempotencyScope) => findRow(sql, requests, scopeOf(scope)),
});

export const idempotencyWrites = (sql: Sql) => ({
  /**
   * Writes a claim where the key is free: never used, expired, or its holder's lease is over. Returns the row that is
   * stored afterwards, which is the claim if its `holder` is the caller's.
   */
  claimIdempotency: async (claim: IdempotencyRow) => {
    await insertRow(sql, requests, claim, { after: CLAIM_AGAIN });
    const stored = await idempotencyReads(sql).idempotency(claim);
    if (stored === undefined)
      throw new DrillproofError('internal.BUG', 'an idempotency record was not stored');
    return stored;
  },
  /** Writes the answer of a claim; `false` when the claim was lost, so commit nothing. */
  completeIdempotency: async (
    scope: IdempotencyScope,
    holder: string,
    { response, expiresAtMs }: { readonly response: string; readonly expiresAtMs: number },
  ) =>
    (await sql.run(
      `UPDATE idempotency SET status = 'done', response = ?, expires_at_ms = ? WHERE ${HELD}`,
      response,
      expiresAtMs,
      ...Object.values(scopeOf(scope)),
      holder,
    )) === 1,
  /** Frees the key of a request that was rejected. */
  releaseIdempotency: async (scope: IdempotencyScope, holder: string) => {
    await sql.run(`DELETE FROM idempotency WHERE ${HELD}`, ...Object.values(scopeOf(scope)), holder);
  },
  /** Removes expired rows; returns how many. */
  purgeIdempotency: (nowMs: number) => sql.run('DELETE FROM idempotency WHERE expires_at_ms <= ?', nowMs),
});
