// Complete values: every resource with every member that it may have.

const id = (prefix: string): string => `${prefix}_0123456789ab`;
const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;
const AT = 1_700_000_000_000;
const run = 'run_checkout-1';

export const session = {
  schemaVersion: 1,
  organizationId: id('org'),
  projectId: id('prj'),
  environmentId: id('env'),
  sessionId: id('ses'),
  buildHash: digest('a'),
  drillId: 'checkout-refund',
  seed: '42',
  callbackReceiverBindingIds: [id('cbr')],
  state: 'ready',
  warmPool: { state: 'claimed', setupHash: digest('b') },
  leaseGeneration: 3,
  parentSessionId: id('ses'),
  parentHostedSnapshotId: id('hsnap'),
  createdAtMs: AT,
  updatedAtMs: AT,
  expiresAtMs: AT + 60_000,
  destroyedAtMs: AT + 70_000,
  version: 7,
};

export const operationError = {
  schemaVersion: 1,
  code: 'control.EXPORT_SOURCE_MISSING',
  source: 'control',
  message: 'A bundle is gone.',
  retryable: false,
  correlationId: 'corr_abcdef',
  issues: [{ code: 'missing', message: 'not there', path: ['parts', 0], suggestion: 'ask for a new export' }],
  details: { bundles: [null, 1] },
  evidence: { runId: run, sequence: 1 },
};

const control = {
  schemaVersion: 1,
  operationId: id('op'),
  sessionId: id('ses'),
  leaseGeneration: 3,
  buildHash: digest('a'),
  correlationId: 'corr_abcdef',
  evidenceBeforeSequence: 4,
  evidenceAfterSequence: 9,
};

export const timeAdvance = {
  ...control,
  kind: 'world.time.advance',
  requestedUs: 10,
  startedUs: 0,
  reachedUs: 8,
  maxEvents: 100,
  scheduledEventsProcessed: 5,
  status: 'failed',
  eventBudgetExhausted: false,
  failure: { code: 'world.EVENT_FAILED', message: 'no', scheduledEventId: 'pending_abcdef' },
};

export const faultSet = {
  ...control,
  kind: 'world.fault.set',
  packageId: 'payments',
  faultId: 'timeout',
  requestedActive: true,
  virtualTimeUs: 12,
  status: 'interrupted',
  previouslyActive: false,
  active: true,
  changed: true,
  failure: { code: 'control.FAULT_CONTROL_INTERRUPTED', message: 'interrupted' },
};

export const operation = {
  schemaVersion: 1,
  operationId: id('op'),
  organizationId: id('org'),
  projectId: id('prj'),
  kind: 'session.extend',
  state: 'succeeded',
  resourceType: 'session',
  resourceId: id('ses'),
  error: operationError,
  result: timeAdvance,
  idempotencyKey: 'extend-0001',
  requestHash: digest('c'),
  cancelRequestedAtMs: AT,
  startedAtMs: AT,
  finishedAtMs: AT,
  createdAtMs: AT,
  updatedAtMs: AT,
};

export const authoringSession = {
  schemaVersion: 1,
  authoringSessionId: id('authsess'),
  organizationId: id('org'),
  projectId: id('prj'),
  repositoryBindingId: id('repo'),
  createdBy: 'ada@example.test',
  branch: 'main',
  baseRevision: 'a'.repeat(40),
  state: 'active',
  version: 1,
  createdAtMs: AT,
  updatedAtMs: AT,
  activeTurnId: id('authturn'),
  currentProposalId: id('prop'),
  closedAtMs: AT,
};

export const turnRequest = {
  prompt: 'Add a drill.',
  model: 'model_tier_1',
  effort: 'low',
  maxTurns: 10,
  maxBudgetUsd: 2.5,
  timeoutMs: 60_000,
};

