import type { EvidenceExport, WorldSession } from '../../src/contract/index.ts';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { listen } from '../../src/server/index.ts';
import { trustStore, type TrustStore } from '../../src/trust/index.ts';
import {
  EXPORT,
  id,
  ingestedExport,
  NOW_MS,
  part,
  PROJECT,
  signer,
  tenants,
  token,
  world,
  worlds,
} from '../server/make.ts';

/** A real control plane on a socket that serves one signed export with real parts and a local report. */
export type Origin = {
  readonly url: string;
  readonly token: string;
  readonly exportRef: { readonly projectId: string; readonly evidenceExportId: string };
  readonly resource: EvidenceExport;
  /** Every byte that a whole mirror of the export holds, by path; what the mirror says of itself is not among it. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly trust: TrustStore;
  readonly asOfMs: number;
  /** The session that can be extended, as it is stored now. */
  session(): Promise<WorldSession>;
  close(): Promise<void>;
};

const SESSION = id('ses', 1);

/** The part and the report at which faults strike; another part is never struck. */
export const STRUCK_PART = 'parts/evidence_000000000001.zip';
export const STRUCK_REPORT = 'local-reports/lrep_000000000001.zip';

export async function startOrigin(): Promise<Origin> {
  const here = await world();
  await tenants(here);
  await worlds(here);
  const key = signer();
  const parts = [await part(1, { key, padding: 2_000 }), await part(2, { key })];
  const { files, resource } = await ingestedExport(here, { parts, reports: [1], key });
  const listening = await listen(here.server);
  return {
    url: listening.url,
    token: await token(here, { permissions: ['evidence.read', 'session.control'] }),
    exportRef: { projectId: PROJECT, evidenceExportId: EXPORT },
    resource,
    files: new Map(Object.entries({ ...files, 'export.json': canonicalBytes(resource) })),
    trust: trustStore([
      {
        issuer: 'acme',
        keyId: key.keyId,
        point: key.point,
        compromised: false,
        purposes: ['evidence', 'export'],
      },
    ]),
    asOfMs: NOW_MS,
    async session() {
      const row = await here.store.sessions.find(PROJECT, SESSION);
      if (row === undefined) throw new Error('the session is gone');
      return row.resource;
    },
    async close() {
      await listening.close();
      await here.close();
    },
  };
}
