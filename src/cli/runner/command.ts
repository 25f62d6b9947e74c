import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defined } from '../../bytes/arguments.ts';
import type { OperationName } from '../../contract/operations/operations.ts';
import type { OperationError } from '../../contract/resources/operation.ts';
import type { HostedRun } from '../../contract/resources/run.ts';
import { DrillproofError } from '../../errors.ts';
import { escapeText } from '../../report/printable.ts';
import { createAdmin } from '../../server/admin/admin.ts';
import { loadRunner } from '../../server/jobs/run/load.ts';
import type { Runner, RunnerKind } from '../../server/jobs/run/runner.ts';
import { createWorker } from '../../server/jobs/worker.ts';
import type { LogEntry } from '../../server/model/log.ts';
import { openEmbedded, type Stores } from '../../server/open-stores.ts';
import { createTurn, parseModelTiers } from '../../server/services/authoring.ts';
import type { Change } from '../../server/services/handler.ts';
import { createRerun } from '../../server/services/runs.ts';
import type { Cli } from '../cli.ts';
import { EXIT } from '../exit.ts';
import { buildExample, HASH } from '../shared/input/example.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { parseNumberBetween, STANDARD } from '../shared/options/options.ts';
import { writeList } from '../shared/output/product.ts';

const TEST = [
  ...STANDARD,
  option('--timeout <seconds>', 'time for each job', parseNumberBetween(1, 7_200)).default(60),
];

export function defineRunnerCommand(runner: CliCommand, cli: Cli): void {
  runner.description('Try a runner without a control plane.').examples({
    'one job of each kind': 'drillproof runner test ./my-runner',
  });
  runner
    .command('test')
    .summary('do one job of each kind')
    .description('Do one job of each kind with a runner, in a control plane that exists only for the test.')
    .argument('<path>', 'module, or folder with runner.json')
    .perform(TEST, (options, path: string) => test(cli, path, options))
    .examples({ 'before it is deployed': 'drillproof runner test ./my-runner' })
    .addHelpText('after', '\nExit codes: 0 every job succeeded, 1 otherwise, 2 the runner cannot be loaded.');
}

type Trial = {
  readonly kind: RunnerKind;
  readonly state: 'passed' | 'failed';
  /** The error of the operation, or of the attempt if it is more exact. */
  readonly error?: Pick<OperationError, 'code' | 'message' | 'issues'>;
  /** Whether a rerun handed in its evidence. */
  readonly evidence?: boolean;
  readonly log: string;
};

