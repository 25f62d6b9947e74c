import { open } from 'node:fs/promises';
import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { parseJsonText } from '../../bytes/json/parse.ts';
import type { Code } from '../../codes/catalogue.ts';
import { typeDocument } from '../../evidence/document.ts';
import { DrillproofError } from '../../errors.ts';
import { awaitCall } from '../../node/fs-errors.ts';
import type { Store, TokenRow } from '../store/store.ts';

const id = z._default(z.string(), '');
const lineSchema = z.looseObject({
  time: z.iso.datetime(),
  action: z.string(),
  code: z.optional(z.string()),
  organizationId: id,
  projectId: id,
  tokenId: id,
  replacedTokenId: id,
  replacedExpiresAtMs: z.optional(z.number()),
  evidenceBundleId: id,
  evidenceExportId: id,
});

type Restored = { readonly code: Code; readonly id: string };

/** Lists what a line of an audit log says has ended, and the restored rows have again. */
async function findRestored(store: Store, line: z.infer<typeof lineSchema>): Promise<Restored[]> {
  const { action, organizationId, projectId, evidenceBundleId, evidenceExportId } = line;
  if (action.startsWith('admin.delete')) {
    const bundle = (await store.bundles.find(projectId, evidenceBundleId))?.resource;
    const listed = (await store.exports.find(organizationId, evidenceExportId))?.resource;
    const isBack = bundle?.state === 'available' || (listed !== undefined && listed.deletion === undefined);
    return isBack ? [{ code: 'server.RESTORED_EVIDENCE', id: evidenceBundleId || evidenceExportId }] : [];
  }
  if (!/^admin\.(revoke|rotate)/.test(action)) return [];
  const atMs = Date.parse(line.time);
  const { tokenId, replacedTokenId, replacedExpiresAtMs: endedAtMs = atMs } = line;
  const tokens: readonly (TokenRow | undefined)[] =
    action === 'admin.revokeTokens'
      ? await store.tokens.list(organizationId)
      : [await store.tokens.find(replacedTokenId || tokenId)];
  return tokens.flatMap((row) => {
    if (row === undefined || row.createdAtMs > atMs || row.revokedAtMs !== undefined) return [];
    const isBack = (row.expiresAtMs ?? Infinity) > endedAtMs;
    return isBack ? [{ code: 'server.RESTORED_TOKEN', id: row.tokenId }] : [];
  });
}

const MAX_UPLOADS = 100_000;

/**
 * Compares restored rows with audit logs, which are newer: lists what ended after the backup and is back, counts upload addresses
 * that are open, and reads the latest time of the rows. It changes nothing.
 * @throws DrillproofError `io.NOT_FOUND` for a missing log; a code of JSON or `server.ADMIN_REFUSED` for a wrong line, or for no line
 */
export async function checkRestored(store: Store, auditLogs: readonly string[], nowMs: number) {
  const findings = new Map<string, Restored>();
  let lines = 0;
  for (const path of auditLogs) {
    const file = await awaitCall(path, 'read', open(path));
    for await (const json of file.readLines()) {
      lines++;
      const line = typeDocument(parseJsonText(json), { schema: lineSchema, code: 'server.ADMIN_REFUSED' });
      const found = line.code === undefined ? await findRestored(store, line) : []; // else it failed
      for (const finding of found) findings.set(finding.id, finding);
    }
  }
  if (lines === 0) throw new DrillproofError('server.ADMIN_REFUSED', 'the audit logs have no line');
  const uploads = await store.buildAttempts.expired(Number.MAX_SAFE_INTEGER, MAX_UPLOADS);
  return {
    ...defined({ restoredToMs: (await store.meta.clock())?.seenMs }),
    findings: [...findings.values()],
    openUploads: uploads.filter(({ uploadExpiresAtMs = 0 }) => uploadExpiresAtMs > nowMs).length,
  };
}
