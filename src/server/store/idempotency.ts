import { DrillproofError } from '../../errors.ts';
import {
  column,
  defineTable,
  type Dialect,
  findRow,
  inProject,
  insertRow,
  type RowOf,
  createRowWrites,
  type Sql,
} from './table.ts';

const scope = {
  ...inProject,
  /** Name in the table of operations. */
  operation: column.text,
  idempotencyKey: column.text,
};

const requests = defineTable({
  name: 'idempotency',
  key: ['organizationId', 'projectId', 'operation', 'idempotencyKey'],
  columns: {
    ...scope,
    requestHash: column.digest,
    /** JSON text; empty only within the transaction that claims the key. */
    response: column.text,
    createdAtMs: column.integer,
    /** The key is free again from this time on. */
    expiresAtMs: column.integer,
  },
});
export type IdempotencyRow = RowOf<typeof requests>;

/** Within this scope a key means one request of any token (control API, Idempotency). */
export type IdempotencyScope = Pick<IdempotencyRow, keyof typeof scope>;

const KEY = 'organization_id, project_id, operation, idempotency_key';
// One statement, so that the database lets one of two simultaneous requests claim the key.
const CLAIM_AGAIN = `
  ON CONFLICT (${KEY}) DO UPDATE
  SET request_hash = excluded.request_hash, response = excluded.response, created_at_ms = excluded.created_at_ms,
    expires_at_ms = excluded.expires_at_ms
  WHERE idempotency.expires_at_ms <= excluded.created_at_ms`;

const find = (sql: Sql, request: IdempotencyScope): Promise<IdempotencyRow | undefined> => {
  const values = requests.key.map((name) => request[name]);
  return findRow(sql, requests.toRow, requests.byKey, values);
};

export const createIdempotencyReads = (sql: Sql) => ({
  idempotency: { find: (row: IdempotencyScope) => find(sql, row) },
});

export const createIdempotencyWrites = (sql: Sql, dialect: Dialect) => ({
  idempotency: {
    /**
     * Writes a claim if the key was never used or has expired, else returns the stored row. Waits for a transaction that
     * claims the same key at the same time.
     */
    claim: async (claim: IdempotencyRow): Promise<IdempotencyRow | undefined> => {
      if ((await insertRow(sql, requests, claim, { after: CLAIM_AGAIN })) > 0) return undefined;
      const stored = await find(sql, claim);
      if (stored !== undefined) return stored;
      throw new DrillproofError('control.UNAVAILABLE', 'the idempotency record was removed at the same time');
    },
    /** Writes the answer of a claim, in the transaction of the claim. */
    complete: createRowWrites(sql, requests, dialect).update,
  },
});
