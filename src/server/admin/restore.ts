import { open } from 'node:fs/promises';
import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { parseJsonText } from '../../bytes/json/parse.ts';
import type { Code } from '../../codes/catalogue.ts';
import { typeDocument } from '../../evidence/document.ts';
import { ioError } from '../../node/fs-errors.ts';
import type { Store } from '../store/store.ts';

const text = z.optional(z.string());
const ids = {
  organizationId: text,
  projectId: text,
  tokenId: text,
  evidenceBundleId: text,
  evidenceExportId: text,
};
const lineSchema = z.looseObject({ time: z.iso.datetime(), action: z.string(), code: text, ...ids });
type AuditLine = z.infer<typeof lineSchema>;

export type RestoreReport = {
  /** The latest time of the restored rows; absent if no server or worker ran on them. Later changes are lost. */
  readonly restoredToMs?: number;
  /** Tokens and evidence that are back. */
  readonly findings: readonly { readonly code: Code; readonly id: string }[];
  /** Upload addresses that can be used, although the bytes may have arrived after the backup. */
  readonly openUploads: number;
};

/** Lists the tokens that a revocation ended, one or those of an organization, and that are valid. */
async function listActive(store: Store, { tokenId, organizationId, time }: AuditLine): Promise<string[]> {
  const tokens =
    tokenId === undefined
      ? await store.tokens.list(organizationId ?? '')
      : [await store.tokens.find(tokenId)];
  return tokens.flatMap((token) =>
    token?.revokedAtMs === undefined && token !== undefined && token.createdAtMs <= Date.parse(time)
      ? [token.tokenId]
      : [],
  );
}

/** What is left of the subject of a deletion, by the action that the audit log records. */
const DELETIONS: Readonly<Record<string, (store: Store, ids: AuditLine) => Promise<string[]>>> = {
  async 'admin.deleteBundle'(store, { projectId = '', evidenceBundleId = '' }) {
    const bundle = await store.bundles.find(projectId, evidenceBundleId);
    return bundle?.resource.state === 'available' ? [evidenceBundleId] : [];
  },
  async 'admin.deleteExport'(store, { organizationId = '', evidenceExportId = '' }) {
    const row = await store.exports.find(organizationId, evidenceExportId);
    return row !== undefined && row.resource.deletion === undefined ? [evidenceExportId] : [];
  },
};

const MAX_UPLOADS = 100_000;

/**
 * Compares restored rows with audit logs, which are newer. It changes nothing.
 * @throws DrillproofError `io.NOT_FOUND` for a missing log; a code of JSON or `server.ADMIN_REFUSED` for a wrong line
 */
export async function checkRestored(
  store: Store,
  auditLogs: readonly string[],
  nowMs: number,
): Promise<RestoreReport> {
  const codes = new Map<string, Code>();
  for (const path of auditLogs) {
    const file = await open(path).catch((cause: unknown) => {
      throw ioError(cause, path, 'read');
    });
    for await (const json of file.readLines()) {
      const line = typeDocument(parseJsonText(json), { schema: lineSchema, code: 'server.ADMIN_REFUSED' });
      const { action, code } = line;
      if (code !== undefined) continue; // it failed
      if (action.startsWith('admin.revoke'))
        for (const id of await listActive(store, line)) codes.set(id, 'server.RESTORED_TOKEN');
      for (const id of (await DELETIONS[action]?.(store, line)) ?? [])
        codes.set(id, 'server.RESTORED_EVIDENCE');
    }
  }
  const uploads = await store.buildAttempts.expired(Number.MAX_SAFE_INTEGER, MAX_UPLOADS);
  return {
    ...defined({ restoredToMs: (await store.clock()).record?.seenMs }),
    findings: [...codes].map(([id, code]) => ({ code, id })),
    openUploads: uploads.filter(({ uploadExpiresAtMs = 0 }) => uploadExpiresAtMs > nowMs).length,
  };
}
