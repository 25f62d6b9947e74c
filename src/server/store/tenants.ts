import * as z from 'zod';
import { type Permission, permissions } from '../../contract/index.ts';
import type { Sql } from './sql.ts';
import {
  findRow,
  inProject,
  type InProject,
  insertRow,
  integer,
  json,
  listRows,
  optional,
  table,
  text,
  updateRow,
} from './table.ts';

export type OrganizationRow = {
  readonly organizationId: string;
  readonly name: string;
  readonly createdAtMs: number;
  /** Entitlement: the longest lifetime of its sessions, in milliseconds (default: the limit of the API). */
  readonly maxSessionTtlMs?: number;
};

export type ProjectRow = InProject & { readonly name: string; readonly createdAtMs: number };

/** A credential. The token itself is never stored: `tokenHash` is the hex SHA-256 of its text. */
export type TokenRow = {
  readonly tokenId: string;
  readonly tokenHash: string;
  readonly organizationId: string;
  readonly projects: readonly string[] | 'all';
  readonly permissions: readonly Permission[];
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
};

const organizations = table<OrganizationRow>({
  name: 'organizations',
  key: ['organizationId'],
  columns: {
    organizationId: text,
    name: text,
    createdAtMs: integer,
    maxSessionTtlMs: optional(integer),
  },
});

const projects = table<ProjectRow>({
  name: 'projects',
  key: ['projectId'],
  columns: { ...inProject, name: text, createdAtMs: integer },
});

const tokens = table<TokenRow>({
  name: 'tokens',
  key: ['tokenId'],
  columns: {
    tokenId: text,
    tokenHash: text,
    organizationId: text,
    projects: json(z.union([z.literal('all'), z.array(z.string())])),
    permissions: json(z.array(z.enum(permissions))),
    createdAtMs: integer,
    expiresAtMs: optional(integer),
    revokedAtMs: optional(integer),
  },
});

export const tenantReads = (sql: Sql) => ({
  organization: (organizationId: string) => findRow(sql, organizations, { organizationId }),
  organizations: () => listRows(sql, organizations, 'SELECT * FROM organizations ORDER BY organization_id'),
  project: (projectId: string) => findRow(sql, projects, { projectId }),
  projects: (organizationId: string) =>
    listRows(
      sql,
      projects,
      'SELECT * FROM projects WHERE organization_id = ? ORDER BY project_id',
      organizationId,
    ),
  tokenByHash: (tokenHash: string) => findRow(sql, tokens, { tokenHash }),
  tokens: (organizationId: string) =>
    listRows(sql, tokens, 'SELECT * FROM tokens WHERE organization_id = ? ORDER BY token_id', organizationId),
});

export const tenantWrites = (sql: Sql) => ({
  insertOrganization: (row: OrganizationRow) => insertRow(sql, organizations, row),
  updateOrganization: (row: OrganizationRow) => updateRow(sql, organizations, row),
  insertProject: (row: ProjectRow) => insertRow(sql, projects, row),
  insertToken: (row: TokenRow) => insertRow(sql, tokens, row),
  /** Returns whether the token exists and was not revoked before. */
  revokeToken: async (tokenId: string, revokedAtMs: number) =>
    (await sql.run(
      'UPDATE tokens SET revoked_at_ms = ? WHERE token_id = ? AND revoked_at_ms IS NULL',
      revokedAtMs,
      tokenId,
    )) === 1,
});
