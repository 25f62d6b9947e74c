import * as z from 'zod';
import type { Code } from '../../codes/index.ts';
import { DrillproofError, type ErrorContext } from '../../errors.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { ServerLimits } from '../limits.ts';
import type { ProjectRow, Reads, Store } from '../store/store.ts';

/** What administration works on. */
export type AdminContext = {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly now: () => number;
  readonly limits: ServerLimits;
};

/** A name that people read. */
export const nameSchema = z.string().min(1).max(255);

/** `created`: whether it was stored now, or had been stored before. */
export type Ingested<T> = T & { readonly created: boolean };

/** The refusal of an administrative change; nothing is stored. */
export const refused = (
  message: string,
  context?: ErrorContext,
  code: Code = 'server.ADMIN_REFUSED',
): DrillproofError => new DrillproofError(code, message, context);

export { derivedId, newId } from '../ids.ts';

/** @throws DrillproofError `server.ADMIN_REFUSED` for a project that does not exist */
export async function requireProject(store: Reads, projectId: string): Promise<ProjectRow> {
  const project = await store.projects.find(projectId);
  if (project === undefined) throw refused(`project ${projectId} does not exist`);
  return project;
}
