import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ENVIRONMENT,
  FOREIGN_PROJECT,
  HASH,
  id,
  NOW_MS,
  ORG,
  PROJECT,
  tenants,
  world,
  worlds,
  type World,
} from '../make.ts';
import { codeOf } from '../thrown.ts';

let here: World;
beforeEach(async () => {
  here = await world();
  await tenants(here);
  await worlds(here);
});
afterEach(() => here.close());

const session = { projectId: PROJECT, environmentId: ENVIRONMENT };
const REFUSED = 'server.ADMIN_REFUSED';

describe('an environment', () => {
  it('begins at version 1, with or without a build', async () => {
    const made = await here.admin.createEnvironment({ projectId: PROJECT, name: 'empty' });
    expect(made).toEqual({
      organizationId: ORG,
      projectId: PROJECT,
      environmentId: made.environmentId,
      name: 'empty',
      version: 1,
      createdAtMs: NOW_MS,
      updatedAtMs: NOW_MS,
    });
    expect(await here.store.environment(PROJECT, made.environmentId)).toEqual(made);
    expect((await here.store.environment(PROJECT, ENVIRONMENT))?.buildHash).toBe(HASH);
  });

  it.each([
    { projectId: id('prj', 99), name: 'x' },
    { projectId: PROJECT, name: '' },
    { projectId: PROJECT, name: 'x', environmentId: 'env_x' },
    { projectId: PROJECT, name: 'x', environmentId: ENVIRONMENT },
    { projectId: PROJECT, name: 'x', buildHash: 'sha256:x' },
  ])('is refused as %j', async (input) => {
    expect(await codeOf(here.admin.createEnvironment(input))).toBe(REFUSED);
  });
});

describe('a session', () => {
  it('is ready for an hour with the build of its environment, unless told otherwise', async () => {
    expect(await here.admin.createSession(session)).toMatchObject({
      state: 'ready',
      buildHash: HASH,
      version: 1,
      leaseGeneration: 1,
      expiresAtMs: NOW_MS + 3_600_000,
    });
    const told = { state: 'warming', ttlMs: 5, scenarioId: 'flood', seed: '7' } as const;
    const { ttlMs: _ttlMs, ...shown } = told;
    expect(await here.admin.createSession({ ...session, ...told })).toMatchObject({
      ...shown,
      expiresAtMs: NOW_MS + 5,
    });
  });

  it.each([
    { ...session, environmentId: id('env', 9) },
    { ...session, projectId: FOREIGN_PROJECT },
    { ...session, sessionId: id('ses', 1) },
    { ...session, sessionId: 'ses_x' },
    { ...session, drillId: 'a', scenarioId: 'b' },
    { ...session, drillId: 'Not A Slug' },
    { ...session, ttlMs: 0.5 },
  ])('is refused as %j', async (input) => {
    expect(await codeOf(here.admin.createSession(input))).toBe(REFUSED);
  });

  it('is refused in an environment without a build', async () => {
    const { environmentId } = await here.admin.createEnvironment({ projectId: PROJECT, name: 'empty' });
    expect(await codeOf(here.admin.createSession({ ...session, environmentId }))).toBe(REFUSED);
  });
});

describe('a run', () => {
  const run = { projectId: PROJECT, sessionId: id('ses', 1) };

  it('takes drill, seed, build and deadline from its session', async () => {
    const made = await here.admin.createRun(run);
    expect(made).toMatchObject({
      state: 'created',
      buildHash: HASH,
      request: { drillId: 'restore', seed: '1', trial: 1, attemptLimit: 1 },
      deadlineAtMs: NOW_MS + 3_600_000,
    });
    expect(made.finishedAtMs).toBeUndefined();
    expect((await here.admin.createRun({ ...run, state: 'succeeded' })).finishedAtMs).toBe(NOW_MS);
  });

  it.each([
    { ...run, sessionId: id('ses', 9) },
    { ...run, hostedRunId: id('hrun', 1) },
    { ...run, hostedRunId: 'hrun_x' },
    { ...run, state: '' },
    { ...run, counters: { trial: 0.5 } },
  ])('is refused as %j', async (input) => {
    expect(await codeOf(here.admin.createRun(input))).toBe(REFUSED);
  });

  it('needs a drill when its session has none', async () => {
    const { sessionId } = await here.admin.createSession(session);
    expect(await codeOf(here.admin.createRun({ projectId: PROJECT, sessionId }))).toBe(REFUSED);
    const made = await here.admin.createRun({ projectId: PROJECT, sessionId, drillId: 'restore' });
    expect(made.request.drillId).toBe('restore');
  });
});

describe('a conversation', () => {
  const conversation = { projectId: PROJECT, branch: 'main', baseRevision: 'a1' };

  it('is active at version 1', async () => {
    expect(await here.admin.createAuthoringSession(conversation)).toMatchObject({
      state: 'active',
      version: 1,
      branch: 'main',
      baseRevision: 'a1',
    });
  });

  it.each([
    { ...conversation, projectId: id('prj', 99) },
    { ...conversation, authoringSessionId: id('authsess', 1) },
    { ...conversation, authoringSessionId: 'authsess_x' },
    { ...conversation, branch: '' },
  ])('is refused as %j', async (input) => {
    expect(await codeOf(here.admin.createAuthoringSession(input))).toBe(REFUSED);
  });
});

describe('an entitlement', () => {
  it.each([1, 604_800_000])('of %d ms is kept', async (maxSessionTtlMs) => {
    const entitled = await here.admin.setEntitlement({ organizationId: ORG, maxSessionTtlMs });
    expect(entitled).toMatchObject({ name: 'first', maxSessionTtlMs });
    expect(await here.store.organization(ORG)).toEqual(entitled);
  });

  it.each([0, 604_800_001, 1.5])('of %d ms is refused', async (maxSessionTtlMs) => {
    expect(await codeOf(here.admin.setEntitlement({ organizationId: ORG, maxSessionTtlMs }))).toBe(REFUSED);
  });

  it('of an organization that is not there is refused', async () => {
    const lost = { organizationId: id('org', 9), maxSessionTtlMs: 1 };
    expect(await codeOf(here.admin.setEntitlement(lost))).toBe(REFUSED);
  });
});
