import type { BuildAttempt } from '../../contract/index.ts';
import { settledAttempt, type BuildWork } from '../builds/drive-attempt.ts';
import { notFound } from '../control-error.ts';
import type { Principal } from '../http/tokens.ts';
import { assertProject } from './access.ts';

export type BuildAttemptService = {
  read(principal: Principal, ref: { projectId: string; buildAttemptId: string }): Promise<BuildAttempt>;
};

/** Build attempts with their source provenance. */
export function buildAttemptService(work: BuildWork): BuildAttemptService {
  return {
    async read(principal, { projectId, buildAttemptId }) {
      await assertProject(work.store, principal, projectId);
      const row = await work.store.buildAttempt(projectId, buildAttemptId);
      if (row === undefined) throw notFound();
      return settledAttempt(work, row);
    },
  };
}
