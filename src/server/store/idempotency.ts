import { DrillproofError } from '../../errors.ts';
import { column, defineTable, type Dialect, inProject, type RowOf, type Sql } from './table.ts';

const requests = defineTable({
  name: 'idempotency',
  key: ['organizationId', 'projectId', 'operation', 'idempotencyKey'],
  columns: {
    ...inProject,
    operation: column.text,
    idempotencyKey: column.text,
    requestHash: column.digest,
    /** JSON text; empty only within the transaction that claims the key. */
    response: column.text,
    createdAtMs: column.integer,
    /** The key is free again from this time on. */
    expiresAtMs: column.integer,
  },
});
/** Within the scope of its key, it means one request of any token (control API, Idempotency). */
export type IdempotencyRow = RowOf<typeof requests>;

const KEY = 'organization_id, project_id, operation, idempotency_key';
// One statement, so that the database lets one of two simultaneous requests claim the key.
const CLAIM_AGAIN = `
  ON CONFLICT (${KEY}) DO UPDATE
  SET request_hash = excluded.request_hash, response = excluded.response, created_at_ms = excluded.created_at_ms,
    expires_at_ms = excluded.expires_at_ms
  WHERE idempotency.expires_at_ms <= excluded.created_at_ms`;

export const createIdempotencyReads = (sql: Sql) => ({ idempotency: requests.reads(sql) });

export const createIdempotencyWrites = (sql: Sql, dialect: Dialect) => ({
  idempotency: {
    /**
     * Writes a claim if the key was never used or has expired, else returns the stored row. Waits for a transaction that
     * claims the same key at the same time.
     */
    claim: async (claim: IdempotencyRow): Promise<IdempotencyRow | undefined> => {
      if ((await requests.insert(sql, claim, { after: CLAIM_AGAIN })) > 0) return undefined;
      const { organizationId, projectId, operation, idempotencyKey } = claim;
      const { find } = requests.reads(sql);
      const stored = await find(organizationId, projectId, operation, idempotencyKey);
      if (stored !== undefined) return stored;
      throw new DrillproofError('control.UNAVAILABLE', 'the idempotency record was removed at the same time');
    },
    complete: requests.writes(sql, dialect).update,
  },
});
