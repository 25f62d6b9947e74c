import * as z from 'zod';
import {
  environmentIdSchema,
  hostedRunSchema,
  MAX_SESSION_TTL_MS,
  worldSessionSchema,
  digestSchema,
  type HostedRun,
  type WorldSession,
} from '../../contract/index.ts';
import { typeDocument } from '../../evidence/index.ts';
import { isEnd } from '../states.ts';
import type { OrganizationRow } from '../store/store.ts';
import type { EnvironmentRow } from '../store/work.ts';
import { newId, refused, requireProject, type AdminContext } from './context.ts';

const code = 'server.ADMIN_REFUSED';
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

export type EnvironmentInput = {
  readonly projectId: string;
  readonly environmentId?: string;
  readonly name: string;
  readonly buildHash?: string;
};

export type SessionInput = {
  readonly projectId: string;
  readonly environmentId: string;
  readonly sessionId?: string;
  /** Default: the build of the environment. */
  readonly buildHash?: string;
  readonly drillId?: string;
  readonly scenarioId?: string;
  readonly seed?: string;
  /** Default: `ready`. */
  readonly state?: WorldSession['state'];
  /** Lifetime from now; default one hour. */
  readonly ttlMs?: number;
};

export type RunInput = {
  readonly projectId: string;
  readonly sessionId: string;
  readonly hostedRunId?: string;
  /** Default: the drill of the session. */
  readonly drillId?: string;
  /** Default: `created`. */
  readonly state?: string;
  readonly counters?: Partial<
    Pick<HostedRun['request'], 'trial' | 'trialCount' | 'attempt' | 'attemptLimit'>
  >;
};

const environmentInputSchema = z.strictObject({
  environmentId: environmentIdSchema,
  name: z.string().min(1).max(255),
  buildHash: digestSchema.optional(),
});

/** Creates an environment, at version 1. @throws DrillproofError `server.ADMIN_REFUSED` */
export async function createEnvironment(
  { store, now }: AdminContext,
  { projectId, environmentId = newId('env'), ...facts }: EnvironmentInput,
): Promise<EnvironmentRow> {
  const { name, buildHash } = typeDocument(
    { environmentId, ...facts },
    { schema: environmentInputSchema, code },
  );
  const nowMs = now();
  return store.transaction(async (tx) => {
    const { organizationId } = await requireProject(tx, projectId);
    if ((await tx.environment(projectId, environmentId)) !== undefined)
      throw refused(`${environmentId} exists already`);
    const row = {
      organizationId,
      projectId,
      environmentId,
      name,
      ...(buildHash !== undefined && { buildHash }),
      version: 1,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await tx.insertEnvironment(row);
    return row;
  });
}

function sessionOf(environment: EnvironmentRow, input: SessionInput, nowMs: number): WorldSession {
  const { organizationId, projectId, environmentId } = environment;
  const { sessionId = newId('ses'), seed = '1', state = 'ready', ttlMs = HOUR_MS } = input;
  const { drillId, scenarioId, buildHash = environment.buildHash } = input;
  const session = {
    schemaVersion: 1,
    organizationId,
    projectId,
    environmentId,
    sessionId,
    buildHash,
    ...(drillId !== undefined && { drillId }),
    ...(scenarioId !== undefined && { scenarioId }),
    seed,
    state,
    leaseGeneration: 1,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs + ttlMs,
    version: 1,
  };
  return typeDocument(session, { schema: worldSessionSchema, code });
}

/** Creates a world session in an environment. @throws DrillproofError `server.ADMIN_REFUSED` */
export async function createSession(
  { store, now }: AdminContext,
  input: SessionInput,
): Promise<WorldSession> {
  const { projectId, environmentId } = input;
  return store.transaction(async (tx) => {
    const environment = await tx.environment(projectId, environmentId);
    if (environment === undefined) throw refused(`there is no environment ${environmentId}`);
    const resource = sessionOf(environment, input, now());
    const { organizationId, sessionId } = resource;
    if ((await tx.session(projectId, sessionId)) !== undefined) throw refused(`${sessionId} exists already`);
    await tx.insertSession({ organizationId, projectId, sessionId, resource });
    return resource;
  });
}

const ONE_TRIAL = { trial: 1, trialCount: 1, attempt: 1, attemptLimit: 1 };

function runOf(session: WorldSession, input: RunInput, nowMs: number): HostedRun {
  const { organizationId, projectId, environmentId, sessionId, buildHash, seed } = session;
  const { hostedRunId = newId('hrun'), drillId = session.drillId, state = 'created', counters } = input;
  const ended = isEnd('run', state);
  const run = {
    schemaVersion: 1,
    hostedRunId,
    evidenceBundleId: newId('evidence'),
    organizationId,
    projectId,
    environmentId,
    sessionId,
    buildHash,
    request: {
      runId: newId('run'),
      drillId,
      seed,
      ...ONE_TRIAL,
      ...counters,
    },
    leaseGeneration: session.leaseGeneration,
    revision: 1,
    state,
    deadlineAtMs: session.expiresAtMs,
    evidenceRetentionMs: 30 * DAY_MS,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...(ended && { finishedAtMs: nowMs }),
  };
  return typeDocument(run, { schema: hostedRunSchema, code });
}

/** Creates a run of a session. @throws DrillproofError `server.ADMIN_REFUSED` */
export async function createRun({ store, now }: AdminContext, input: RunInput): Promise<HostedRun> {
  const { projectId, sessionId } = input;
  return store.transaction(async (tx) => {
    const session = await tx.session(projectId, sessionId);
    if (session === undefined) throw refused(`there is no session ${sessionId}`);
    const resource = runOf(session.resource, input, now());
    const { organizationId, hostedRunId } = resource;
    if ((await tx.hostedRun(projectId, hostedRunId)) !== undefined)
      throw refused(`${hostedRunId} exists already`);
    await tx.insertHostedRun({ organizationId, projectId, hostedRunId, resource });
    return resource;
  });
}

const entitlementSchema = z.int().positive().max(MAX_SESSION_TTL_MS);

/**
 * Sets how long an organization's sessions may be extended to live.
 * @throws DrillproofError `server.ADMIN_REFUSED` for no organization, or none of 1 to 604,800,000 ms
 */
export async function setEntitlement(
  { store }: AdminContext,
  { organizationId, maxSessionTtlMs }: { organizationId: string; maxSessionTtlMs: number },
): Promise<OrganizationRow> {
  typeDocument(maxSessionTtlMs, { schema: entitlementSchema, code });
  return store.transaction(async (tx) => {
    const row = await tx.organization(organizationId);
    if (row === undefined) throw refused(`there is no organization ${organizationId}`);
    const entitled = { ...row, maxSessionTtlMs };
    await tx.updateOrganization(entitled);
    return entitled;
  });
}
