import { closeAfter } from '../../bytes/async.ts';
import { defined } from '../../bytes/arguments.ts';
import type { OperationError } from '../../contract/resources/operation.ts';
import { DrillproofError } from '../../errors.ts';
import { countNoun } from '../../bytes/text/wording.ts';
import { escapeText } from '../../report/printable.ts';
import { inTemporaryFolder } from '../../node/temporary-folder.ts';
import { createAdmin } from '../../server/admin/admin.ts';
import { loadRunner } from '../../server/jobs/run/load.ts';
import type { Runner, RunnerKind } from '../../server/jobs/run/runner.ts';
import { createWorker } from '../../server/jobs/worker.ts';
import { hideLikelySecrets, type LogEntry } from '../../server/model/log.ts';
import { openEmbedded } from '../../server/open-stores.ts';
import { createTurn, parseModelTiers } from '../../server/services/authoring.ts';
import { deriveRun } from '../../server/services/part.ts';
import { createRerun } from '../../server/services/runs.ts';
import type { Store, Tx } from '../../server/store/store.ts';
import type { Cli } from '../cli.ts';
import { EXIT } from '../exit.ts';
import { buildExample, HASH } from '../shared/input/example.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option } from '../shared/options/option.ts';
import { parseNumberBetween, STANDARD } from '../shared/options/options.ts';
import { writeProduct } from '../shared/output/product.ts';

const TEST = [
  ...STANDARD,
  option('--timeout <seconds>', 'time for each job', parseNumberBetween(1, 3_600)).default(60),
];

export function defineCommand(runner: CliCommand, cli: Cli): void {
  runner.description('Try a runner without a control plane.');
  runner
    .command('test')
    .description('Do one job of each kind with a runner. Its control plane exists only for the test.')
    .argument('<path>', 'module, or folder with runner.json')
    .perform(TEST, async ({ timeout }, path: string) => {
      const trials = await tryRunner(cli, await loadRunner(path, cli.env), timeout * 1_000);
      const passed = trials.filter(({ state }) => state === 'passed').length;
      const line = `${passed} of ${countNoun(trials.length, 'job')} passed`;
      await writeProduct(cli, { kind: 'runner-test', trials }, trials.map(formatTrial).join(''), line);
      if (passed < trials.length) cli.exitCode = EXIT.bad;
    })
    .examples({ 'one job of each kind': 'drillproof runner test ./my-runner' });
}

type Trial = {
  readonly kind: RunnerKind;
  readonly state: 'passed' | 'failed';
  /** The error of the operation, or of the attempt, which is more exact. */
  readonly error?: Pick<OperationError, 'code' | 'message' | 'issues'>;
  /** Whether a rerun handed in its evidence. */
  readonly evidence?: boolean;
  readonly log: string;
};

const tryRunner = (cli: Cli, runner: Runner, timeoutMs: number): Promise<readonly Trial[]> =>
  inTemporaryFolder('runner', async (folder) => {
    const { store, blobs } = await openEmbedded(folder);
    return closeAfter(store, async () => {
      const admin = createAdmin({ store, blobs, now: cli.now });
      await admin.createOrganization({ organizationId, name: 'runner test' });
      await admin.setEntitlement({ organizationId, maxSessionTtlMs: timeoutMs });
      await admin.createProject({ ...owner, name: 'runner test' });
      await store.transaction((tx) => insertExample(tx, cli.now()));
      const thrown: unknown[] = [];
      const log = ({ event, error }: LogEntry) => event === 'worker.attempt.failed' && thrown.push(error);
      const worker = createWorker({ store, blobs, runner, now: cli.now, log, maxAttempts: 1, drainMs: 0 });
      cli.signal.addEventListener('abort', () => void worker.stop(), { once: true });
      const trials: Trial[] = [];
      for (const kind of runner.kinds) {
        const queued = await store.transaction((tx) => QUEUE[kind](tx, cli.now, timeoutMs));
        await worker.workOnce();
        cli.signal.throwIfAborted();
        trials.push(await readTrial(store, kind, queued.operation.operationId, thrown.pop()));
      }
      return trials;
    });
  });

