import { isDigest } from '../blobs/digest.ts';
import { DrillproofError } from '../../errors.ts';
import { integer, text } from './columns.ts';
import { rowsOf, type Columns } from './statements.ts';
import type { Sql, SqlRow } from './sql.ts';
import type { IdempotencyRow, IdempotencyScope, WorkReads, WorkWrites } from './work.ts';

const scopeColumns = (scope: IdempotencyScope): Columns => ({
  organization_id: scope.organizationId,
  project_id: scope.projectId,
  principal_id: scope.principalId,
  operation: scope.operation,
  idempotency_key: scope.key,
});

function idempotencyRow(row: SqlRow): IdempotencyRow {
  const requestHash = text(row, 'request_hash');
  const status = text(row, 'status');
  if (!isDigest(requestHash) || (status !== 'in_progress' && status !== 'done')) {
    throw new DrillproofError('internal.BUG', 'an idempotency record of the store has another form');
  }
  return {
    organizationId: text(row, 'organization_id'),
    projectId: text(row, 'project_id'),
    principalId: text(row, 'principal_id'),
    operation: text(row, 'operation'),
    key: text(row, 'idempotency_key'),
    requestHash,
    status,
    holder: text(row, 'holder'),
    leaseUntilMs: integer(row, 'lease_until_ms'),
    ...(row['response'] !== null && { response: text(row, 'response') }),
    createdAtMs: integer(row, 'created_at_ms'),
    expiresAtMs: integer(row, 'expires_at_ms'),
  };
}

export const idempotencyReads = (sql: Sql): Pick<WorkReads, 'idempotency'> => ({
  idempotency: async (scope) =>
    (await rowsOf(sql, idempotencyRow, { table: 'idempotency', key: scopeColumns(scope) }))[0],
});

const SAME_SCOPE =
  'organization_id = ? AND project_id = ? AND principal_id = ? AND operation = ? AND idempotency_key = ?';

// One statement, so that of two requests that arrive together the database lets one claim.
const CLAIM = `
  INSERT INTO idempotency (organization_id, project_id, principal_id, operation, idempotency_key,
    request_hash, status, holder, lease_until_ms, created_at_ms, expires_at_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (organization_id, project_id, principal_id, operation, idempotency_key) DO UPDATE
  SET request_hash = excluded.request_hash, status = excluded.status, holder = excluded.holder,
    lease_until_ms = excluded.lease_until_ms, response = NULL, created_at_ms = excluded.created_at_ms,
    expires_at_ms = excluded.expires_at_ms
  WHERE idempotency.expires_at_ms <= excluded.created_at_ms
    OR (idempotency.status = 'in_progress' AND idempotency.lease_until_ms <= excluded.created_at_ms)`;

type IdempotencyWrites = Pick<
  WorkWrites,
  'claimIdempotency' | 'completeIdempotency' | 'releaseIdempotency' | 'purgeIdempotency'
>;

export const idempotencyWrites = (sql: Sql): IdempotencyWrites => ({
  async claimIdempotency(claim) {
    const { requestHash, status, holder, leaseUntilMs, createdAtMs, expiresAtMs } = claim;
    const scope = Object.values(scopeColumns(claim));
    await sql.run(CLAIM, ...scope, requestHash, status, holder, leaseUntilMs, createdAtMs, expiresAtMs);
    const standing = await idempotencyReads(sql).idempotency(claim);
    if (standing === undefined)
      throw new DrillproofError('internal.BUG', 'an idempotency record was not kept');
    return standing;
  },
  completeIdempotency: async (scope, holder, { response, expiresAtMs }) =>
    (await sql.run(
      `UPDATE idempotency SET status = 'done', response = ?, expires_at_ms = ?
       WHERE ${SAME_SCOPE} AND holder = ? AND status = 'in_progress'`,
      response,
      expiresAtMs,
      ...Object.values(scopeColumns(scope)),
      holder,
    )) === 1,
  releaseIdempotency: async (scope, holder) => {
    await sql.run(
      `DELETE FROM idempotency WHERE ${SAME_SCOPE} AND holder = ? AND status = 'in_progress'`,
      ...Object.values(scopeColumns(scope)),
      holder,
    );
  },
  purgeIdempotency: (nowMs) => sql.run('DELETE FROM idempotency WHERE expires_at_ms <= ?', nowMs),
});
