import { describe, expect, it } from 'vitest';
import { sessionExtendRequestSchema, worldSessionSchema } from '../../../src/contract/index.ts';
import { describeResource } from '../field-rules.ts';
import {
  chars,
  digest,
  id,
  integer,
  integers,
  listUpTo,
  object,
  oneOf,
  positive,
  slug,
  version,
} from '../formats.ts';
import { session } from '../samples.ts';

describeResource('world session', {
  schema: worldSessionSchema,
  sample: session,
  insteadOf: { scenarioId: 'drillId' },
  rules: {
    schemaVersion: version,
    organizationId: id('org'),
    projectId: id('prj'),
    environmentId: id('env'),
    sessionId: id('ses'),
    buildHash: digest,
    'drillId?': slug,
    'scenarioId?': slug,
    seed: chars(1, 20),
    'callbackReceiverBindingIds=': listUpTo(64, 'cbr_0123456789ab'),
    'callbackReceiverBindingIds[]': id('cbr'),
    state: oneOf(
      'creating',
      'warming',
      'ready',
      'resetting',
      'degraded',
      'expired',
      'destroying',
      'destroyed',
    ),
    'warmPool?': object,
    'warmPool.state': oneOf('preparing', 'ready', 'claimed', 'retired'),
    'warmPool.setupHash': digest,
    leaseGeneration: positive,
    'parentSessionId?': id('ses'),
    'parentHostedSnapshotId?': id('hsnap'),
    createdAtMs: integer,
    updatedAtMs: integer,
    expiresAtMs: integer,
    'destroyedAtMs?': integer,
    version: integer,
  },
});

describe('a world session', () => {
  it('never carries both drillId and scenarioId', () => {
    const both = worldSessionSchema.safeParse({ ...session, scenarioId: 'late-payment' });
    expect(both.error?.issues).toMatchObject([{ path: ['scenarioId'] }]);
  });

  it('is the build baseline with neither', () => {
    const { drillId: _, ...baseline } = session;
    expect(worldSessionSchema.safeParse(baseline).success).toBe(true);
  });

  it('has no callback receivers unless it says so', () => {
    const { callbackReceiverBindingIds: _, ...silent } = session;
    expect(worldSessionSchema.parse(silent).callbackReceiverBindingIds).toEqual([]);
  });
});

describeResource('body of sessions.extend', {
  schema: sessionExtendRequestSchema,
  sample: { expectedLeaseGeneration: 1, expectedVersion: -4, ttlMs: 60_000 },
  rules: {
    expectedLeaseGeneration: positive,
    expectedVersion: integer,
    ttlMs: integers(1, 604_800_000),
  },
});
