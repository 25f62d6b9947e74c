import type { OperationName } from '../../contract/operations/operations.ts';
import { Refusal, notFound } from '../http/envelope.ts';
import type { Cursors } from '../http/sealed.ts';
import type { StoredFile } from '../http/download.ts';
import type { Principal } from '../http/tokens.ts';
import type { BlobRef, ExportRow, Store } from '../store/store.ts';
import {
  assertProject,
  createPager,
  type Handlers,
  hasEveryProject,
  readVisible,
  showsThrough,
} from './handler.ts';

type ExportRef = { readonly projectId: string; readonly evidenceExportId: string };

const RETRY_AFTER_MS = 2_000;

const deletedError = (subject: string): Refusal =>
  new Refusal('control.EVIDENCE_DELETED', `${subject} was deleted`);

const notReadyError = (): Refusal =>
  new Refusal('control.EXPORT_NOT_READY', 'the export is still being generated', {
    retryAfterMs: RETRY_AFTER_MS,
  });

export function exportHandlers(
  store: Store,
  cursors: () => Promise<Cursors>,
  now: () => number,
): Pick<Handlers, Extract<OperationName, `evidence.exports.${string}`>> {
  const findVisible = async (principal: Principal, ref: ExportRef): Promise<ExportRow> => {
    const { projectId, evidenceExportId } = ref;
    const row = await readVisible(principal, projectId, () =>
      store.exports.find(principal.organizationId, evidenceExportId),
    );
    const isOfProject = row.resource.scope.kind === 'project';
    if (!isOfProject) await assertProject(store, principal, projectId); // it may be another organization's
    if (!showsThrough(row, projectId, isOfProject || (await hasEveryProject(store, principal))))
      throw notFound();
    return row;
  };
  const findReadable = async (principal: Principal, ref: ExportRef): Promise<ExportRow> => {
    const row = await findVisible(principal, ref);
    const { state, deletion } = row.resource;
    if (deletion !== undefined) throw deletedError('the export');
    if (state === 'failed') throw new Refusal('control.EXPORT_FAILED', 'the export failed to generate');
    if (state !== 'available') throw notReadyError();
    return row;
  };
  /** Lists the first `limit` exports after an ordinal that are visible through the project. */
  const listVisible = async (principal: Principal, projectId: string, after: number, limit: number) => {
    const rows: ExportRow[] = [];
    const hasEvery = await hasEveryProject(store, principal);
    for (let from = after; ;) {
      const batch = await store.exports.list(principal.organizationId, from, limit);
      rows.push(...batch.filter((row) => showsThrough(row, projectId, hasEvery)));
      const last = batch.at(-1);
      if (last === undefined || rows.length >= limit) return rows.slice(0, limit);
      from = last.ordinal;
    }
  };

  const page = createPager(cursors);
  return {
    'evidence.exports.read': async ({ principal, params }) => (await findVisible(principal, params)).resource,

    'evidence.exports.list': async ({ principal, params: { projectId }, query }) => {
      await assertProject(store, principal, projectId);
      const scope = { list: 'evidence.exports', organizationId: principal.organizationId, projectId };
      const { rows, next } = await page(scope, query, (after, limit) =>
        listVisible(principal, projectId, after, limit),
      );
      return { items: rows.map(({ resource }) => resource), ...next };
    },

    'evidence.exports.manifest': async ({ principal, params }) =>
      downloadDocument((await findReadable(principal, params)).manifest, 'manifest.json'),

    'evidence.exports.attestation': async ({ principal, params }) =>
      downloadDocument((await findReadable(principal, params)).attestation, 'export-attestation.json'),

    'evidence.exports.parts.download': async ({ principal, params }) => {
      const row = await findReadable(principal, params);
      const part = await store.exportParts.findWithState(row, params.evidenceBundleId, now());
      if (part === undefined) throw notFound();
      if (!part.isStored) throw deletedError('the bundle');
      return downloadArchive(part.archive, part.evidenceBundleId);
    },

    'evidence.exports.localReports': async ({ principal, params, query }) => {
      const { organizationId, evidenceExportId } = await findReadable(principal, params);
      const scope = { list: 'local-reports', organizationId, ...params };
      const { rows, next } = await page(scope, query, (after, limit) =>
        store.exportReports.list({ organizationId, evidenceExportId }, after, limit),
      );
      return { items: rows.map(({ item }) => item), ...next };
    },

    'evidence.exports.localReports.archive': async ({ principal, params }) => {
      const { organizationId, evidenceExportId } = await findReadable(principal, params);
      const report = await store.exportReports.find(organizationId, evidenceExportId, params.localReportId);
      if (report === undefined) throw notFound();
      return downloadArchive(report.archive, report.localReportId);
    },
  };
}

function downloadDocument(blob: BlobRef | undefined, filename: string): StoredFile {
  if (blob === undefined) throw notFound();
  return { blob, mediaType: 'application/json', filename };
}

const downloadArchive = (blob: BlobRef, id: string): StoredFile => ({
  blob,
  mediaType: 'application/zip',
  filename: `${id}.zip`,
});
