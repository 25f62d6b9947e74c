import * as z from 'zod/mini';
import { permissions, type Permission } from '../../contract/operations/operations.ts';
import {
  type Codec,
  column,
  defineTable,
  type Dialect,
  inProject,
  findRow,
  type RowOf,
  type Sql,
} from './table.ts';

const organizations = defineTable({
  name: 'organizations',
  key: ['organizationId'],
  columns: {
    organizationId: column.text,
    name: column.text,
    createdAtMs: column.integer,
    /** Entitlement: the longest lifetime of its sessions, in milliseconds (default: the limit of the API). */
    maxSessionTtlMs: column.optional(column.integer),
    /** Quotas: bytes that are stored or announced, unfinished operations, and unfinished uploads (default: no limit). */
    maxStoredBytes: column.optional(column.integer),
    maxOperations: column.optional(column.integer),
    maxUploads: column.optional(column.integer),
  },
});
export type OrganizationRow = RowOf<typeof organizations>;

const projects = defineTable({
  name: 'projects',
  key: ['projectId'],
  columns: { ...inProject, name: column.text, createdAtMs: column.integer },
});
export type ProjectRow = RowOf<typeof projects>;

const list = column.json<readonly string[]>(z.array(z.string()));
const listOrAll: Codec<readonly string[] | 'all'> = {
  names: list.names,
  read: (row, name) => (row[name] === '"all"' ? 'all' : list.read(row, name)),
  write: (value) => [JSON.stringify(value)],
};

const tokens = defineTable({
  name: 'tokens',
  key: ['tokenId'],
  columns: {
    tokenId: column.text,
    /** For people. */
    name: column.optional(column.text),
    /** Hex SHA-256 of the text of the token, which is never stored itself. */
    tokenHash: column.text,
    organizationId: column.text,
    projects: listOrAll,
    permissions: column.json<readonly Permission[]>(z.array(z.enum(permissions))),
    createdAtMs: column.integer,
    expiresAtMs: column.optional(column.integer),
    revokedAtMs: column.optional(column.integer),
    /** Written once a minute at most, and after the request. */
    lastUsedAtMs: column.optional(column.integer),
  },
});
export type TokenRow = RowOf<typeof tokens>;
const BY_HASH = `SELECT ${tokens.columns} FROM tokens WHERE token_hash = ?`;

export const createTenantReads = (sql: Sql) => ({
  organizations: {
    ...organizations.reads(sql),
    list: () => organizations.list(sql, 'true ORDER BY organization_id'),
  },
  projects: {
    ...projects.reads(sql),
    list: (organizationId: string) =>
      projects.list(sql, 'organization_id = ? ORDER BY project_id', organizationId),
  },
  tokens: {
    ...tokens.reads(sql),
    findByHash: (tokenHash: string) => findRow(sql, tokens.toRow, BY_HASH, [tokenHash]),
    list: (organizationId: string) =>
      tokens.list(sql, 'organization_id = ? ORDER BY token_id', organizationId),
  },
});

const REVOKE = 'UPDATE tokens SET revoked_at_ms = ? WHERE token_id = ? AND revoked_at_ms IS NULL';
const REVOKE_ALL = 'UPDATE tokens SET revoked_at_ms = ? WHERE organization_id = ? AND revoked_at_ms IS NULL';
const USE = `UPDATE tokens SET last_used_at_ms = ? WHERE token_id = ? AND coalesce(last_used_at_ms, 0) < ?`;

export const createTenantWrites = (sql: Sql, dialect: Dialect) => ({
  organizations: organizations.writes(sql, dialect),
  projects: projects.writes(sql, dialect),
  tokens: {
    ...tokens.writes(sql, dialect),
    /** Returns whether the token exists and was not revoked before. */
    revoke: async (tokenId: string, revokedAtMs: number) =>
      (await sql.run(REVOKE, revokedAtMs, tokenId)) === 1,
    /** Revokes every token of an organization; returns how many were not revoked before. */
    revokeAll: (organizationId: string, revokedAtMs: number) =>
      sql.run(REVOKE_ALL, revokedAtMs, organizationId),
    use: (tokenId: string, usedAtMs: number) => sql.run(USE, usedAtMs, tokenId, usedAtMs),
  },
});
