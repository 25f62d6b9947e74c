import { once } from 'node:events';
import { InvalidArgumentError } from 'commander';
import { defined } from '../../bytes/arguments.ts';
import { escapeText } from '../../report/printable.ts';
import { createWorker } from '../../server/jobs/worker.ts';
import { createWorkerHealth } from '../../server/worker-health.ts';
import { listen, type Listening } from '../../server/listen.ts';
import { loadRunner } from '../../server/jobs/run/load.ts';
import type { Runner } from '../../server/jobs/run/runner.ts';
import { standardWork } from '../../server/jobs/standard.ts';
import type { Cli } from '../cli.ts';
import { DATA, LOG, openLogging, openRunning, START } from '../shared/input/administration.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { parseNumberBetween } from '../shared/options/options.ts';
import { exportSigningOptions, readExportSigning } from '../shared/input/signing.ts';
import { writeProduct, readVersion } from '../shared/output/product.ts';

const LABELS = ['project', 'environment', 'drill', 'model'];

function parseLabel(value: string): string {
  const [name = '', ...rest] = value.split('=');
  if (LABELS.includes(name) && rest.join('=') !== '') return value;
  throw new InvalidArgumentError(`It must be NAME=VALUE, NAME one of ${LABELS.join(', ')}.`);
}

const WORKER = [
  ...DATA,
  option('--runner <path>', 'module, or folder with runner.json, that executes authoring turns and reruns'),
  option(
    '--label <name=value>',
    'take only turns and reruns with one of these labels of each name',
    parseLabel,
  )
    .repeat()
    .needs('--runner'),
  option('--concurrency <n>', 'run this many jobs at once', parseNumberBetween(1, 1_000)).default(1),
  option(
    '--health-port <n>',
    'serve /healthz, /readyz and /metrics on this port; 0 takes a free one (default: none)',
    parseNumberBetween(0, 65_535),
  ),
  option('--health-host <address>', 'address of --health-port').default('127.0.0.1'),
  ...exportSigningOptions(),
  ...START,
  ...LOG,
];

const MORE = `
A runner is a folder whose runner.json names a program in any language, or an
ECMAScript module (docs/server/runners.md). "drillproof runner test" tries one.
Without one, the worker does only exports and deletions.

A rerun has the labels project, environment and drill, a turn has project and
model.`;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description(
      'Do the queued work of a control plane: exports and deletions, and turns and reruns with your runner.',
    )
    .perform(WORKER, (options) => runWorker(cli, options))
    .examples({
      'next to the server on this machine': 'drillproof worker --runner ./my-runner.js',
      'a program, for the worlds of one environment':
        'drillproof worker --runner ./my-runner --label environment=env_0123456789ab',
      'with signed exports': 'drillproof worker --runner ./my-runner.js --signing-key key.pem --issuer acme',
    })
    .addHelpText('after', MORE);
}

async function runWorker(cli: Cli, options: OptionsOf<typeof WORKER>): Promise<void> {
  const { runner: path, concurrency, healthPort, healthHost, label: labels } = options;
  const signing = await readExportSigning(cli, options);
  const runner = path === undefined ? undefined : await loadRunner(path, cli.env);
  const { log: write, announce } = openLogging(cli, options);
  const { store, blobs, places, now } = await openRunning(cli, options, write);
  const version = await readVersion();
  const health = createWorkerHealth({ store, blobs, now, log: write, version });
  const { log, stores } = health;
  let listening: Listening | undefined;
  try {
    const { handlers, sweeps } = standardWork({ ...stores, now, log, signing });
    const worker = createWorker({
      ...stores,
      handlers,
      sweeps,
      concurrency,
      log,
      now,
      ...defined({ runner, labels }),
    });
    const kinds = [...handlers.map(({ kind }) => kind), ...(runner?.kinds ?? [])];
    if (healthPort !== undefined)
      listening = await listen(health, { port: healthPort, hostname: healthHost, log });
    worker.start();
    const product = { kind: 'working', kinds, concurrency, ...defined({ labels }), ...places.names };
    await writeProduct(cli, { ...product, ...defined({ healthUrl: listening?.url }) }, '');
    await announce(formatStart(kinds, places.names.store, runner), 'worker.started', {
      kinds: kinds.join(' '),
    });
    if (!cli.signal.aborted) await once(cli.signal, 'abort');
    health.stopping();
    await announce('stopping: completing running work', 'worker.stopping');
    await worker.stop();
    await announce('stopped', 'worker.stopped');
  } finally {
    await listening?.close();
    await blobs.close();
    await store.close();
  }
}

function formatStart(kinds: readonly string[], store: string, runner: Runner | undefined): string {
  const lines = [
    'the worker is up; end it with Ctrl-C',
    escapeText(`it does ${kinds.join(', ') || 'no queued work'} of ${store}`),
    ...(runner === undefined ? ['without --runner, authoring turns and reruns stay queued'] : []),
  ];
  return lines.join('\n');
}
