import * as z from 'zod/mini';
import * as ids from '../scalars.ts';
import { operationErrorSchema } from './operation.ts';
import { integerSchema, msSchema, openEnumeration, schemaVersionSchema, textSchema } from '../scalars.ts';

/** The model tiers of a control plane that configures none. */
export const modelTiers = ['model_tier_1', 'model_tier_2', 'model_tier_3'] as const;
export const authoringTurnStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

/** Defaults of a turn. The schema does not fill them in, because `requestHash` covers the body as sent. */
export const turnDefaults = {
  model: 'model_tier_2',
  effort: 'medium',
  maxTurns: 50,
  maxBudgetUsd: 10,
  timeoutMs: 1_800_000,
} as const;

// The tiers are configuration; the control plane refuses other values.
const modelSchema = openEnumeration(modelTiers);
const effortSchema = z.enum(['low', 'medium', 'high', 'xhigh', 'max']);
const maxTurnsSchema = z.int().check(z.positive(), z.lte(200));
const maxBudgetUsdSchema = z.number().check(z.positive(), z.lte(1000));
const timeoutMsSchema = z.int().check(z.gte(1000), z.lte(7_200_000));

export const authoringSessionSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  authoringSessionId: ids.authoringSessionIdSchema,
  organizationId: ids.organizationIdSchema,
  projectId: ids.projectIdSchema,
  repositoryBindingId: ids.opaqueIdSchema,
  createdBy: ids.principalSchema,
  branch: z.string().check(z.minLength(1)),
  baseRevision: z.string().check(z.minLength(1)),
  state: openEnumeration(['active', 'closed']),
  version: integerSchema,
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
  activeTurnId: z.optional(ids.opaqueIdSchema),
  currentProposalId: z.optional(ids.opaqueIdSchema),
  closedAtMs: z.optional(msSchema),
});

export const authoringTurnSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  authoringTurnId: ids.opaqueIdSchema,
  authoringSessionId: ids.authoringSessionIdSchema,
  organizationId: ids.organizationIdSchema,
  projectId: ids.projectIdSchema,
  sequence: integerSchema,
  prompt: z.string(),
  model: modelSchema,
  effort: effortSchema,
  maxTurns: maxTurnsSchema,
  maxBudgetUsd: maxBudgetUsdSchema,
  timeoutMs: timeoutMsSchema,
  state: openEnumeration(authoringTurnStates),
  operationId: ids.operationIdSchema,
  createdAtMs: msSchema,
  cancelRequestedAtMs: z.optional(msSchema),
  startedAtMs: z.optional(msSchema),
  finishedAtMs: z.optional(msSchema),
  proposalId: z.optional(ids.opaqueIdSchema),
  agentSessionId: z.optional(ids.opaqueIdSchema),
  actualModel: z.optional(z.string()),
  turnsUsed: z.optional(integerSchema),
  durationMs: z.optional(integerSchema),
  estimatedCostUsd: z.optional(z.number()),
  resultText: z.optional(z.string()),
  error: z.optional(operationErrorSchema),
});

/** Body of authoring.turns.create: only the prompt is required. */
export const turnRequestSchema = z.strictObject({
  prompt: textSchema(1, 32_768),
  model: z.optional(modelSchema),
  effort: z.optional(effortSchema),
  maxTurns: z.optional(maxTurnsSchema),
  maxBudgetUsd: z.optional(maxBudgetUsdSchema),
  timeoutMs: z.optional(timeoutMsSchema),
});

/** A conversation in which a repository is authored (control API, Authoring session). */
export interface AuthoringSession extends z.infer<typeof authoringSessionSchema> {}
/** One prompt of an authoring session and its result (control API, Authoring turn). `durationMs` is in milliseconds. */
export interface AuthoringTurn extends z.infer<typeof authoringTurnSchema> {}
export type TurnRequest = z.infer<typeof turnRequestSchema>;