export const authoringTurn = {
  schemaVersion: 1,
  authoringTurnId: id('authturn'),
  authoringSessionId: id('authsess'),
  organizationId: id('org'),
  projectId: id('prj'),
  sequence: 1,
  ...turnRequest,
  state: 'queued',
  operationId: id('op'),
  createdAtMs: AT,
  cancelRequestedAtMs: AT,
  startedAtMs: AT,
  finishedAtMs: AT,
  proposalId: id('prop'),
  agentSessionId: 'agent-1',
  actualModel: 'tier one',
  turnsUsed: 3,
  durationMs: 1000,
  estimatedCostUsd: 0.5,
  resultText: 'done',
  error: operationError,
};

export const buildAttempt = {
  schemaVersion: 1,
  buildAttemptId: id('attempt'),
  organizationId: id('org'),
  projectId: id('prj'),
  sourceKind: 'upload',
  requestedBy: 'ada@example.test',
  state: 'awaiting_upload',
  diagnostics: [{ code: 'build.HASH_MISMATCH', severity: 'error', message: 'no', path: 'build.json' }],
  sourceClosure: ['src/index.ts'],
  createdAtMs: AT,
  updatedAtMs: AT,
  sourceDraftId: id('draft'),
  sourceRevision: 1,
  sourceDigest: digest('d'),
  revision: 'a'.repeat(40),
  expectedBuildHash: digest('a'),
  expectedArtifactDigest: digest('e'),
  expectedBytes: 1000,
  advanceEnvironmentId: id('env'),
  expectedEnvironmentVersion: 2,
  buildHash: digest('a'),
  finishedAtMs: AT,
};

export const uploadRequest = {
  buildHash: digest('a'),
  artifactDigest: digest('e'),
  bytes: 1000,
  advanceEnvironmentId: id('env'),
  expectedEnvironmentVersion: 2,
};

export const upload = {
  schemaVersion: 1,
  attempt: buildAttempt,
  method: 'PUT',
  uploadUrl: 'https://uploads.example.test/x',
  headers: { 'content-type': 'application/zip' },
  expiresAtMs: AT,
};

const request = {
  runId: run,
  drillId: 'checkout-refund',
  seed: '42',
  trial: 1,
  trialCount: 3,
  attempt: 1,
  attemptLimit: 2,
};

export const identity = {
  ...request,
  worldInstanceId: 'world-1',
  targetId: 'agent',
  buildHash: digest('a'),
  packageLockHash: digest('f'),
  scenarioId: 'late-payment',
  setupHash: digest('b'),
};

export const assertionResult = {
  schemaVersion: 1,
  assertionId: 'refunded',
  kind: 'state',
  status: 'failed',
  gate: true,
  message: 'not refunded',
  expected: { amount: 5 },
  actual: null,
  location: { subject: 'row', packageId: 'payments', namespace: 'orders', path: ['amount', 0], rowId: '7' },
  diff: { operator: 'equals', matched: false, details: { delta: 5 } },
  evidenceSequences: [3],
};

export const setup = {
  schemaVersion: 1,
  drillId: 'checkout-refund',
  setup: {
    tools: { packages: [{ packageId: 'payments' }], behaviorOverrides: [{}] },
    bindings: { environment: { REGION: 'eu' } },
    scenario: {
      actors: [{ id: 'buyer' }],
      state: [{}],
      faults: [{}],
      initialEvents: [{}],
      virtualTimeUs: 0,
      toolOverrides: [
        {
          id: 'o1',
          operation: { packageId: 'payments', operationId: 'refund' },
          outcome: { kind: 'error', value: { code: 1 } },
          when: { arguments: { amount: 5 }, actorId: 'buyer' },
          times: 1,
        },
      ],
    },
  },
  setupHash: digest('b'),
};

