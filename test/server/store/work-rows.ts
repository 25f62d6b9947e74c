import { afterEach, beforeEach } from 'vitest';
import {
  authoringSessionSchema,
  authoringTurnSchema,
  hostedRunSchema,
  operationResourceSchema,
  worldSessionSchema,
} from '../../../src/contract/index.ts';
import type { Store } from '../../../src/server/store/store.ts';
import * as samples from '../../contract/resources.ts';
import { FOREIGN_PROJECT, id, NOW_MS, ORG, OTHER_ORG, PROJECT } from '../make.ts';

/** Two instances of the service on one database: how to open them, and how to remove what they stood on. */
export type PairFactory = () => Promise<{
  readonly stores: readonly [Store, Store];
  readonly remove: () => Promise<void>;
}>;

export const inProject = { organizationId: ORG, projectId: PROJECT };
export const environment = {
  ...inProject,
  environmentId: samples.session.environmentId,
  name: 'staging',
  version: 1,
  createdAtMs: NOW_MS,
  updatedAtMs: NOW_MS,
};
export const session = {
  ...inProject,
  sessionId: samples.session.sessionId,
  resource: worldSessionSchema.parse({ ...samples.session, version: 1 }),
};
export const { sessionId } = session;
export const authoringSession = {
  ...inProject,
  authoringSessionId: samples.authoringSession.authoringSessionId,
  resource: authoringSessionSchema.parse(samples.authoringSession),
};
export const { authoringSessionId } = authoringSession;

export const hostedRun = (n: number, state: 'running' | 'succeeded' = 'running') => {
  const { result: _result, ...rest } = samples.hostedRun;
  const hostedRunId = id('hrun', n);
  return {
    ...inProject,
    hostedRunId,
    resource: hostedRunSchema.parse({ ...rest, hostedRunId, sessionId, state }),
  };
};

export const turn = (n: number) => ({
  ...inProject,
  authoringTurnId: id('authturn', n),
  resource: authoringTurnSchema.parse({
    ...samples.authoringTurn,
    authoringTurnId: id('authturn', n),
    sequence: n,
  }),
});

export const operation = (n: number) => ({
  ...inProject,
  operationId: id('op', n),
  resource: operationResourceSchema.parse({ ...samples.operation, operationId: id('op', n) }),
});

/** Two tenants; the first has an environment, a session and an authoring session. */
export const writeTenants = (store: Store): Promise<void> =>
  store.transaction(async (tx) => {
    for (const [organizationId, projectId] of [
      [ORG, PROJECT],
      [OTHER_ORG, FOREIGN_PROJECT],
    ] as const) {
      await tx.organizations.insert({ organizationId, name: 'an organization', createdAtMs: NOW_MS });
      await tx.projects.insert({ organizationId, projectId, name: 'a project', createdAtMs: NOW_MS });
    }
    await tx.environments.insert(environment);
    await tx.sessions.insert(session);
    await tx.authoringSessions.insert(authoringSession);
  });

/** Runs `count` pieces of work at once, in turn on both instances. */
export const atOnce = <T>(
  pair: readonly [Store, Store],
  count: number,
  work: (on: Store, n: number) => Promise<T>,
): Promise<T[]> => Promise.all(Array.from({ length: count }, (_, n) => work(pair[n % 2 === 0 ? 0 : 1], n)));

/** Two instances on a new database with tenants, for each test of the describe block that calls it. */
export function eachPair(factory: PairFactory): readonly [Store, Store] {
  let made: Awaited<ReturnType<PairFactory>>;
  beforeEach(async () => {
    made = await factory();
    await writeTenants(made.stores[0]);
  });
  afterEach(async () => {
    for (const store of made.stores) await store.close();
    await made.remove();
  });
  const lend = (n: 0 | 1): Store =>
    new Proxy({} as Store, { get: (_, name) => Reflect.get(made.stores[n], name) as unknown });
  return [lend(0), lend(1)];
}
