import { defined } from '../../bytes/arguments.ts';
import * as z from 'zod/mini';
import { MAX_SESSION_TTL_MS } from '../../contract/resources/session.ts';
import { organizationIdSchema, projectIdSchema } from '../../contract/scalars.ts';
import { permissions as allPermissions } from '../../contract/operations/operations.ts';
import { typeValue } from '../../contract/type-value.ts';
import { typeDocument } from '../../evidence/document.ts';
import { generateToken, isLive, tokenHash } from '../http/tokens.ts';
import type { OrganizationRow, ProjectRow, TokenRow, Tx, Usage } from '../store/store.ts';
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
export type TokenInput = Pick<
  TokenRow,
  'organizationId' | 'projects' | 'permissions' | 'name' | 'expiresAtMs'
>;

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

const limitSchema = (least: number, most: number) => {
  const given = z.union([z.literal('none'), z.int().check(z.gte(least), z.lte(most))]);
  return z.optional(
    z.pipe(
      given,
      z.transform((limit) => (limit === 'none' ? undefined : limit)),
    ),
  );
};
const entitlementSchema = z.strictObject({
  organizationId: z.string(),
  /** The longest lifetime to which sessions may be extended, in milliseconds. */
  maxSessionTtlMs: limitSchema(1, MAX_SESSION_TTL_MS),
  /** Bytes that are stored, or announced by unfinished uploads. */
  maxStoredBytes: limitSchema(0, Number.MAX_SAFE_INTEGER),
  /** Operations that wait or run. */
  maxOperations: limitSchema(0, Number.MAX_SAFE_INTEGER),
  /** Uploads that are not finished. */
  maxUploads: limitSchema(0, Number.MAX_SAFE_INTEGER),
});

/**
 * Sets the limits that are given, and returns all of them with what the organization uses; `none` removes one.
 * @throws DrillproofError `server.ADMIN_REFUSED` unless the organization exists and the limits are in their ranges
 */
export async function setEntitlement(
  { store, now }: AdminContext,
  input: z.input<typeof entitlementSchema>,
): Promise<OrganizationRow & { readonly usage: Usage }> {
  const kind = { schema: entitlementSchema, code: 'server.ADMIN_REFUSED' } as const;
  const { organizationId, ...limits } = typeDocument(defined(input), kind);
  return store.transaction(async (tx) => {
    const row = await requireOrganization(tx, organizationId);
    const entitled = defined({ ...row, ...limits });
    await tx.organizations.update(entitled);
    return { ...entitled, usage: await tx.usage.ofOrganization(organizationId, now()) };
  });
}

function assertTokenInput({ projects, permissions, name, expiresAtMs }: TokenInput, nowMs: number): void {
  assertValid('name', z.optional(nameSchema), name);
  assertValid('permissions', z.array(z.enum(allPermissions)).check(z.minLength(1)), permissions);
  if (projects !== 'all' && projects.length === 0)
    throw refusedError('the token has no project', { path: 'projects' });
  assertFuture('expiresAtMs', expiresAtMs, nowMs);
}

/** Issues a token. Only the result has its text. @throws DrillproofError `server.ADMIN_REFUSED` */
export async function createToken({ store, now }: AdminContext, input: TokenInput): Promise<IssuedToken> {
  const createdAtMs = now();
  assertTokenInput(input, createdAtMs);
  const { organizationId, projects } = input;
  return store.transaction(async (tx) => {
    await requireOrganization(tx, organizationId);
    for (const projectId of projects === 'all' ? [] : projects)
      await requireProject(tx, projectId, organizationId);
    return issueToken(tx, input, createdAtMs);
  });
}

async function issueToken(tx: Tx, input: TokenInput, createdAtMs: number): Promise<IssuedToken> {
  const { organizationId, projects, permissions, name, expiresAtMs } = input;
  const token = generateToken();
  const facts = {
    tokenId: newId('tok'),
    organizationId,
    projects: projects === 'all' ? projects : [...new Set(projects)],
    permissions: [...new Set(permissions)],
    createdAtMs,
    ...defined({ name, expiresAtMs }),
  };
  await tx.tokens.insert({ ...facts, tokenHash: tokenHash(token) });
  return { ...facts, token };
}

type Rotation = { readonly tokenId: string; readonly overlapMs: number; readonly expiresAtMs?: number };

/**
 * Issues a token with the name, projects, permissions and lifetime of another, which stays valid for `overlapMs` more
 * milliseconds, or until it expires. Default of `expiresAtMs`: as long after now as that of the other after its creation.
 * @throws DrillproofError `server.ADMIN_REFUSED` for a token that is unknown, revoked or expired
 */
export async function rotateToken(
  { store, now }: AdminContext,
  { tokenId, overlapMs, expiresAtMs }: Rotation,
): Promise<IssuedToken & { readonly replacedTokenId: string; readonly replacedExpiresAtMs: number }> {
  const nowMs = now();
  assertValid('overlapMs', z.int().check(z.gte(0)), overlapMs);
  assertFuture('expiresAtMs', expiresAtMs, nowMs);
  return store.transaction(async (tx) => {
    const row = await tx.tokens.lock(tokenId);
    if (row === undefined || !isLive(row, nowMs))
      throw refusedError(`token ${tokenId} does not exist, or is revoked or expired`);
    const lifetimeEndMs = row.expiresAtMs && nowMs + row.expiresAtMs - row.createdAtMs;
    const replacedExpiresAtMs = Math.min(row.expiresAtMs ?? Infinity, nowMs + overlapMs);
    await tx.tokens.update({ ...row, expiresAtMs: replacedExpiresAtMs });
    const { expiresAtMs: _expiresAtMs, ...same } = row;
    const input = { ...same, ...defined({ expiresAtMs: expiresAtMs ?? lifetimeEndMs }) };
    return { ...(await issueToken(tx, input, nowMs)), replacedTokenId: tokenId, replacedExpiresAtMs };
  });
}

/** Revokes a token from the next request on. @throws DrillproofError `server.ADMIN_REFUSED` for an unknown or revoked one */
export async function revokeToken({ store, now }: AdminContext, tokenId: string): Promise<void> {
  const revoked = await store.transaction((tx) => tx.tokens.revoke(tokenId, now()));
  if (!revoked) throw refusedError(`token ${tokenId} does not exist, or is revoked already`);
}

/** Revokes every token of an organization; returns how many. @throws DrillproofError `server.ADMIN_REFUSED` */
export const revokeTokens = (
  { store, now }: AdminContext,
  { organizationId }: { readonly organizationId: string },
): Promise<{ readonly revoked: number }> =>
  store.transaction(async (tx) => {
    await requireOrganization(tx, organizationId);
    return { revoked: await tx.tokens.revokeAll(organizationId, now()) };
  });