export const capture = {
  schemaVersion: 1,
  policies: { logs: 'always', screenshots: 'never', video: 'never', files: 'on_failure' },
  attachments: [
    {
      kind: 'file',
      policy: 'always',
      attachment: {
        schemaVersion: 1,
        kind: 'file',
        id: 'a1',
        name: 'log.txt',
        mediaType: 'text/plain',
        bytes: 10,
        hash: digest('1'),
        redaction: { status: 'none', note: 'nothing to hide' },
      },
      interactionId: 'i1',
    },
  ],
  errors: [{ code: 'capture.FULL', message: 'no room', kind: 'video', interactionId: 'i1' }],
  discarded: { logs: 0, screenshots: 1, video: 2, files: 3 },
};

const task = { instruction: 'Refund the order.', input: { order: 7 } };

export const runResult = {
  schemaVersion: 1,
  identity,
  startedAtVirtualUs: 0,
  finishedAtVirtualUs: 100,
  bindingEvidence: 'complete',
  worldConsistency: 'consistent',
  interactions: [
    {
      schemaVersion: 1,
      interactionId: 'i1',
      actorId: 'buyer',
      task,
      scheduledAtVirtualUs: 0,
      startedAtVirtualUs: 1,
      finishedAtVirtualUs: 2,
      bindingEvidence: 'complete',
      targetResult: { schemaVersion: 1, status: 'completed', attachments: [{}], output: 'ok', error: {} },
    },
  ],
  checkpoints: [
    {
      schemaVersion: 1,
      checkpointId: 'c1',
      kind: 'final',
      virtualTimeUs: 100,
      verdict: 'passed',
      assertionResults: [assertionResult],
      interactionId: 'i1',
    },
  ],
  budgetUsage: {
    toolCalls: { limit: 10, attempted: 3, rejected: 0 },
    scheduledEvents: { limit: 10, processed: 1, exhausted: false },
  },
  status: 'completed',
  verdict: 'failed',
  assertionResults: [assertionResult],
  evidenceRange: { fromSequence: 1, toSequence: 9 },
  stateHash: digest('2'),
  evidenceHash: digest('3'),
  trajectoryHash: digest('4'),
  setup,
  capture,
};

export const hostedRun = {
  schemaVersion: 1,
  hostedRunId: id('hrun'),
  evidenceBundleId: id('evidence'),
  organizationId: id('org'),
  projectId: id('prj'),
  environmentId: id('env'),
  sessionId: id('ses'),
  buildHash: digest('a'),
  request,
  leaseGeneration: 3,
  revision: 5,
  state: 'succeeded',
  deadlineAtMs: AT,
  evidenceRetentionMs: 86_400_000,
  createdAtMs: AT,
  updatedAtMs: AT,
  rerunOfHostedRunId: id('hrun'),
  identity,
  termination: { schemaVersion: 1, outcome: 'completed', reason: 'done', requestedAtMs: AT },
  pendingInteraction: {
    schemaVersion: 1,
    interaction: { id: 'i2', afterStartUs: 5, actorId: 'buyer', task },
    scheduledAtVirtualUs: 5,
    startedAtVirtualUs: 6,
    toolCallsAtStart: 2,
  },
  result: runResult,
  failure: operationError,
  finishedAtMs: AT,
};

export const toolSource = {
  schemaVersion: 1,
  organizationId: id('org'),
  projectId: id('prj'),
  buildHash: digest('a'),
  packageId: 'payments',
  version: '1.2.3',
  manifestHash: digest('5'),
  artifactHash: digest('6'),
  implementation: { kind: 'javascript', source: 'export {};\n', bytes: 11 },
  ui: {
    entry: 'index.html',
    assets: [{ path: 'index.html', mediaType: 'text/html', artifactHash: digest('7'), bytes: 10 }],
  },
};

