import { once } from 'node:events';
import type { Command } from 'commander';
import { createServer, listen, type LogEntry, type Stores } from '../../server/index.ts';
import { printable } from '../../report/index.ts';
import { openData } from '../administration.ts';
import { say, type Cli } from '../cli.ts';
import { examples, standardOptions, wholeNumber } from '../options.ts';
import { writeProduct } from '../product.ts';

type Options = { readonly data: string; readonly host: string; readonly port: number };

const MORE = `
DATABASE_URL=postgres://… keeps the rows in PostgreSQL, and
BLOBS_URL=s3://bucket/prefix (or the path of a folder) the bytes elsewhere than
in the folder; with both, any number of instances may run.

It runs until it is interrupted, lets answers that are under way end, and then
exits with 0. It speaks plain HTTP: put a proxy with TLS before it when others
reach it over a network. Make tokens with "drillproof admin token create".`;

export function define(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Start the control plane on this machine, with its store and blobs in one folder.')
    .option('--data <dir>', 'folder of the store and the blobs, made when it is absent', './drillproof-data')
    .option('--host <address>', 'address to listen on; 0.0.0.0 for every network', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 8080)
    .action((options: Options) => serve(cli, options));
  examples(command, [
    ['on this machine', 'drillproof serve'],
    ['on a free port, its address for a program', 'drillproof serve --data ./plane --port 0 --json'],
  ]).addHelpText('after', MORE);
}

async function serve(cli: Cli, { data, host, port }: Options): Promise<void> {
  const log = (entry: LogEntry): void => void (entry.level === 'info' ? undefined : say(cli, lineOf(entry)));
  const { store, blobs, places } = await openData(cli, data, true);
  const server = createServer({ store, blobs, now: cli.now, log });
  try {
    const listening = await listen(server, { port, hostname: host, log });
    try {
      const { url } = listening;
      await writeProduct(cli, { kind: 'listening', url, ...places.names }, `${url}\n`);
      await say(cli, await welcome({ store, places }, data, host));
      if (!cli.signal.aborted) await once(cli.signal, 'abort');
      await say(cli, 'stopping: answers that are under way may end');
    } finally {
      await listening.close();
    }
  } finally {
    await server.close();
  }
}

type Opened = Pick<Stores, 'store' | 'places'>;

async function welcome({ store, places }: Opened, data: string, host: string): Promise<string> {
  const organizations = await store.organizations();
  const empty = organizations.length === 0;
  const lines = [
    `the control plane is up; end it with Ctrl-C`,
    printable(`its rows are in ${places.names.store}, its blobs in ${places.names.blobs}`),
    ...(empty
      ? [`it holds no organization yet: drillproof admin org create --name NAME${dataOption(places, data)}`]
      : []),
    ...(['127.0.0.1', '::1', 'localhost'].includes(host)
      ? []
      : ['it is reachable from other machines over plain HTTP']),
  ];
  return lines.join('\n');
}

// Where nothing lies in the folder, the environment says all.
const dataOption = ({ folders }: Stores['places'], data: string): string =>
  folders.includes(data) ? ` --data ${printable(data)}` : '';

function lineOf({ level, event, correlationId, error }: LogEntry): string {
  const why = error instanceof Error ? `: ${error.message}` : '';
  const id = correlationId === undefined ? '' : ` (${correlationId})`;
  return printable(`${level} ${event}${id}${why}`);
}
