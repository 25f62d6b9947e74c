import { DrillproofError } from '../../errors.ts';
import { column, defineTable, findRow, inProject, insertRow, type RowOf, type Sql } from './table.ts';

const scope = {
  ...inProject,
  principalId: column.text,
  /** Name in the table of operations. */
  operation: column.text,
  idempotencyKey: column.text,
};

const requests = defineTable({
  name: 'idempotency',
  key: ['organizationId', 'projectId', 'principalId', 'operation', 'idempotencyKey'],
  columns: {
    ...scope,
    requestHash: column.digest,
    /** `in_progress`: a holder works on it until its lease ends. `done`: the effect is committed, with this answer. */
    status: column.oneOf('in_progress', 'done'),
    holder: column.text,
    leaseUntilMs: column.integer,
    /** JSON text; present when done. */
    response: column.optional(column.text),
    createdAtMs: column.integer,
    /** From then on the key is free again. */
    expiresAtMs: column.integer,
  },
});
export type IdempotencyRow = RowOf<typeof requests>;

/** Within this scope a key means one request (control API, Idempotency). */
export type IdempotencyScope = Pick<IdempotencyRow, keyof typeof scope>;

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
const scopeOf = (row: IdempotencyScope): IdempotencyScope =>
  Object.fromEntries(requests.key.map((name) => [name, row[name]])) as IdempotencyScope;

const KEY = 'organization_id, project_id, principal_id, operation, idempotency_key';
const PURGE = `DELETE FROM idempotency WHERE (${KEY}) IN
  (SELECT ${KEY} FROM idempotency WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?)`;

export const idempotencyReads = (sql: Sql) => ({
  idempotency: { find: (row: IdempotencyScope) => findRow(sql, requests, scopeOf(row)) },
});

export const idempotencyWrites = (sql: Sql) => ({
  idempotency: {
    /**
     * Writes a claim where the key is free: never used, expired, or its holder's lease is over. Otherwise returns the
     * row that is stored. A transaction that claims the same key at the same time is waited for.
     */
    claim: async (claim: IdempotencyRow): Promise<IdempotencyRow | undefined> => {
      if ((await insertRow(sql, requests, claim, { after: CLAIM_AGAIN })) > 0) return undefined;
      const stored = await findRow(sql, requests, scopeOf(claim));
      if (stored === undefined)
        throw new DrillproofError(
          'control.UNAVAILABLE',
          'the idempotency record was removed at the same time',
        );
      return stored;
    },
    /** Writes the answer of a claim; `false` when the claim was lost, so commit nothing. */
    complete: async (
      row: IdempotencyScope,
      holder: string,
      { response, expiresAtMs }: { readonly response: string; readonly expiresAtMs: number },
    ) => {
      const statement = `UPDATE idempotency SET status = 'done', response = ?, expires_at_ms = ? WHERE ${HELD}`;
      return (await sql.run(statement, response, expiresAtMs, ...Object.values(scopeOf(row)), holder)) === 1;
    },
    /** Removes at most `limit` expired rows; returns how many. */
    purge: (nowMs: number, limit: number) => sql.run(PURGE, nowMs, limit),
  },
});
