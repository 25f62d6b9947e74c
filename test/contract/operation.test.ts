import { expect, it } from 'vitest';
import {
  faultSetResultSchema,
  operationErrorSchema,
  operationResourceSchema,
  operationResultSchema,
  timeAdvanceResultSchema,
} from '../../src/contract/index.ts';
import { describeResource, rulesOf } from './field-rules.ts';
import {
  boolean,
  chars,
  chosenId,
  code,
  digest,
  type Format,
  id,
  idempotencyKey,
  integer,
  integers,
  list,
  object,
  oneOf,
  openObject,
  operationKind,
  positive,
  resource,
  slug,
  version,
} from './formats.ts';
import { faultSet, operation, operationError, timeAdvance } from './samples.ts';

const result: Format = { ...resource(timeAdvance), accepts: [timeAdvance, faultSet] };

describeResource('operation', {
  schema: operationResourceSchema,
  sample: operation,
  rules: rulesOf(
    [version, 'schemaVersion'],
    [id('op'), 'operationId'],
    [id('org'), 'organizationId'],
    [id('prj'), 'projectId?'],
    [operationKind, 'kind'],
    [oneOf('pending', 'running', 'succeeded', 'failed', 'cancelled'), 'state'],
    [chars(1, 80), 'resourceType?'],
    [chars(1, 128), 'resourceId?'],
    [resource(operationError), 'error?'],
    [result, 'result?'],
    [idempotencyKey, 'idempotencyKey'],
    [digest, 'requestHash'],
    [integer, 'cancelRequestedAtMs? startedAtMs? finishedAtMs? createdAtMs updatedAtMs'],
  ),
});

const pathStep: Format = {
  accepts: ['', 'a', 0, Number.MAX_SAFE_INTEGER],
  rejects: [-1, 1.5, true, null, {}],
};

describeResource('operation error', {
  schema: operationErrorSchema,
  sample: operationError,
  open: ['', 'issues[]', 'details', 'evidence'],
  rules: rulesOf(
    [version, 'schemaVersion'],
    [code(['control', 'a-b9', 'world'], ['Control', 'a_b', 'a.b', '']), 'code'],
    [oneOf('framework', 'world', 'tool', 'target', 'assertion', 'reporter', 'control'), 'source'],
    [chars(1, 4000), 'message issues[].suggestion?'],
    [boolean, 'retryable'],
    [chosenId('corr'), 'correlationId?'],
    [list, 'issues= issues[].path?'],
    [chars(1, 128), 'issues[].code'],
    [chars(1, 2000), 'issues[].message'],
    [pathStep, 'issues[].path[]'],
    [openObject, 'details?'],
    [object, 'evidence?'],
    [chosenId('run'), 'evidence.runId?'],
    [positive, 'evidence.sequence?'],
  ),
});

it('an operation error has no issues by default', () => {
  const { issues: _, ...silent } = operationError;
  expect(operationErrorSchema.parse(silent).issues).toEqual([]);
});

const ofBothKinds = {
  schemaVersion: version,
  operationId: id('op'),
  sessionId: id('ses'),
  leaseGeneration: positive,
  buildHash: digest,
  correlationId: chosenId('corr'),
  evidenceBeforeSequence: integer,
  evidenceAfterSequence: integer,
};

const advanceCode = code(['control', 'framework', 'world'], ['tool', 'a-b', '']);

describeResource('result of world.time.advance', {
  schema: timeAdvanceResultSchema,
  sample: timeAdvance,
  rules: {
    ...ofBothKinds,
    ...rulesOf(
      [oneOf('world.time.advance'), 'kind'],
      [integer, 'requestedUs startedUs reachedUs scheduledEventsProcessed'],
      [integers(0, 1_000_000), 'maxEvents'],
      [oneOf('completed', 'failed', 'interrupted'), 'status'],
      [boolean, 'eventBudgetExhausted'],
      [object, 'failure?'],
      [chars(1, 1000), 'failure.message'],
      [chosenId('pending'), 'failure.scheduledEventId?'],
    ),
    'failure.code': {
      accepts: [...advanceCode.accepts, `world.${'A'.repeat(122)}`],
      rejects: [...advanceCode.rejects, `world.${'A'.repeat(123)}`],
    },
  },
});

describeResource('result of world.fault.set', {
  schema: faultSetResultSchema,
  sample: faultSet,
  rules: {
    ...ofBothKinds,
    ...rulesOf(
      [oneOf('world.fault.set'), 'kind'],
      [slug, 'packageId faultId'],
      [boolean, 'requestedActive previouslyActive active changed'],
      [integer, 'virtualTimeUs'],
      [oneOf('completed', 'interrupted'), 'status'],
      [object, 'failure?'],
      [oneOf('control.FAULT_CONTROL_INTERRUPTED'), 'failure.code'],
      [chars(1, 1000), 'failure.message'],
    ),
  },
});

it('a result is of one kind and never a mixture', () => {
  expect(operationResultSchema.safeParse({ ...timeAdvance, kind: 'world.fault.set' }).success).toBe(false);
  expect(operationResultSchema.safeParse({ ...faultSet, kind: 'world.time.advance' }).success).toBe(false);
  expect(operationResultSchema.safeParse({ ...faultSet, kind: 'world.other' }).success).toBe(false);
});
