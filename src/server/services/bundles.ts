import type { EvidenceBundle } from '../../contract/index.ts';
import { notFound } from '../control-error.ts';
import type { Principal } from '../http/tokens.ts';
import type { Store } from '../store/store.ts';
import { assertProject } from './access.ts';

export type BundleService = {
  read(principal: Principal, ref: { projectId: string; evidenceBundleId: string }): Promise<EvidenceBundle>;
};

/** Evidence bundles: their safe metadata, of deleted ones too. */
export function bundleService(store: Store): BundleService {
  return {
    async read(principal, { projectId, evidenceBundleId }) {
      await assertProject(store, principal, projectId);
      const row = await store.bundle(projectId, evidenceBundleId);
      if (row === undefined) throw notFound();
      return row.resource;
    },
  };
}
