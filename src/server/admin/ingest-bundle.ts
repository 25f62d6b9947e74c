import type { RandomAccess } from '../../bytes/random-access.ts';
import type { EvidenceBundle } from '../../contract/index.ts';
import { requireProject, type AdminContext, type Ingested } from './context.ts';
import { keepBundle, storePart } from './part.ts';

/**
 * Takes in the part archive of one bundle. It must be intact or better and belong to the project; whether its
 * signature can be trusted is for those who verify. The same bundle again changes nothing.
 * @throws DrillproofError `server.ADMIN_REFUSED` with `details.findings`, and what reading and storing throw
 */
export async function ingestBundle(
  context: AdminContext,
  projectId: string,
  access: RandomAccess,
): Promise<Ingested<{ bundle: EvidenceBundle }>> {
  const row = await storePart(context, await requireProject(context.store, projectId), access);
  const created = await context.store.transaction((tx) => keepBundle(tx, row));
  return { bundle: row.resource, created };
}
