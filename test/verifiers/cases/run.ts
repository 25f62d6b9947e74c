import type { JsonObject } from '../../../src/bytes/json/parse.ts';
import { sha256Of } from '../../../vectors/make/bytes.ts';

const ASSERTION: JsonObject = {
  schemaVersion: 1,
  assertionId: 'assertion-1',
  kind: 'state',
  status: 'passed',
  gate: true,
  message: 'as expected',
  expected: { any: [1, 'a', null] },
  actual: 0.5,
  location: { subject: 's', packageId: 'pkg', namespace: 'n', path: ['a', 0], rowId: 'r' },
  diff: { operator: 'equals', matched: true, details: { a: 1 } },
  evidenceSequences: [1],
};
const TASK: JsonObject = { instruction: 'do it', input: { a: 1 } };
const POLICIES: JsonObject = { logs: 'always', screenshots: 'never', video: 'on_failure', files: 'always' };
const DISCARDED: JsonObject = { logs: 0, screenshots: 1, video: 0, files: 0 };

/** Members that a run result can have, so that edits reach every part of its schema. */
export const RUN_DETAILS: JsonObject = {
  interactions: [
    {
      schemaVersion: 1,
      interactionId: 'interaction-1',
      actorId: 'actor-1',
      task: TASK,
      scheduledAtVirtualUs: 0,
      startedAtVirtualUs: 1,
      finishedAtVirtualUs: 2,
      bindingEvidence: 'complete',
      targetResult: {
        schemaVersion: 1,
        status: 'completed',
        attachments: [{}],
        output: 1,
        error: { code: 'x' },
      },
    },
  ],
  checkpoints: [
    {
      schemaVersion: 1,
      checkpointId: 'checkpoint-1',
      kind: 'final',
      virtualTimeUs: 3,
      verdict: 'passed',
      assertionResults: [ASSERTION],
      interactionId: 'interaction-1',
    },
  ],
  assertionResults: [ASSERTION],
  setup: {
    schemaVersion: 1,
    drillId: 'check-package',
    setup: {
      tools: { packages: [{ packageId: 'a' }], behaviorOverrides: [] },
      bindings: { environment: { a: 'b' } },
      scenario: {
        actors: [{ id: 'actor-1' }],
        state: [],
        faults: [],
        initialEvents: [],
        virtualTimeUs: 0,
        toolOverrides: [
          {
            id: 'override-1',
            operation: { packageId: 'pkg', operationId: 'op' },
            outcome: { kind: 'value', value: 1 },
            when: { arguments: {}, actorId: 'actor-1' },
            times: 1,
          },
        ],
      },
    },
    setupHash: sha256Of('setup'),
  },
  capture: {
    schemaVersion: 1,
    policies: POLICIES,
    attachments: [
      {
        kind: 'log',
        policy: 'always',
        attachment: {
          schemaVersion: 1,
          kind: 'file',
          id: 'attachment-1',
          name: 'log.txt',
          mediaType: 'text/plain',
          bytes: 7,
          hash: sha256Of('a line\n'),
          redaction: { status: 'none', note: 'nothing to hide' },
        },
        interactionId: 'interaction-1',
      },
    ],
    errors: [{ code: 'capture.FAILED', message: 'm', kind: 'video', interactionId: 'interaction-1' }],
    discarded: DISCARDED,
  },
};
