import { afterEach } from 'vitest';
import { createClient, type Client } from '../../src/client/client.ts';
import type { ClientOptions } from '../../src/client/options.ts';
import type { Sleep } from '../../src/client/deadline.ts';
import { DrillproofError } from '../../src/errors.ts';
import { type Answer, type FaultServer, faultServer } from '../faults/server.ts';
import { evidenceExport, operation, session } from '../contract/resources.ts';

export const TOKEN = 'token-that-must-never-appear';
export const PROJECT = 'prj_000000000001';
export const EXPORT = 'evexp_000000000001';
export const BUNDLE = 'evidence_000000000001';
export const HASH = `sha256:${'a'.repeat(64)}`;
export const exportRef = { projectId: PROJECT, evidenceExportId: EXPORT };
export const partRef = { ...exportRef, evidenceBundleId: BUNDLE };

/** A client that records its delays instead of waiting. */
export function testClient(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const delays: number[] = [];
  const client: Client = createClient({
    baseUrl,
    token: TOKEN,
    random: () => 0,
    sleep: (ms) => {
      delays.push(ms);
      return Promise.resolve();
    },
    ...options,
  });
  return { client, delays };
}

/** A pause that only its signal ends. */
export const sleepUntilAborted: Sleep = (_, signal) =>
  new Promise((__, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

/** The error of a promise; a promise that does not reject fails the test. */
export async function failureOf(work: Promise<unknown>): Promise<DrillproofError> {
  const outcome = await work.then(
    () => 'it succeeded',
    (cause: unknown) => cause,
  );
  if (outcome instanceof DrillproofError) return outcome;
  throw new Error('the promise did not reject with a DrillproofError', { cause: outcome });
}

/** A resource of the export, as the control plane returns it. */
export const exportResource = { ...evidenceExport, evidenceExportId: EXPORT, requestedBy: 'archivist' };

export const sessionRef = { projectId: PROJECT, sessionId: 'ses_000000000001' };
export const extendBody = { expectedLeaseGeneration: 1, expectedVersion: 7, ttlMs: 60_000 };

/** The answer of sessions.extend. */
export const extended = {
  session: { ...session, ...sessionRef, version: 8 },
  operation: { ...operation, projectId: PROJECT },
};

/** Starts servers that are closed after each test. */
export function eachServer(): (answer: Answer) => Promise<FaultServer> {
  const servers: FaultServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));
  return async (answer) => {
    const server = await faultServer(answer);
    servers.push(server);
    return server;
  };
}
