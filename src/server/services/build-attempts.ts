import type { BuildAttempt } from '../../contract/index.ts';
import { notFound } from '../control-error.ts';
import type { Principal } from '../http/tokens.ts';
import type { Store } from '../store/store.ts';
import { assertProject } from './access.ts';

export type BuildAttemptService = {
  read(principal: Principal, ref: { projectId: string; buildAttemptId: string }): Promise<BuildAttempt>;
};

/** Build attempts with their source provenance. */
export function buildAttemptService(store: Store): BuildAttemptService {
  return {
    async read(principal, { projectId, buildAttemptId }) {
      await assertProject(store, principal, projectId);
      const row = await store.buildAttempt(projectId, buildAttemptId);
      if (row === undefined) throw notFound();
      return row.resource;
    },
  };
}