export const evidenceExport = {
  schemaVersion: 1,
  evidenceExportId: id('evexp'),
  organizationId: id('org'),
  scope: { kind: 'project', projectId: id('prj') },
  operationId: id('op'),
  state: 'available',
  requestedBy: 'ada@example.test',
  fromAtMs: 0,
  throughAtMs: AT,
  selectionDigest: digest('8'),
  bundleCount: 2,
  completedBundleCount: 2,
  sourceBytes: '1000',
  archiveBytes: '900',
  createdAtMs: AT,
  updatedAtMs: AT,
  localReportCount: 1,
  completedLocalReportCount: 1,
  manifestDigest: digest('9'),
  manifestBytes: '700',
  failureCode: 'control.EXPORT_TOO_LARGE',
  completedAtMs: AT,
  deletion: { state: 'requested', version: 1, operationId: id('op'), requestedAtMs: AT },
};

export const localReportItem = {
  source: {
    ordinal: 0,
    projectId: id('prj'),
    localReportId: id('lrep'),
    submissionDigest: digest('a'),
    manifestDigest: digest('b'),
    archiveBytes: 100,
    provenance: { origin: 'user_produced', trust: 'unattested', uploadedBy: 'ada@example.test' },
    summary: {
      runId: run,
      drillId: 'checkout-refund',
      targetId: 'agent',
      reportedBuildHash: digest('c'),
      reportedPackageLockHash: digest('d'),
      seed: '42',
      reportedStatus: 'completed',
      artifactCount: 3,
      expandedBytes: 200,
      redacted: false,
      scenarioId: 'late-payment',
      reportedVerdict: 'passed',
    },
    createdAtMs: AT,
    verifiedAtMs: AT,
  },
  archive: {
    localReportId: id('lrep'),
    path: `local-reports/${id('lrep')}.zip`,
    digest: digest('e'),
    bytes: '100',
  },
};

export const reproduction = {
  schemaVersion: 1,
  scope: 'world_inputs',
  drillId: 'checkout-refund',
  targetId: 'agent',
  buildHash: digest('a'),
  packageLockHash: digest('f'),
  seed: '42',
  originalTrial: 1,
  originalTrialCount: 3,
  originalAttempt: 1,
  originalAttemptLimit: 2,
  scenarioId: 'late-payment',
  setupHash: digest('b'),
};

export const statement = {
  schemaVersion: 1,
  predicateType: 'urn:drillproof:attestation:evidence:v1',
  issuer: 'https://issuer.example.test',
  keyId: digest('1'),
  issuedAtMs: AT,
  subject: {
    manifestDigest: digest('2'),
    runId: run,
    reproduction,
    runResultHash: digest('3'),
    evidenceHash: digest('4'),
    stateHash: digest('5'),
    trajectoryHash: digest('6'),
  },
};

const signed = {
  schemaVersion: 1,
  algorithm: 'ecdsa-p256-sha256',
  encoding: 'der-base64url',
  signature: 'MAYCAQECAQE',
};

export const attestation = { ...signed, statement };

export const exportAttestation = {
  ...signed,
  statement: {
    ...statement,
    predicateType: 'urn:drillproof:attestation:export:v1',
    subject: { evidenceExportId: id('evexp'), organizationId: id('org'), manifestDigest: digest('9') },
  },
};

export const evidenceBundle = {
  schemaVersion: 1,
  evidenceBundleId: id('evidence'),
  projectId: id('prj'),
  hostedRunId: id('hrun'),
  runId: run,
  manifestDigest: digest('2'),
  signed: true,
  state: 'available',
  createdAtMs: AT,
  storage: { objectCount: 4, manifestBytes: 500, artifactBytes: 1000, totalBytes: 1500 },
  storageVerifiedAtMs: AT,
  attestation,
  deleteAtMs: AT,
  deletedAtMs: AT,
};

export const errorEnvelope = {
  code: 'control.REQUEST_INVALID',
  message: 'The body breaks a rule.',
  correlationId: 'corr_abcdef',
  retryable: false,
  source: 'platform',
  retryAfterMs: 1000,
  operationId: id('op'),
  issues: [{ path: 'ttlMs', code: 'too_big', message: 'at most 604800000' }],
  details: { limit: 1 },
  evidence: { sessionId: id('ses'), runId: run, journalSeq: 0, buildHash: digest('a') },
};
