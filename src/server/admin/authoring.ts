import { authoringSessionSchema, type AuthoringSession } from '../../contract/index.ts';
import { typeDocument } from '../../evidence/index.ts';
import { newId, refused, requireProject, type AdminContext } from './context.ts';

export type AuthoringSessionInput = {
  readonly projectId: string;
  readonly authoringSessionId?: string;
  readonly repositoryBindingId?: string;
  readonly branch: string;
  readonly baseRevision: string;
  readonly createdBy?: string;
};

/** Opens an authoring session. @throws DrillproofError `server.ADMIN_REFUSED` */
export async function createAuthoringSession(
  { store, now }: AdminContext,
  input: AuthoringSessionInput,
): Promise<AuthoringSession> {
  const { projectId, branch, baseRevision, createdBy = 'admin' } = input;
  const { authoringSessionId = newId('authsess'), repositoryBindingId = newId('repo') } = input;
  const nowMs = now();
  return store.transaction(async (tx) => {
    const { organizationId } = await requireProject(tx, projectId);
    if ((await tx.authoringSession(projectId, authoringSessionId)) !== undefined)
      throw refused(`${authoringSessionId} exists already`);
    const session = {
      schemaVersion: 1,
      authoringSessionId,
      organizationId,
      projectId,
      repositoryBindingId,
      createdBy,
      branch,
      baseRevision,
      state: 'active',
      version: 1,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const resource = typeDocument(session, {
      schema: authoringSessionSchema,
      code: 'server.ADMIN_REFUSED',
    });
    await tx.insertAuthoringSession({ organizationId, projectId, authoringSessionId, resource });
    return resource;
  });
}