async function test(cli: Cli, path: string, { timeout }: OptionsOf<typeof TEST>): Promise<void> {
  const runner = await loadRunner(path, cli.env);
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-runner-'));
  const trials: Trial[] = [];
  try {
    const stores = await openEmbedded(folder, { now: cli.now });
    try {
      await importExample(stores, cli.now, timeout * 1_000);
      for (const kind of runner.kinds) {
        trials.push(await tryKind(cli, stores, { runner, kind, timeoutMs: timeout * 1_000 }));
        cli.signal.throwIfAborted();
      }
    } finally {
      await stores.store.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await writeList(cli, { kind: 'runner-test', trials }, trials.map(formatTrial).join(''));
  if (trials.some(({ state }) => state === 'failed')) cli.exitCode = EXIT.bad;
}

const {
  evidenceBundleId,
  organizationId,
  projectId,
  hostedRunId,
  runId,
  runResult: result,
} = buildExample(0);
const environmentId = 'env_0123456789ab';
const sessionId = 'ses_0123456789ab';
const authoringSessionId = 'authsess_0123456789ab';

/** Imports a world with a run that has ended, and a conversation. */
async function importExample(stores: Stores, now: () => number, lifetimeMs: number): Promise<void> {
  const nowMs = now();
  const admin = createAdmin({ ...stores, now });
  await admin.createOrganization({ organizationId, name: 'runner test' });
  await admin.createProject({ organizationId, projectId, name: 'runner test' });
  await stores.store.transaction((tx) =>
    tx.builds.save({ organizationId, projectId, buildHash: HASH, archive: { digest: HASH, bytes: 1 } }),
  );
  const owner = { organizationId, projectId };
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const { drillId, seed, trial, trialCount, attempt, attemptLimit } = result.identity;
  const request = { runId, drillId, seed, trial, trialCount, attempt, attemptLimit };
  const run: HostedRun = {
    schemaVersion: 1,
    ...owner,
    ...times,
    hostedRunId,
    evidenceBundleId,
    environmentId,
    sessionId,
    buildHash: HASH,
    request,
    leaseGeneration: 1,
    revision: 1,
    state: 'succeeded',
    deadlineAtMs: nowMs + lifetimeMs,
    evidenceRetentionMs: lifetimeMs,
    identity: result.identity,
    result: { ...result, stateHash: HASH, evidenceHash: HASH, trajectoryHash: HASH },
    finishedAtMs: nowMs,
  };
  await admin.importResources({
    schemaVersion: 1,
    environments: [{ ...owner, ...times, environmentId, name: 'example', version: 1 }],
    sessions: [
      {
        schemaVersion: 1,
        ...owner,
        ...times,
        environmentId,
        sessionId,
        buildHash: HASH,
        drillId,
        seed,
        state: 'ready',
        leaseGeneration: 1,
        expiresAtMs: nowMs + lifetimeMs,
        version: 1,
      },
    ],
    runs: [run],
    authoringSessions: [
      {
        schemaVersion: 1,
        ...owner,
        ...times,
        authoringSessionId,
        repositoryBindingId: 'repo_0123456789ab',
        createdBy: 'runner test',
        branch: 'main',
        baseRevision: '0',
        state: 'active',
        version: 1,
      },
    ],
  });
}

const PROMPT = 'Answer this prompt of a test.';

type Attempt = { readonly runner: Runner; readonly kind: RunnerKind; readonly timeoutMs: number };

/** Queues one job and does it, as a worker does. */
async function tryKind(cli: Cli, { store, blobs }: Stores, tried: Attempt): Promise<Trial> {
  const { runner, kind, timeoutMs } = tried;
  const now = cli.now;
  const principal = { tokenId: 'none', organizationId, projects: 'all' as const, permissions: [] };
  const change = (operation: OperationName): Change => ({
    principal,
    projectId,
    operation,
    key: kind,
    requestHash: HASH,
  });
  const models = parseModelTiers();
  const request = { prompt: PROMPT, timeoutMs };
  const { operation } = await store.transaction<Awaited<ReturnType<typeof createTurn | typeof createRerun>>>(
    (tx) =>
      kind === 'authoring.turn'
        ? createTurn(
            tx,
            change('authoring.turns.create'),
            { projectId, authoringSessionId },
            { request, models, now },
          )
        : createRerun(tx, change('runs.reruns.create'), { projectId, hostedRunId }, now),
  );
  const thrown: unknown[] = [];
  const log = ({ event, error }: LogEntry) => event === 'worker.attempt.failed' && thrown.push(error);
  const worker = createWorker({ store, blobs, runner, now, log, maxAttempts: 1, drainMs: 0 });
  cli.signal.addEventListener('abort', () => void worker.stop(), { once: true });
  const driven = await worker.workOnce();
  const { operationId } = operation;
  const ended = (await store.operations.find(organizationId, operationId))?.resource;
  const run = ended?.resourceId && (await store.runs.find(projectId, ended.resourceId))?.resource;
  const bundle = run && (await store.bundles.find(projectId, run.evidenceBundleId));
  const [cause] = thrown;
  return {
    kind,
    state: driven === 'succeeded' ? 'passed' : 'failed',
    ...defined({
      error: describeCause(cause) ?? ended?.error,
      evidence: run ? bundle !== undefined : undefined,
    }),
    log: (await store.runnerLogs.find(operationId))?.log ?? '',
  };
}

/** Describes what a runner threw. Its operation only says that the runner failed. */
function describeCause(cause: unknown): Trial['error'] | undefined {
  if (!(cause instanceof Error)) return undefined;
  const code = cause instanceof DrillproofError ? cause.code : 'control.RUNNER_FAILED';
  return { code, message: cause.message, issues: [] };
}

const LOG_LINES = 20;

/** The state of a trial; of a failed one also the faults and the end of the log. */
function formatTrial({ kind, state, error, evidence, log }: Trial): string {
  const note = evidence === false && state === 'passed' ? 'without evidence' : undefined;
  const words = [state, kind, error?.code, error?.message, note].filter((word) => word !== undefined);
  if (state === 'passed') return `${words.join('  ')}\n`;
  const issues = error?.issues.map(({ path, message }) => `${path?.join('.') ?? ''}: ${message}`) ?? [];
  const last = log.trimEnd().split('\n').slice(-LOG_LINES);
  return [
    escapeText(words.join('  ')),
    ...[...issues, ...last].map((line) => `    ${escapeText(line)}`),
    '',
  ].join('\n');
}
