import type { RandomAccess } from '../../bytes/random-access.ts';
import type { EvidenceBundle } from '../../contract/index.ts';
import { holdBlobs } from '../blobs/hold.ts';
import { refused, requireProject, type AdminContext, type Ingested } from './context.ts';
import { keepBundle, storePart } from './part.ts';

export type IngestBundleOptions = {
  /** When its bytes are to be deleted; default: never. */
  readonly deleteAtMs?: number;
};

/**
 * Takes in the part archive of one bundle. It must be intact or better and belong to the project; whether its
 * signature can be trusted is for those who verify. The same bundle again changes nothing.
 * @throws DrillproofError `server.ADMIN_REFUSED` with `details.findings`, and what reading and storing throw
 */
export async function ingestBundle(
  context: AdminContext,
  projectId: string,
  access: RandomAccess,
  { deleteAtMs }: IngestBundleOptions = {},
): Promise<Ingested<{ bundle: EvidenceBundle }>> {
  const { store, blobs, now } = context;
  if (deleteAtMs !== undefined && !(Number.isSafeInteger(deleteAtMs) && deleteAtMs > now()))
    throw refused('the bundle would be due for deletion already', { path: 'deleteAtMs' });
  const part = await storePart(context, await requireProject(store, projectId), access);
  const resource = { ...part.resource, ...(deleteAtMs !== undefined && { deleteAtMs }) };
  const created = await store.transaction(async (tx) => {
    await holdBlobs(tx, blobs, [part.archive.digest], now());
    return keepBundle(tx, { ...part, resource });
  });
  return { bundle: resource, created };
}
