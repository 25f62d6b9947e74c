import * as z from 'zod/mini';
import {
  type EvidenceExport,
  exportScopeSchema,
  MAX_EXPORT_ITEMS,
} from '../../contract/resources/evidence.ts';
import { evidenceExportIdSchema, msSchema, principalSchema } from '../../contract/scalars.ts';
import type { OperationResource } from '../../contract/resources/operation.ts';
import { typeDocument } from '../../evidence/document.ts';
import {
  type BundleRef,
  type ExportOfOrganization,
  removeReleased,
  requestBundleDeletion,
  requestExportDeletion,
} from '../jobs/deletion.ts';
import {
  EXPORT_KIND,
  type ExportJobOptions,
  selectEvidence,
  summarizeSelection,
  toSelection,
} from '../jobs/export/content.ts';
import { standardWork } from '../jobs/standard.ts';
import type { Log } from '../model/log.ts';
import { newOperationId, queueWork } from '../services/operations.ts';
import type { Tx } from '../store/store.ts';
import { createWorker } from '../jobs/worker.ts';
import { newId } from '../model/ids.ts';
import {
  type AdminContext,
  refusedError,
  requireOrganization,
  requireProject,
} from '../model/admin-context.ts';

export type CreatedExport = { readonly resource: EvidenceExport; readonly operation: OperationResource };

/** The window selects items with `fromAtMs` ≤ `createdAtMs` < `throughAtMs`. */
const inputSchema = z
  .strictObject({
    organizationId: z.string(),
    scope: exportScopeSchema,
    fromAtMs: msSchema,
    throughAtMs: msSchema,
    evidenceExportId: z._default(evidenceExportIdSchema, () => newId('evexp')),
    requestedBy: z._default(principalSchema, 'admin'),
  })
  .check(z.refine(({ fromAtMs, throughAtMs }) => fromAtMs < throughAtMs, 'the window ends before it begins'));
export type CreateExportInput = z.input<typeof inputSchema>;
type Request = z.infer<typeof inputSchema>;

async function assertPossible(tx: Tx, { organizationId, scope, evidenceExportId }: Request): Promise<void> {
  await requireOrganization(tx, organizationId);
  if (scope.kind === 'project') await requireProject(tx, scope.projectId, organizationId);
  if ((await tx.exports.find(organizationId, evidenceExportId)) !== undefined)
    throw refusedError(`${evidenceExportId} exists already`);
}

/** Builds a pending export with the current selection; evidence is selected again when it is generated. */
async function buildPending(
  tx: Tx,
  request: Request,
  operationId: string,
  nowMs: number,
): Promise<EvidenceExport> {
  const selected = await selectEvidence(tx, toSelection(request), { nowMs, maxItems: MAX_EXPORT_ITEMS });
  if (selected === undefined) {
    const message = `the window has more than ${MAX_EXPORT_ITEMS} bundles or local reports; narrow it`;
    throw refusedError(message, {}, 'control.EXPORT_TOO_LARGE');
  }
  return {
    schemaVersion: 1,
    ...request,
    operationId,
    state: 'pending',
    completedBundleCount: 0,
    ...summarizeSelection(selected),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/**
 * Requests an export, which queued work generates.
 * @throws DrillproofError `server.ADMIN_REFUSED`, `control.EXPORT_TOO_LARGE` for a window with too many items
 */
export async function createExport(
  { store, now }: AdminContext,
  input: CreateExportInput,
): Promise<CreatedExport> {
  const request = typeDocument(input, { schema: inputSchema, code: 'server.ADMIN_REFUSED' });
  const { organizationId, scope, evidenceExportId } = request;
  const project = scope.kind === 'project' ? { projectId: scope.projectId } : {};
  return store.transaction(async (tx) => {
    await assertPossible(tx, request);
    const [operationId, nowMs] = [newOperationId(), now()];
    const resource = await buildPending(tx, request, operationId, nowMs);
    await tx.exports.insert({ organizationId, evidenceExportId, resource, parts: [], reports: [] });
    const subject = { kind: EXPORT_KIND, resourceType: 'evidence_export', resourceId: evidenceExportId };
    const work = { operationId, organizationId, ...project, ...subject, request };
    return { resource, operation: await queueWork(tx, work, nowMs) };
  });
}

/**
 * Deletes a bundle: its bytes are no longer served, and queued work removes them. Its metadata stays.
 * @throws DrillproofError `server.ADMIN_REFUSED` when it does not exist
 */
export const deleteBundle = ({ store, now }: AdminContext, ref: BundleRef) =>
  store.transaction((tx) => requestBundleDeletion(tx, ref, now()));

/**
 * Requests the deletion of an export: its bytes and lists are no longer served, and queued work removes them. Its
 * resource stays.
 * @throws DrillproofError `server.ADMIN_REFUSED` when it does not exist
 */
export const deleteExport = ({ store, now }: AdminContext, ref: ExportOfOrganization) =>
  store.transaction((tx) => requestExportDeletion(tx, ref, now()));

/** The numbers of settled resources, of deleted due bundles, of completed jobs, and of removed blobs and rows. */
export type WorkedOff = {
  readonly settled: number;
  readonly bundlesDue: number;
  readonly jobs: number;
  readonly blobsRemoved: number;
  readonly rowsRemoved: number;
};

export type WorkOffOptions = Pick<ExportJobOptions, 'signing'> & {
  readonly signal?: AbortSignal;
  readonly log?: Log;
};

/**
 * Does the work of a worker without a runner: settles resources past their deadline, removes rows by the rules of the
 * retention, deletes due bundles, generates and deletes exports, and removes unneeded blobs. It does not touch jobs that a worker holds.
 */
export async function workOff(
  { store, blobs, now }: AdminContext,
  options: WorkOffOptions = {},
): Promise<WorkedOff> {
  const { signal = new AbortController().signal, log = () => undefined, signing } = options;
  const context = { store, blobs, now, log };
  const { handlers, sweeps } = standardWork({ ...context, signing });
  const swept: Record<string, number> = {};
  for (const { name, run } of sweeps) if (name !== 'released-blobs') swept[name] = await run(signal);
  const worker = createWorker({ store, handlers, now, log });
  let jobs = 0;
  while (!signal.aborted && (await worker.workOnce()) !== undefined) jobs++;
  const blobsRemoved = await removeReleased(context, signal); // last, because jobs release blobs
  const { deadlines: settled = 0, 'bundles-due': bundlesDue = 0, retention: rowsRemoved = 0 } = swept;
  return { settled, bundlesDue, jobs, blobsRemoved, rowsRemoved };
}