const { runResult, runId: _runId, ...ids } = buildExample(0);
const { organizationId, projectId, hostedRunId } = ids;
const owner = { organizationId, projectId };
const authoringSessionId = 'authsess_0123456789ab';

/** Inserts a run that has ended, with its world and its build, and a conversation. */
async function insertExample(tx: Tx, nowMs: number): Promise<void> {
  const result = { ...runResult, stateHash: HASH, evidenceHash: HASH, trajectoryHash: HASH };
  await tx.builds.save({ ...owner, buildHash: HASH, archive: { digest: HASH, bytes: 1 } });
  await deriveRun(tx, { ...ids, createdAtMs: nowMs, result });
  const resource = {
    schemaVersion: 1 as const,
    ...owner,
    authoringSessionId,
    repositoryBindingId: 'repo_0123456789ab',
    createdBy: 'runner test',
    branch: 'main',
    baseRevision: '0',
    state: 'active',
    version: 1,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await tx.authoringSessions.insert({ ...owner, authoringSessionId, resource });
}

const change = {
  principal: { tokenId: 'none', organizationId, projects: 'all' as const, permissions: [] },
  projectId,
  key: 'runner-test',
  requestHash: HASH,
};

type Queue = (
  tx: Tx,
  now: () => number,
  timeoutMs: number,
) => Promise<{ readonly operation: { readonly operationId: string } }>;

const QUEUE: Readonly<Record<RunnerKind, Queue>> = {
  'authoring.turn': (tx, now, timeoutMs) => {
    const work = {
      request: { prompt: 'Answer this prompt of a test.', timeoutMs },
      models: parseModelTiers(),
      now,
    };
    return createTurn(
      tx,
      { ...change, operation: 'authoring.turns.create' },
      { projectId, authoringSessionId },
      work,
    );
  },
  'run.rerun': (tx, now) =>
    createRerun(tx, { ...change, operation: 'runs.reruns.create' }, { projectId, hostedRunId }, now),
};

/** Reads what became of a job. Where the runner threw, its operation only says that it failed. */
async function readTrial(
  store: Store,
  kind: RunnerKind,
  operationId: string,
  cause: unknown,
): Promise<Trial> {
  const ended = (await store.operations.find(organizationId, operationId))?.resource;
  const run = await store.runs.find(projectId, ended?.resourceId ?? '');
  const bundle = await store.bundles.find(projectId, run?.resource.evidenceBundleId ?? '');
  const code = cause instanceof DrillproofError ? cause.code : 'control.RUNNER_FAILED';
  const error =
    cause instanceof Error ? { code, message: hideLikelySecrets(cause.message), issues: [] } : ended?.error;
  return {
    kind,
    state: ended?.state === 'succeeded' ? 'passed' : 'failed',
    ...defined({ error, evidence: run && bundle !== undefined }),
    log: (await store.runnerLogs.find(operationId))?.log ?? '',
  };
}

const LOG_LINES = 20;

/** Formats the state of a trial, and of a failed one the faults and the end of the log. */
function formatTrial({ kind, state, error, evidence, log }: Trial): string {
  const note = evidence === false && state === 'passed' ? 'without evidence' : undefined;
  const words = [state, kind, error?.code, error?.message, note].filter((word) => word !== undefined);
  const issues = error?.issues.map(({ path = [], message }) => `${path.join('.')}: ${message}`) ?? [];
  const last = state === 'passed' || log === '' ? [] : log.trimEnd().split('\n').slice(-LOG_LINES);
  const more = [...issues, ...last].map((line) => `    ${escapeText(line)}\n`);
  return `${escapeText(words.join('  '))}\n${more.join('')}`;
}
