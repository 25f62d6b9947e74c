import { describe, expect, it } from 'vitest';
import {
  faultSetResultSchema,
  operationErrorSchema,
  operationResourceSchema,
  operationResultSchema,
  timeAdvanceResultSchema,
} from '../../src/contract/index.ts';
import { describeResource } from './field-rules.ts';
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
  rules: {
    schemaVersion: version,
    operationId: id('op'),
    organizationId: id('org'),
    'projectId?': id('prj'),
    kind: operationKind,
    state: oneOf('pending', 'running', 'succeeded', 'failed', 'cancelled'),
    'resourceType?': chars(1, 80),
    'resourceId?': chars(1, 128),
    'error?': resource(operationError),
    'result?': result,
    idempotencyKey,
    requestHash: digest,
    'cancelRequestedAtMs?': integer,
    'startedAtMs?': integer,
    'finishedAtMs?': integer,
    createdAtMs: integer,
    updatedAtMs: integer,
  },
});

const pathStep: Format = {
  accepts: ['', 'a', 0, Number.MAX_SAFE_INTEGER],
  rejects: [-1, 1.5, true, null, {}],
};

describeResource('operation error', {
  schema: operationErrorSchema,
  sample: operationError,
  open: ['', 'issues[]', 'details', 'evidence'],
  rules: {
    schemaVersion: version,
    code: code(['control', 'a-b9', 'world'], ['Control', 'a_b', 'a.b', '']),
    source: oneOf('framework', 'world', 'tool', 'target', 'assertion', 'reporter', 'control'),
    message: chars(1, 4000),
    retryable: boolean,
    'correlationId?': chosenId('corr'),
    'issues=': list,
    'issues[]': object,
    'issues[].code': chars(1, 128),
    'issues[].message': chars(1, 2000),
    'issues[].path?': list,
    'issues[].path[]': pathStep,
    'issues[].suggestion?': chars(1, 4000),
    'details?': openObject,
    'evidence?': object,
    'evidence.runId?': chosenId('run'),
    'evidence.sequence?': positive,
  },
});

describe('an operation error', () => {
  it('has no issues unless it says so', () => {
    const { issues: _, ...silent } = operationError;
    expect(operationErrorSchema.parse(silent).issues).toEqual([]);
  });
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
    kind: oneOf('world.time.advance'),
    requestedUs: integer,
    startedUs: integer,
    reachedUs: integer,
    maxEvents: integers(0, 1_000_000),
    scheduledEventsProcessed: integer,
    status: oneOf('completed', 'failed', 'interrupted'),
    eventBudgetExhausted: boolean,
    'failure?': object,
    'failure.code': {
      accepts: [...advanceCode.accepts, `world.${'A'.repeat(122)}`],
      rejects: [...advanceCode.rejects, `world.${'A'.repeat(123)}`],
    },
    'failure.message': chars(1, 1000),
    'failure.scheduledEventId?': chosenId('pending'),
  },
});

describeResource('result of world.fault.set', {
  schema: faultSetResultSchema,
  sample: faultSet,
  rules: {
    ...ofBothKinds,
    kind: oneOf('world.fault.set'),
    packageId: slug,
    faultId: slug,
    requestedActive: boolean,
    virtualTimeUs: integer,
    status: oneOf('completed', 'interrupted'),
    previouslyActive: boolean,
    active: boolean,
    changed: boolean,
    'failure?': object,
    'failure.code': oneOf('control.FAULT_CONTROL_INTERRUPTED'),
    'failure.message': chars(1, 1000),
  },
});

describe('a result', () => {
  it('is of one kind and never a mixture', () => {
    expect(operationResultSchema.safeParse({ ...timeAdvance, kind: 'world.fault.set' }).success).toBe(false);
    expect(operationResultSchema.safeParse({ ...faultSet, kind: 'world.time.advance' }).success).toBe(false);
    expect(operationResultSchema.safeParse({ ...faultSet, kind: 'world.other' }).success).toBe(false);
  });
});
