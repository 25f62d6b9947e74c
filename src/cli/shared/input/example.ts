import type { HostedRun } from '../../../contract/resources/run.ts';

export const HASH = `sha256:${'0123456789abcdef'.repeat(4)}` as const;
const RUN_ID = 'run_example';
const VIRTUAL_END_US = 5_000_000;

type Result = NonNullable<HostedRun['result']>;
/** Builds a description of a run with every member that `pack` requires. */
export const buildExample = (createdAtMs: number) => ({
  evidenceBundleId: 'evidence_0123456789ab',
  organizationId: 'org_0123456789ab',
  projectId: 'prj_0123456789ab',
  hostedRunId: 'hrun_0123456789ab',
  runId: RUN_ID,
  createdAtMs,
  runResult: {
    schemaVersion: 1,
    identity: {
      runId: RUN_ID,
      worldInstanceId: 'world-1',
      drillId: 'refund',
      targetId: 'shop',
      buildHash: HASH,
      packageLockHash: HASH,
      seed: '1',
      trial: 1,
      trialCount: 1,
      attempt: 1,
      attemptLimit: 1,
    },
    startedAtVirtualUs: 0,
    finishedAtVirtualUs: VIRTUAL_END_US,
    bindingEvidence: 'complete',
    worldConsistency: 'consistent',
    interactions: [
      {
        schemaVersion: 1,
        interactionId: 'ask-for-refund',
        actorId: 'customer',
        task: { instruction: 'Refund order 17.' },
        scheduledAtVirtualUs: 0,
        startedAtVirtualUs: 0,
        finishedAtVirtualUs: VIRTUAL_END_US,
        bindingEvidence: 'complete',
        targetResult: { schemaVersion: 1, status: 'completed' },
      },
    ],
    checkpoints: [
      {
        schemaVersion: 1,
        checkpointId: 'end',
        kind: 'final',
        virtualTimeUs: VIRTUAL_END_US,
        verdict: 'passed',
        assertionResults: [],
      },
    ],
    budgetUsage: {
      toolCalls: { limit: 10, attempted: 1, rejected: 0 },
      scheduledEvents: { limit: 10, processed: 0, exhausted: false },
    },
    status: 'completed',
    verdict: 'passed',
    assertionResults: [
      { schemaVersion: 1, assertionId: 'refunded', kind: 'state', status: 'passed', gate: true },
    ],
    evidenceRange: { fromSequence: 1, toSequence: 1 },
  } satisfies Omit<Result, 'stateHash' | 'evidenceHash' | 'trajectoryHash'>,
});
