import { createClient, type Client, type ClientOptions } from '../../src/client/index.ts';
import { DrillproofError } from '../../src/errors.ts';

export const TOKEN = 'token-that-must-never-appear';
export const PROJECT = 'prj_000000000001';
export const EXPORT = 'evexp_000000000001';
export const BUNDLE = 'evidence_000000000001';
export const HASH = `sha256:${'a'.repeat(64)}`;
export const exportRef = { projectId: PROJECT, evidenceExportId: EXPORT };
export const partRef = { ...exportRef, evidenceBundleId: BUNDLE };

/** A client that does not wait between attempts but writes down how long it would have. */
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

/** What a promise rejects with; a promise that does not reject fails the test. */
export async function failureOf(work: Promise<unknown>): Promise<DrillproofError> {
  const outcome = await work.then(
    () => 'it succeeded',
    (cause: unknown) => cause,
  );
  if (outcome instanceof DrillproofError) return outcome;
  throw new Error('not the failure of ours that was expected', { cause: outcome });
}

/** An export resource that keeps every rule. */
export const exportResource = {
  schemaVersion: 1,
  evidenceExportId: EXPORT,
  organizationId: 'org_000000000001',
  scope: { kind: 'project', projectId: PROJECT },
  operationId: 'op_000000000001',
  state: 'available',
  requestedBy: 'archivist',
  fromAtMs: 0,
  throughAtMs: 10,
  selectionDigest: HASH,
  bundleCount: 1,
  completedBundleCount: 1,
  sourceBytes: '10',
  archiveBytes: '10',
  createdAtMs: 1,
  updatedAtMs: 2,
  manifestDigest: HASH,
  manifestBytes: '10',
};

export const sessionRef = { projectId: PROJECT, sessionId: 'ses_000000000001' };
export const extendBody = { expectedLeaseGeneration: 1, expectedVersion: 7, ttlMs: 60_000 };

/** The answer of sessions.extend. */
export const extended = {
  session: {
    schemaVersion: 1,
    organizationId: 'org_000000000001',
    projectId: PROJECT,
    environmentId: 'env_000000000001',
    sessionId: 'ses_000000000001',
    buildHash: HASH,
    seed: '1',
    callbackReceiverBindingIds: [],
    state: 'ready',
    leaseGeneration: 1,
    createdAtMs: 1,
    updatedAtMs: 2,
    expiresAtMs: 60_001,
    version: 8,
  },
  operation: {
    schemaVersion: 1,
    operationId: 'op_000000000001',
    organizationId: 'org_000000000001',
    projectId: PROJECT,
    kind: 'session.extend',
    state: 'succeeded',
    idempotencyKey: 'a-key-of-ours',
    requestHash: HASH,
    createdAtMs: 1,
    updatedAtMs: 2,
  },
};
