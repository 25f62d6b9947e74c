import type { EvidenceBundle, EvidenceExport, LocalReportItem } from '../../contract/index.ts';
import { ControlError, notFound } from '../control-error.ts';
import type { Cursors, CursorScope } from '../http/cursor.ts';
import type { Download } from '../http/download.ts';
import type { Principal } from '../http/tokens.ts';
import type { ExportRow, Store } from '../store/store.ts';
import { assertProject, showsThrough } from './access.ts';

type ExportRef = { readonly projectId: string; readonly evidenceExportId: string };
type Page<T> = { items: T[]; nextCursor?: string };
type PageQuery = { readonly cursor?: string | undefined; readonly limit: number };

export type ExportService = {
  read(principal: Principal, ref: ExportRef): Promise<EvidenceExport>;
  list(principal: Principal, projectId: string, query: PageQuery): Promise<Page<EvidenceExport>>;
  manifest(principal: Principal, ref: ExportRef): Promise<Download>;
  attestation(principal: Principal, ref: ExportRef): Promise<Download>;
  part(principal: Principal, ref: ExportRef & { readonly evidenceBundleId: string }): Promise<Download>;
  localReports(principal: Principal, ref: ExportRef, query: PageQuery): Promise<Page<LocalReportItem>>;
  localReport(principal: Principal, ref: ExportRef & { readonly localReportId: string }): Promise<Download>;
};

const RETRY_AFTER_MS = 2_000;

const deleted = (what: string): ControlError =>
  new ControlError('control.EVIDENCE_DELETED', `${what} was deleted`);

const WHY_NOT: Record<Exclude<EvidenceExport['state'], 'available'>, () => ControlError> = {
  pending: () => notReady(),
  generating: () => notReady(),
  failed: () => new ControlError('control.EXPORT_FAILED', 'the export failed to generate'),
};
const notReady = (): ControlError =>
  new ControlError('control.EXPORT_NOT_READY', 'the export is still being generated', {
    retryAfterMs: RETRY_AFTER_MS,
  });

/** Lets only an available export without deletion through: the rule of its bytes and lists, not of its metadata. */
function assertReadable({ resource }: ExportRow): void {
  if (resource.deletion !== undefined) throw deleted('the export');
  if (resource.state !== 'available') throw WHY_NOT[resource.state]();
}

/** Whether a bundle's bytes may be served no more: from `deleteAtMs` on, whenever somebody comes to remove them. */
const isDeleted = ({ state, deleteAtMs }: EvidenceBundle, nowMs: number): boolean =>
  state === 'deleted' || (deleteAtMs !== undefined && deleteAtMs <= nowMs);

/** Exports: their resource, the lists and the bytes that they hold. */
export function exportService(
  store: Store,
  cursors: () => Promise<Cursors>,
  now: () => number,
): ExportService {
  const visible = async (principal: Principal, ref: ExportRef): Promise<ExportRow> => {
    await assertProject(store, principal, ref.projectId);
    const row = await store.export(principal.organizationId, ref.evidenceExportId);
    if (row === undefined || !showsThrough(row, principal, ref.projectId)) throw notFound();
    return row;
  };
  const readable = async (principal: Principal, ref: ExportRef): Promise<ExportRow> => {
    const row = await visible(principal, ref);
    assertReadable(row);
    return row;
  };

  /** The exports after an ordinal that show through the project: `limit` of them, however many others lie between. */
  const showing = async (principal: Principal, projectId: string, after: number, limit: number) => {
    const rows: ExportRow[] = [];
    for (let from = after; ;) {
      const batch = await store.exports(principal.organizationId, from, limit);
      rows.push(...batch.filter((row) => showsThrough(row, principal, projectId)));
      const last = batch.at(-1);
      if (last === undefined || rows.length >= limit) return rows.slice(0, limit);
      from = last.ordinal;
    }
  };

  return {
    read: async (principal, ref) => (await visible(principal, ref)).resource,

    async list(principal, projectId, query) {
      await assertProject(store, principal, projectId);
      const scope = { list: 'evidence.exports', organizationId: principal.organizationId, projectId };
      const after = (await cursors()).decode(scope, query.cursor);
      const rows = await showing(principal, projectId, after, query.limit + 1);
      return page(rows, query.limit, (row) => row.resource, await cursors(), scope);
    },

    async manifest(principal, ref) {
      const { manifest } = await readable(principal, ref);
      if (manifest === undefined) throw notFound();
      return { blob: manifest, mediaType: 'application/json', filename: 'manifest.json' };
    },

    async attestation(principal, ref) {
      const { attestation } = await readable(principal, ref);
      if (attestation === undefined) throw notFound();
      return { blob: attestation, mediaType: 'application/json', filename: 'export-attestation.json' };
    },

    async part(principal, ref) {
      const { organizationId, evidenceExportId } = await readable(principal, ref);
      const part = await store.exportPart(organizationId, evidenceExportId, ref.evidenceBundleId);
      if (part === undefined) throw notFound();
      const bundle = await store.bundle(part.projectId, part.evidenceBundleId);
      if (bundle === undefined || isDeleted(bundle.resource, now())) throw deleted('the bundle');
      return { blob: part.archive, mediaType: 'application/zip', filename: `${part.evidenceBundleId}.zip` };
    },

    async localReports(principal, ref, query) {
      const { organizationId, evidenceExportId } = await readable(principal, ref);
      const scope = { list: 'local-reports', organizationId, ...ref };
      const after = (await cursors()).decode(scope, query.cursor);
      const rows = await store.exportReports(organizationId, evidenceExportId, after, query.limit + 1);
      return page(rows, query.limit, (row) => row.item, await cursors(), scope);
    },

    async localReport(principal, ref) {
      const { organizationId, evidenceExportId } = await readable(principal, ref);
      const report = await store.exportReport(organizationId, evidenceExportId, ref.localReportId);
      if (report === undefined) throw notFound();
      return { blob: report.archive, mediaType: 'application/zip', filename: `${report.localReportId}.zip` };
    },
  };
}

/** A page of `limit` rows; the one more that was read says whether a cursor follows. */
function page<R extends { readonly ordinal: number }, T>(
  rows: readonly R[],
  limit: number,
  toItem: (row: R) => T,
  cursors: Cursors,
  scope: CursorScope,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = last !== undefined && rows.length > limit;
  return { items: shown.map(toItem), ...(more && { nextCursor: cursors.encode(scope, last.ordinal) }) };
}
