import { afterAll } from 'vitest';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { listen } from '../../src/server/listen.ts';
import { trustStore } from '../../src/trust/store.ts';
import {
  EXPORT,
  id,
  ingestExport,
  NOW_MS,
  part,
  PROJECT,
  signer,
  createTenants,
  token,
  makePlane,
  importWorlds,
} from '../server/make.ts';
import { faultServer } from './server.ts';

export type Origin = Awaited<ReturnType<typeof startOrigin>>;

/** The part and the report whose requests have faults. The other part has none. */
export const FAULTY_PART = 'parts/evidence_000000000001.zip';
export const FAULTY_REPORT = 'local-reports/lrep_000000000001.zip';

/**
 * Starts a real control plane on a socket that serves one signed export with real parts and a local report, until the
 * tests of a file have ended. Call it at the top of the file.
 */
export async function startOrigin() {
  const plane = await makePlane();
  await createTenants(plane);
  await importWorlds(plane);
  const key = signer();
  const { keyId, point } = key;
  const parts = [await part(1, { key, padding: 2_000 }), await part(2, { key })];
  const { files, resource } = await ingestExport(plane, { parts, reports: [1], key });
  const listening = await listen(plane.server);
  const other = await faultServer((_, response) => void response.end());
  afterAll(async () => {
    await Promise.all([other.close(), listening.close()]);
    await plane.close();
  });
  return {
    url: listening.url,
    token: await token(plane, { permissions: ['evidence.read', 'session.control'] }),
    exportRef: { projectId: PROJECT, evidenceExportId: EXPORT },
    /** Every file of a complete mirror by its path, without its receipts and checksums. */
    files: new Map<string, Uint8Array>(Object.entries({ ...files, 'export.json': canonicalBytes(resource) })),
    trust: trustStore([
      { issuer: 'acme', keyId, point, compromised: false, purposes: ['evidence', 'export'] },
    ]),
    asOfMs: NOW_MS,
    /** Reads the session that can be extended. */
    async session() {
      return (await plane.store.sessions.find(PROJECT, id('ses', 1)))!.resource;
    },
    /** A server that must never get a request. */
    other,
  };
}
