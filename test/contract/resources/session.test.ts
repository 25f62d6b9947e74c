import { expect, it } from 'vitest';
import { sessionExtendRequestSchema, worldSessionSchema } from '../../../src/contract/index.ts';
import { describeResource, rulesOf } from '../field-rules.ts';
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
    ...rulesOf(
      [version, 'schemaVersion'],
      [id('org'), 'organizationId'],
      [id('prj'), 'projectId'],
      [id('env'), 'environmentId'],
      [id('ses'), 'sessionId parentSessionId?'],
      [digest, 'buildHash warmPool.setupHash'],
      [slug, 'drillId? scenarioId?'],
      [chars(1, 20), 'seed'],
      [listUpTo(64, 'cbr_0123456789ab'), 'callbackReceiverBindingIds='],
      [id('cbr'), 'callbackReceiverBindingIds[]'],
      [object, 'warmPool?'],
      [oneOf('preparing', 'ready', 'claimed', 'retired'), 'warmPool.state'],
      [positive, 'leaseGeneration'],
      [id('hsnap'), 'parentHostedSnapshotId?'],
      [integer, 'createdAtMs updatedAtMs expiresAtMs destroyedAtMs? version'],
    ),
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
  },
});

it('a world session never carries both drillId and scenarioId', () => {
  const both = worldSessionSchema.safeParse({ ...session, scenarioId: 'late-payment' });
  expect(both.error?.issues).toMatchObject([{ path: ['scenarioId'] }]);
});

it('a world session is the build baseline with neither', () => {
  const { drillId: _, ...baseline } = session;
  expect(worldSessionSchema.safeParse(baseline).success).toBe(true);
});

it('a world session has no callback receivers by default', () => {
  const { callbackReceiverBindingIds: _, ...silent } = session;
  expect(worldSessionSchema.parse(silent).callbackReceiverBindingIds).toEqual([]);
});

describeResource('body of sessions.extend', {
  schema: sessionExtendRequestSchema,
  sample: { expectedLeaseGeneration: 1, expectedVersion: -4, ttlMs: 60_000 },
  rules: rulesOf(
    [positive, 'expectedLeaseGeneration'],
    [integer, 'expectedVersion'],
    [integers(1, 604_800_000), 'ttlMs'],
  ),
});
