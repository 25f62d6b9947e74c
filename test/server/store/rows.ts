import { afterEach, beforeEach } from 'vitest';
import type { Digest } from '../../../src/bytes/hash.ts';
import { worldSessionSchema } from '../../../src/contract/resources/session.ts';
import { authoringSessionSchema, authoringTurnSchema } from '../../../src/contract/resources/authoring.ts';
import { hostedRunSchema } from '../../../src/contract/resources/run.ts';
import { operationResourceSchema } from '../../../src/contract/resources/operation.ts';
import {
  evidenceBundleSchema,
  localReportItemSchema,
  evidenceExportSchema,
} from '../../../src/contract/resources/evidence.ts';
import { type BuildAttemptState, buildAttemptSchema } from '../../../src/contract/resources/build.ts';
import type { NewExport, Store, Tx } from '../../../src/server/store/store.ts';
import * as samples from '../../contract/resources.ts';
import { FOREIGN_PROJECT, id, NOW_MS, ORG, OTHER_ORG, PROJECT } from '../make.ts';

/** A database: how to open and query it, and whether two instances of the service share it. */
export type StoreFactory = () => Promise<{
  open(migrations?: readonly string[]): Promise<Store>;
  query(text: string): Promise<unknown[]>;
  isShared: boolean;
}>;

export const inProject = { organizationId: ORG, projectId: PROJECT };
export const digest = (n: number): Digest => `sha256:${String(n).padStart(64, '0')}`;
export const blob = (n: number) => ({ digest: digest(n), bytes: n });

export const organization = (organizationId = ORG, name = 'x') => ({
  organizationId,
  name,
  createdAtMs: NOW_MS,
});
export const insertOrganization = (store: Store, organizationId = ORG, name = 'x'): Promise<void> =>
  store.transaction((tx) => tx.organizations.insert(organization(organizationId, name)));

export const environment = {
  ...inProject,
  environmentId: samples.session.environmentId,
  name: 'staging',
  version: 1,
  createdAtMs: NOW_MS,
  updatedAtMs: NOW_MS,
};
export const { sessionId } = samples.session;
export const session = {
  ...inProject,
  sessionId,
  resource: worldSessionSchema.parse({ ...samples.session, version: 1 }),
};
export const { authoringSessionId } = samples.authoringSession;
export const authoringSession = {
  ...inProject,
  authoringSessionId,
  resource: authoringSessionSchema.parse(samples.authoringSession),
};

export const hostedRun = (n: number, state: 'running' | 'succeeded' = 'running') => {
  const { result: _result, ...rest } = samples.hostedRun;
  const hostedRunId = id('hrun', n);
  const resource = hostedRunSchema.parse({ ...rest, hostedRunId, sessionId, state });
  return { ...inProject, hostedRunId, resource };
};

export const turn = (n: number, over: object = {}) => {
  const authoringTurnId = id('authturn', n);
  const facts = { ...samples.authoringTurn, authoringTurnId, sequence: n, ...over };
  return { ...inProject, authoringTurnId, resource: authoringTurnSchema.parse(facts) };
};

export const operation = (n: number, over: object = {}) => {
  const operationId = id('op', n);
  const facts = { ...samples.operation, operationId, ...over };
  return { ...inProject, operationId, resource: operationResourceSchema.parse(facts) };
};

type Times = { readonly createdAtMs: number; readonly deleteAtMs?: number; readonly deletedAtMs?: number };

/** The bundle `n`, whose archive is the blob `n`. */
export function bundle(n: number, times: Times = { createdAtMs: NOW_MS + n }) {
  const { deleteAtMs: _deleteAtMs, deletedAtMs: _deletedAtMs, ...rest } = samples.evidenceBundle;
  const evidenceBundleId = id('evidence', n);
  const state = times.deletedAtMs === undefined ? 'available' : 'deleted';
  const resource = evidenceBundleSchema.parse({ ...rest, ...times, evidenceBundleId, state });
  return { ...inProject, evidenceBundleId, archive: blob(n), resource };
}

const item = localReportItemSchema.parse(samples.localReportItem);

export function localReport(n: number) {
  const { ordinal: _ordinal, ...source } = item.source;
  const localReportId = id('lrep', n);
  const archive = blob(n);
  return {
    ...inProject,
    localReportId,
    archive,
    source: { ...source, localReportId, createdAtMs: NOW_MS + n },
  };
}

export function attempt(n: number, state: BuildAttemptState, uploadExpiresAtMs = NOW_MS + 10) {
  const buildAttemptId = id('attempt', n);
  const facts = { buildAttemptId, state, updatedAtMs: NOW_MS + n };
  const resource = buildAttemptSchema.parse({ ...samples.buildAttempt, ...facts });
  return { ...inProject, buildAttemptId, resource, uploadExpiresAtMs };
}

/** The part of an export that has the bundle 1 as the blob `n`, and its report that has the local report `n`. */
export const exportPart = (n: number) => ({
  ordinal: 0,
  evidenceBundleId: id('evidence', 1),
  projectId: PROJECT,
  archive: blob(n),
});
export const exportReport = (n: number, ordinal = 0) => ({
  ordinal,
  localReportId: id('lrep', n),
  projectId: PROJECT,
  archive: blob(n),
  item,
});

/** The export `n`, which lists nothing. */
export function newExport(n: number, over: Partial<NewExport> = {}): NewExport {
  const evidenceExportId = id('evexp', n);
  const resource = evidenceExportSchema.parse({ ...samples.evidenceExport, evidenceExportId });
  return { organizationId: ORG, evidenceExportId, resource, parts: [], reports: [], ...over };
}

/** Two tenants with a project each. */
export async function writeTenants(tx: Tx): Promise<void> {
  for (const [organizationId, projectId] of [
    [ORG, PROJECT],
    [OTHER_ORG, FOREIGN_PROJECT],
  ] as const) {
    await tx.organizations.insert(organization(organizationId, 'an organization'));
    await tx.projects.insert({ organizationId, projectId, name: 'a project', createdAtMs: NOW_MS });
  }
}

/** Does `count` pieces of work at once, in turn on both instances. */
export const atOnce = <T>(
  pair: readonly [Store, Store],
  count: number,
  work: (on: Store, n: number) => Promise<T>,
): Promise<T[]> => Promise.all(Array.from({ length: count }, (_, n) => work(pair[n % 2 === 0 ? 0 : 1], n)));

/**
 * Two instances of the service on a new database for each test of the describe block that calls it. The first of two
 * tenants has an environment, a session and an authoring session.
 */
export function eachPair(factory: StoreFactory) {
  let place: Awaited<ReturnType<StoreFactory>>;
  let stores: readonly [Store, Store];
  beforeEach(async () => {
    place = await factory();
    const first = await place.open();
    stores = [first, place.isShared ? await place.open() : first];
    await first.transaction(async (tx) => {
      await writeTenants(tx);
      await tx.environments.insert(environment);
      await tx.sessions.insert(session);
      await tx.authoringSessions.insert(authoringSession);
    });
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
  });
  const lend = (n: 0 | 1): Store =>
    new Proxy({} as Store, { get: (_, name) => Reflect.get(stores[n], name) as unknown });
  const pair = [lend(0), lend(1)] as const;
  const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => pair[0].transaction(work);
  return { pair, store: pair[0], write, place: () => place };
}
