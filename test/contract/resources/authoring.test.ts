import { expect, it } from 'vitest';
import {
  authoringSessionSchema,
  authoringTurnSchema,
  turnDefaults,
  turnRequestSchema,
} from '../../../src/contract/index.ts';
import { describeResource, rulesOf } from '../field-rules.ts';
import {
  anyValue,
  chars,
  id,
  integer,
  integers,
  nonEmpty,
  number,
  numbers,
  oneOf,
  opaqueId,
  principal,
  resource,
  string,
  version,
} from '../formats.ts';
import { authoringSession, authoringTurn, operationError, turnRequest } from '../samples.ts';

const model = chars(1, 64);
const effort = oneOf('low', 'medium', 'high', 'xhigh', 'max');
const maxTurns = integers(1, 200);
const maxBudgetUsd = numbers(1000);
const timeoutMs = integers(1000, 7_200_000);

describeResource('body of authoring.turns.create', {
  schema: turnRequestSchema,
  sample: turnRequest,
  rules: rulesOf(
    [chars(1, 32_768), 'prompt'],
    [model, 'model?'],
    [effort, 'effort?'],
    [maxTurns, 'maxTurns?'],
    [maxBudgetUsd, 'maxBudgetUsd?'],
    [timeoutMs, 'timeoutMs?'],
  ),
});

it('a turn request keeps what is absent absent, so that its hash covers the body as sent', () => {
  expect(turnRequestSchema.parse({ prompt: 'x' })).toEqual({ prompt: 'x' });
});

it('a turn request could be sent with every default spelled out', () => {
  expect(turnRequestSchema.parse({ prompt: 'x', ...turnDefaults })).toEqual({ prompt: 'x', ...turnDefaults });
});

describeResource('authoring session', {
  schema: authoringSessionSchema,
  sample: authoringSession,
  rules: rulesOf(
    [version, 'schemaVersion'],
    [id('authsess'), 'authoringSessionId'],
    [id('org'), 'organizationId'],
    [id('prj'), 'projectId'],
    [opaqueId, 'repositoryBindingId activeTurnId? currentProposalId?'],
    [principal, 'createdBy'],
    [nonEmpty, 'branch baseRevision'],
    [anyValue, 'state'],
    [integer, 'version createdAtMs updatedAtMs closedAtMs?'],
  ),
});

describeResource('authoring turn', {
  schema: authoringTurnSchema,
  sample: authoringTurn,
  rules: rulesOf(
    [version, 'schemaVersion'],
    [opaqueId, 'authoringTurnId proposalId? agentSessionId?'],
    [id('authsess'), 'authoringSessionId'],
    [id('org'), 'organizationId'],
    [id('prj'), 'projectId'],
    [string, 'prompt actualModel? resultText?'],
    [model, 'model'],
    [effort, 'effort'],
    [maxTurns, 'maxTurns'],
    [maxBudgetUsd, 'maxBudgetUsd'],
    [timeoutMs, 'timeoutMs'],
    [anyValue, 'state'],
    [id('op'), 'operationId'],
    [integer, 'createdAtMs cancelRequestedAtMs? startedAtMs? finishedAtMs?'],
    [integer, 'sequence turnsUsed? durationMs?'],
    [number, 'estimatedCostUsd?'],
    [resource(operationError), 'error?'],
  ),
});
