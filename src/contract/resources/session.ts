import * as z from 'zod/mini';
import * as ids from '../scalars.ts';
import { integerSchema, msSchema, positiveIntegerSchema, schemaVersionSchema } from '../scalars.ts';

export const sessionStates = [
  'creating',
  'warming',
  'ready',
  'resetting',
  'degraded',
  'expired',
  'destroying',
  'destroyed',
] as const;

export const warmPoolStates = ['preparing', 'ready', 'claimed', 'retired'] as const;

/** The longest lifetime that any session may be given, in milliseconds: seven days. */
export const MAX_SESSION_TTL_MS = 604_800_000;

const warmPoolSchema = z.strictObject({ state: z.enum(warmPoolStates), setupHash: ids.digestSchema });

/** A world session (control API, World session). With neither drillId nor scenarioId it is the build baseline. */
export const worldSessionSchema = z
  .strictObject({
    schemaVersion: schemaVersionSchema,
    organizationId: ids.organizationIdSchema,
    projectId: ids.projectIdSchema,
    environmentId: ids.environmentIdSchema,
    sessionId: ids.sessionIdSchema,
    buildHash: ids.digestSchema,
    drillId: z.optional(ids.slugSchema),
    scenarioId: z.optional(ids.slugSchema),
    seed: ids.seedSchema,
    callbackReceiverBindingIds: z._default(
      z.array(ids.callbackReceiverBindingIdSchema).check(z.maxLength(64)),
      [],
    ),
    state: z.enum(sessionStates),
    warmPool: z.optional(warmPoolSchema),
    leaseGeneration: positiveIntegerSchema,
    parentSessionId: z.optional(ids.sessionIdSchema),
    parentHostedSnapshotId: z.optional(ids.hostedSnapshotIdSchema),
    createdAtMs: msSchema,
    updatedAtMs: msSchema,
    expiresAtMs: msSchema,
    destroyedAtMs: z.optional(msSchema),
    version: integerSchema,
  })
  .check(
    z.refine((session) => session.drillId === undefined || session.scenarioId === undefined, {
      error: 'drillId and scenarioId exclude each other',
      path: ['scenarioId'],
    }),
    z.meta({ not: { properties: { drillId: {}, scenarioId: {} }, required: ['drillId', 'scenarioId'] } }),
  );

/** An environment: the build that its worlds are made from. `version` rises by one whenever the build changes. */
export const environmentSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  organizationId: ids.organizationIdSchema,
  projectId: ids.projectIdSchema,
  environmentId: ids.environmentIdSchema,
  name: z.string(),
  buildHash: z.optional(ids.digestSchema),
  version: integerSchema,
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
});

/** Body of sessions.extend. `ttlMs` counts from the admission of the request, not from the old deadline. */
export const sessionExtendRequestSchema = z.strictObject({
  expectedLeaseGeneration: positiveIntegerSchema,
  expectedVersion: integerSchema,
  ttlMs: positiveIntegerSchema.check(z.lte(MAX_SESSION_TTL_MS)),
});

/** A running world and its lease (control API, World session). Times are milliseconds since 1970. */
export interface WorldSession extends z.infer<typeof worldSessionSchema> {}
export type SessionExtendRequest = z.infer<typeof sessionExtendRequestSchema>;
