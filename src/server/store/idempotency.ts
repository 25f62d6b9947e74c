import { DrillproofError } from '../../errors.ts';
import {
  column,
  defineTable,
  type Dialect,
  findRow,
  inProject,
  insertRow,
  type RowOf,
  rowWrites,
  type Sql,
} from './table.ts';

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
    /** JSON text; empty only within the transaction that claims the key. */
    response: column.text,
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
  SET request_hash = excluded.request_hash, response = excluded.response, created_at_ms = excluded.created_at_ms,
    expires_at_ms = excluded.expires_at_ms
  WHERE idempotency.expires_at_ms <= excluded.created_at_ms`;

const scopeOf = (row: IdempotencyScope): IdempotencyScope =>
  Object.fromEntries(requests.key.map((name) => [name, row[name]])) as IdempotencyScope;

const KEY = 'organization_id, project_id, principal_id, operation, idempotency_key';
const PURGE = `DELETE FROM idempotency WHERE (${KEY}) IN
  (SELECT ${KEY} FROM idempotency WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?)`;

export const idempotencyReads = (sql: Sql) => ({
  idempotency: { find: (row: IdempotencyScope) => findRow(sql, requests, scopeOf(row)) },
});

export const idempotencyWrites = (sql: Sql, dialect: Dialect) => ({
  idempotency: {
    /**
     * Writes a claim where the key is free: never used, or expired. Otherwise returns the row that is stored. A
     * transaction that claims the same key at the same time is waited for.
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
    /** Writes the answer of a claim, in the transaction of the claim. */
    complete: rowWrites(sql, requests, dialect).update,
    /** Removes at most `limit` expired rows; returns how many. */
    purge: (nowMs: number, limit: number) => sql.run(PURGE, nowMs, limit),
  },
});
