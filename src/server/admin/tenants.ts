import { defined } from '../../bytes/arguments.ts';
import * as z from 'zod/mini';
import { MAX_SESSION_TTL_MS } from '../../contract/resources/session.ts';
import { organizationIdSchema, projectIdSchema } from '../../contract/scalars.ts';
import { type Permission, permissions as allPermissions } from '../../contract/operations/operations.ts';
import { typeValue } from '../../contract/type-value.ts';
import { typeDocument } from '../../evidence/document.ts';
import { generateToken, tokenHash } from '../http/tokens.ts';
import type { OrganizationRow, ProjectRow, TokenRow } from '../store/store.ts';
import { newId } from '../model/ids.ts';
import {
  type AdminContext,
  assertFuture,
  nameSchema,
  refusedError,
  requireOrganization,
  requireProject,
} from '../model/admin-context.ts';

type OrganizationInput = { readonly organizationId?: string; readonly name: string };
type ProjectInput = Required<OrganizationInput> & { readonly projectId?: string };
export type TokenInput = {
  readonly organizationId: string;
  /** Projects of the organization, or all of them, including future ones. */
  readonly projects: readonly string[] | 'all';
  readonly permissions: readonly Permission[];
  readonly expiresAtMs?: number;
};

/** A token as it is shown once; only its hash is stored. */
export type IssuedToken = Omit<TokenRow, 'tokenHash'> & { readonly token: string };

function assertValid(path: string, schema: z.ZodMiniType, value: unknown): void {
  const { error } = typeValue(schema, value);
  if (error !== undefined) throw refusedError(`${path}: ${error.issues[0]?.message ?? 'invalid'}`, { path });
}

/** Creates an organization. Default: a new id. @throws DrillproofError `server.ADMIN_REFUSED` */
export async function createOrganization(
  { store, now }: AdminContext,
  { organizationId = newId('org'), name }: OrganizationInput,
): Promise<OrganizationRow> {
  assertValid('organizationId', organizationIdSchema, organizationId);
  assertValid('name', nameSchema, name);
  const row = { organizationId, name, createdAtMs: now() };
  await store.transaction(async (tx) => {
    if ((await tx.organizations.find(organizationId)) !== undefined)
      throw refusedError(`${organizationId} exists already`);
    await tx.organizations.insert(row);
  });
  return row;
}

/** Creates a project of an organization. @throws DrillproofError `server.ADMIN_REFUSED` */
export async function createProject(
  { store, now }: AdminContext,
  { organizationId, projectId = newId('prj'), name }: ProjectInput,
): Promise<ProjectRow> {
  assertValid('projectId', projectIdSchema, projectId);
  assertValid('name', nameSchema, name);
  const row = { organizationId, projectId, name, createdAtMs: now() };
  await store.transaction(async (tx) => {
    await requireOrganization(tx, organizationId);
    if ((await tx.projects.find(projectId)) !== undefined) throw refusedError(`${projectId} exists already`);
    await tx.projects.insert(row);
  });
  return row;
}

const entitlementSchema = z.int().check(z.positive(), z.lte(MAX_SESSION_TTL_MS));

/**
 * Sets the longest lifetime to which sessions of an organization may be extended.
 * @throws DrillproofError `server.ADMIN_REFUSED` unless the organization exists and the limit is 1 to 604,800,000 ms
 */
export async function setEntitlement(
  { store }: AdminContext,
  { organizationId, maxSessionTtlMs }: { organizationId: string; maxSessionTtlMs: number },
): Promise<OrganizationRow> {
  typeDocument(maxSessionTtlMs, { schema: entitlementSchema, code: 'server.ADMIN_REFUSED' });
  return store.transaction(async (tx) => {
    const entitled = { ...(await requireOrganization(tx, organizationId)), maxSessionTtlMs };
    await tx.organizations.update(entitled);
    return entitled;
  });
}

function assertTokenInput({ projects, permissions, expiresAtMs }: TokenInput, nowMs: number): void {
  assertValid('permissions', z.array(z.enum(allPermissions)).check(z.minLength(1)), permissions);
  if (projects !== 'all' && projects.length === 0)
    throw refusedError('the token has no project', { path: 'projects' });
  assertFuture('expiresAtMs', expiresAtMs, nowMs);
}

/** Issues a token. Only the result has its text. @throws DrillproofError `server.ADMIN_REFUSED` */
export async function createToken({ store, now }: AdminContext, input: TokenInput): Promise<IssuedToken> {
  const createdAtMs = now();
  assertTokenInput(input, createdAtMs);
  const { organizationId, projects, permissions, expiresAtMs } = input;
  const token = generateToken();
  const facts = {
    tokenId: newId('tok'),
    organizationId,
    projects: projects === 'all' ? projects : [...new Set(projects)],
    permissions: [...new Set(permissions)],
    createdAtMs,
    ...defined({ expiresAtMs }),
  };
  await store.transaction(async (tx) => {
    await requireOrganization(tx, organizationId);
    for (const projectId of projects === 'all' ? [] : projects)
      await requireProject(tx, projectId, organizationId);
    await tx.tokens.insert({ ...facts, tokenHash: tokenHash(token) });
  });
  return { ...facts, token };
}

/** Revokes a token from the next request on. @throws DrillproofError `server.ADMIN_REFUSED` for an unknown or revoked one */
export async function revokeToken({ store, now }: AdminContext, tokenId: string): Promise<void> {
  const revoked = await store.transaction((tx) => tx.tokens.revoke(tokenId, now()));
  if (!revoked) throw refusedError(`token ${tokenId} does not exist, or is revoked already`);
}
