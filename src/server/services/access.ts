import type { Permission } from '../../contract/index.ts';
import { ControlError, notFound } from '../http/envelope.ts';
import type { Principal } from '../http/tokens.ts';
import type { ExportRow, Reads } from '../store/store.ts';

/** @throws ControlError `control.PERMISSION_DENIED`, naming the permission, whatever exists */
export function assertPermission(
  { permissions }: Principal,
  permission: Permission,
  alsoPermitted: readonly Permission[] = [],
): void {
  if ([permission, ...alsoPermitted].some((sufficient) => permissions.includes(sufficient))) return;
  throw new ControlError('control.PERMISSION_DENIED', `the token lacks the permission ${permission}`, {
    details: { permission },
  });
}

/**
 * Requires a project of the principal, by its row: a token names projects, and only the store knows
 * their organization.
 * @throws ControlError `control.NOT_FOUND` for a project that is missing, foreign or outside the token
 */
export async function assertProject(store: Reads, principal: Principal, projectId: string): Promise<void> {
  const { organizationId, projects } = principal;
  if (projects !== 'all' && !projects.includes(projectId)) throw notFound();
  if ((await store.projects.find(projectId))?.organizationId !== organizationId) throw notFound();
}

/**
 * Reads a row of a project that the token may see.
 * @throws ControlError `control.NOT_FOUND`
 */
export async function readVisible<R>(
  store: Reads,
  principal: Principal,
  projectId: string,
  read: () => Promise<R | undefined>,
): Promise<R> {
  await assertProject(store, principal, projectId);
  const row = await read();
  if (row === undefined) throw notFound();
  return row;
}

/** Whether a token has every project of its organization, as `all` or each by its name. */
export async function hasEveryProject(
  reads: Reads,
  { organizationId, projects }: Principal,
): Promise<boolean> {
  if (projects === 'all') return true;
  const all = await reads.projects.list(organizationId);
  return all.every(({ projectId }) => projects.includes(projectId));
}

/**
 * Whether an export is visible through a project: an export of a project through that one; an organization's export
 * through each of its projects, to a token that has every project. Neither changes while the export is generated.
 */
export const showsThrough = (
  { resource: { scope } }: ExportRow,
  projectId: string,
  hasEvery: boolean,
): boolean => (scope.kind === 'project' ? scope.projectId === projectId : hasEvery);
