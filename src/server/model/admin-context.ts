import * as z from 'zod/mini';
import type { Digest } from '../../bytes/hash.ts';
import type { Code } from '../../codes/catalogue.ts';
import { DrillproofError, type ErrorContext } from '../../errors.ts';
import { holdBlobs } from '../blobs/blobs.ts';
import type { ServerContext } from './context.ts';
import type { OrganizationRow, ProjectRow, Reads, Tx } from '../store/store.ts';

export type AdminContext = Omit<ServerContext, 'log'>;

export const nameSchema = z.string().check(z.minLength(1), z.maxLength(255));

/** `created`: whether the item is new; otherwise it was already stored. */
export type Ingested<T> = T & { readonly created: boolean };

/** The refusal of an administrative change; nothing is stored. */
export const refusedError = (
  message: string,
  context?: ErrorContext,
  code: Code = 'server.ADMIN_REFUSED',
): DrillproofError => new DrillproofError(code, message, context);

export async function requireOrganization(store: Reads, organizationId: string): Promise<OrganizationRow> {
  const organization = await store.organizations.find(organizationId);
  if (organization === undefined) throw refusedError(`organization ${organizationId} does not exist`);
  return organization;
}

export async function requireProject(
  store: Reads,
  projectId: string,
  organizationId?: string,
): Promise<ProjectRow> {
  const project = await store.projects.find(projectId);
  if (project === undefined) throw refusedError(`project ${projectId} does not exist`);
  if (organizationId !== undefined && project.organizationId !== organizationId)
    throw refusedError(`${projectId} belongs to another organization`);
  return project;
}

export function assertFuture(name: string, atMs: number | undefined, nowMs: number): void {
  if (atMs !== undefined && !(Number.isSafeInteger(atMs) && atMs > nowMs))
    throw refusedError(`${name} is in the past`, { path: name });
}

/** Runs `write` in a transaction that locks the blobs of its rows. */
export const writeHolding = <T>(
  { store, blobs }: AdminContext,
  digests: Iterable<Digest>,
  write: (tx: Tx) => Promise<T>,
): Promise<T> =>
  store.transaction(async (tx) => {
    await holdBlobs(tx, blobs, digests);
    return write(tx);
  });
