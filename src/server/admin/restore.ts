import { open } from 'node:fs/promises';
import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { parseJsonText } from '../../bytes/json/parse.ts';
import type { Code } from '../../codes/catalogue.ts';
import { typeDocument } from '../../evidence/document.ts';
import { DrillproofError } from '../../errors.ts';
import { ioError } from '../../node/fs-errors.ts';
import type { Store, TokenRow } from '../store/store.ts';

const text = z.optional(z.string());
const lineSchema = z.looseObject({
  time: z.iso.datetime(),
  action: z.string(),
  code: text,
  organizationId: text,
  projectId: text,
  tokenId: text,
  replacedTokenId: text,
  replacedExpiresAtMs: z.optional(z.number()),
  evidenceBundleId: text,
  evidenceExportId: text,
});

type RestoredFinding = { readonly code: Code; readonly id: string };

/** Lists what a line of an audit log says has ended, and the restored rows have again. */
async function findRestored(store: Store, line: z.infer<typeof lineSchema>): Promise<RestoredFinding[]> {
  const {
    action,
    time,
    organizationId = '',
    replacedTokenId,
    evidenceBundleId = '',
    evidenceExportId = '',
  } = line;
  if (action === 'admin.deleteBundle') {
    const bundle = await store.bundles.find(line.projectId ?? '', evidenceBundleId);
    return bundle?.resource.state === 'available'
      ? [{ code: 'server.RESTORED_EVIDENCE', id: evidenceBundleId }]
      : [];
  }
  if (action === 'admin.deleteExport') {
    const row = await store.exports.find(organizationId, evidenceExportId);
    const isBack = row !== undefined && row.resource.deletion === undefined;
    return isBack ? [{ code: 'server.RESTORED_EVIDENCE', id: evidenceExportId }] : [];
  }
  if (!action.startsWith('admin.revoke') && replacedTokenId === undefined) return [];
  const { tokenId = '', replacedExpiresAtMs: endedAtMs = Date.parse(time) } = line;
  const tokens =
    action === 'admin.revokeTokens'
      ? await store.tokens.list(organizationId)
      : [await store.tokens.find(replacedTokenId ?? tokenId)].filter((token) => token !== undefined);
  const isBack = ({ createdAtMs, revokedAtMs, expiresAtMs = Infinity }: TokenRow): boolean =>
    createdAtMs <= Date.parse(time) && revokedAtMs === undefined && expiresAtMs > endedAtMs;
  return tokens.filter(isBack).map((token) => ({ code: 'server.RESTORED_TOKEN', id: token.tokenId }));
}

const MAX_UPLOADS = 100_000;

/**
 * Compares restored rows with audit logs, which are newer: lists what ended after the backup and is back, counts upload addresses
 * that are open, and reads the latest time of the rows. It changes nothing.
 * @throws DrillproofError `io.NOT_FOUND` for a missing log; a code of JSON or `server.ADMIN_REFUSED` for a wrong line, or for no line
 */
export async function checkRestored(store: Store, auditLogs: readonly string[], nowMs: number) {
  const findings = new Map<string, RestoredFinding>();
  let lines = 0;
  for (const path of auditLogs) {
    const file = await open(path).catch((cause: unknown) => {
      throw ioError(cause, path, 'read');
    });
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
    ...defined({ restoredToMs: (await store.clock()).record?.seenMs }),
    findings: [...findings.values()],
    openUploads: uploads.filter(({ uploadExpiresAtMs = 0 }) => uploadExpiresAtMs > nowMs).length,
  };
}
