import { describe, expect, it } from 'vitest';
import {
  authoringSessionSchema,
  authoringTurnSchema,
  turnDefaults,
  turnRequestSchema,
} from '../../../src/contract/index.ts';
import { describeResource } from '../field-rules.ts';
import {
  anyValue,
  chars,
  count,
  id,
  integer,
  integers,
  nonEmpty,
  notNegative,
  numbers,
  oneOf,
  opaqueId,
  principal,
  resource,
  string,
  version,
} from '../formats.ts';
import { authoringSession, authoringTurn, operationError, turnRequest } from '../samples.ts';

const model = oneOf('model_tier_1', 'model_tier_2', 'model_tier_3');
const effort = oneOf('low', 'medium', 'high', 'xhigh', 'max');
const maxTurns = integers(1, 200);
const maxBudgetUsd = numbers(1000);
const timeoutMs = integers(1000, 7_200_000);

describeResource('body of authoring.turns.create', {
  schema: turnRequestSchema,
  sample: turnRequest,
  rules: {
    prompt: chars(1, 32_768),
    'model?': model,
    'effort?': effort,
    'maxTurns?': maxTurns,
    'maxBudgetUsd?': maxBudgetUsd,
    'timeoutMs?': timeoutMs,
  },
});

describe('a turn request', () => {
  it('keeps what is absent absent, so that its hash covers the body as sent', () => {
    expect(turnRequestSchema.parse({ prompt: 'x' })).toEqual({ prompt: 'x' });
  });

  it('could be sent with every default spelled out', () => {
    expect(turnRequestSchema.parse({ prompt: 'x', ...turnDefaults })).toEqual({
      prompt: 'x',
      ...turnDefaults,
    });
  });
});

describeResource('authoring session', {
  schema: authoringSessionSchema,
  sample: authoringSession,
  rules: {
    schemaVersion: version,
    authoringSessionId: id('authsess'),
    organizationId: id('org'),
    projectId: id('prj'),
    repositoryBindingId: opaqueId,
    createdBy: principal,
    branch: nonEmpty,
    baseRevision: nonEmpty,
    state: anyValue,
    version: integer,
    createdAtMs: integer,
    updatedAtMs: integer,
    'activeTurnId?': opaqueId,
    'currentProposalId?': opaqueId,
    'closedAtMs?': integer,
  },
});

describeResource('authoring turn', {
  schema: authoringTurnSchema,
  sample: authoringTurn,
  rules: {
    schemaVersion: version,
    authoringTurnId: opaqueId,
    authoringSessionId: id('authsess'),
    organizationId: id('org'),
    projectId: id('prj'),
    sequence: count,
    prompt: string,
    model,
    effort,
    maxTurns,
    maxBudgetUsd,
    timeoutMs,
    state: anyValue,
    operationId: id('op'),
    createdAtMs: integer,
    'cancelRequestedAtMs?': integer,
    'startedAtMs?': integer,
    'finishedAtMs?': integer,
    'proposalId?': opaqueId,
    'agentSessionId?': opaqueId,
    'actualModel?': string,
    'turnsUsed?': count,
    'durationMs?': count,
    'estimatedCostUsd?': notNegative,
    'resultText?': string,
    'error?': resource(operationError),
  },
});
