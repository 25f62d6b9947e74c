import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { codeFacts } from '../../codes/index.ts';
import { count, size } from '../../report/index.ts';
import { backupSqlite, type CheckReport, checkStores, type Places, placesOf } from '../../server/index.ts';
import { type Cli, say } from '../cli.ts';
import { dataOptions, type DataOptions, withAdmin } from '../shared/input/administration.ts';
import { examples } from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { exitOfCode, worstExit } from '../shared/output/exit-codes.ts';
import { facts, table, writeFacts, writeProduct } from '../shared/output/product.ts';
import { withProgress } from '../shared/output/progress.ts';

export function defineMigrate(command: Command, cli: Cli): void {
  dataOptions(command)
    .description(
      'Bring the schema of the store up to date, as every start does. If several run at once, one migrates and the others wait.',
    )
    .action(async (options: DataOptions) => {
      const { schema, names } = await withAdmin(cli, options, async ({ store, places }) => ({
        schema: await store.schema(),
        names: places.names,
      }));
      await writeFacts(cli, { kind: 'migrated', store: names.store, schema }, [
        ['store', names.store],
        ['schema', `${schema.version} of ${schema.known}`],
      ]);
    });
  examples(command, { 'before new servers start': 'drillproof admin migrate' });
}

type BackupOptions = DataOptions & { readonly out: string };

/** How to copy the blobs, which never change once they are there. */
function blobAdvice({ blobs, names }: Places): string {
  if (blobs.kind === 'disk') return `rsync -a ${names.blobs}/ TARGET/blobs/`;
  const { endpoint } = blobs.location;
  return `aws s3 sync ${names.blobs} TARGET${endpoint === undefined ? '' : ` --endpoint-url ${endpoint}`}`;
}

/** `--out` may be a folder that is there; the file is then named as the store is. */
async function outFile(out: string): Promise<string> {
  const isFolder = await stat(out).then(
    (stats) => stats.isDirectory(),
    () => false, // writing reports every other problem
  );
  return isFolder ? join(out, 'store.sqlite') : out;
}

const BACKUP_HELP = `
The blobs are not copied: they never change under their names, so any tool that
copies files will do. Copy them after the store, and no row of the copy names a
blob that was not there yet. To restore, put the file back as store.sqlite and
the blobs into blobs/, and run "drillproof admin check".

The rows of PostgreSQL are copied with its own tool:

  pg_dump --format=custom --file=store.dump "$DATABASE_URL"`;

export function defineBackup(command: Command, cli: Cli): void {
  dataOptions(command)
    .description(
      'Copy the embedded store into one file while the server runs, and print how to copy the blobs.',
    )
    .requiredOption('--out <path>', 'file to write, or a folder to write store.sqlite into')
    .action((options: BackupOptions) => backup(cli, options));
  examples(command, { 'a backup': 'drillproof admin backup --out backup-2026-11-21.sqlite' }).addHelpText(
    'after',
    BACKUP_HELP,
  );
}

async function backup(cli: Cli, { data, out }: BackupOptions): Promise<void> {
  const places = placesOf(cli.env, data);
  const blobs = blobAdvice(places);
  if (places.store.kind === 'postgres') {
    throw usageError(
      'the rows are in PostgreSQL, which is backed up with its own tool',
      `Run: pg_dump --format=custom --file=store.dump "$DATABASE_URL" — and then, for the blobs: ${blobs}`,
    );
  }
  const path = await outFile(out);
  const copy = await backupSqlite(places.store.path, path);
  await writeFacts(cli, { kind: 'backup', store: path, ...copy, blobs: { command: blobs } }, [
    ['store', path],
    ['size', size(copy.bytes)],
    ['SHA-256', copy.digest],
  ]);
  await say(cli, `now copy the blobs, for example: ${blobs}`);
}

const CHECK_HELP = `
It exits with 1 when a blob is missing or damaged, and with 3 when one could not
be read.`;

export function defineCheck(command: Command, cli: Cli): void {
  dataOptions(command)
    .description(
      'Hash every stored blob that a row names, and list blobs that no row names. It changes nothing and may run next to a server.',
    )
    .action(async (options: DataOptions) => {
      const report = await check(cli, options);
      await writeProduct(cli, { kind: 'check', ...report }, checkText(report));
      cli.exitCode = checkExit(report);
    });
  examples(command, {
    'after a restore, or every week': 'drillproof admin check',
    'for a program': 'drillproof admin check --json',
  }).addHelpText('after', CHECK_HELP);
}

const check = (cli: Cli, options: DataOptions): Promise<CheckReport> =>
  withProgress(cli, 'checked', 'blobs', ({ update: onProgress }) =>
    withAdmin(cli, options, (stores) => checkStores(stores, { signal: cli.signal, onProgress })),
  );

/** Blobs that no row names are reported, and do not fail the check. */
function checkExit({ findings }: CheckReport): ExitCode {
  const exits = findings
    .filter(({ code }) => codeFacts(code).severity === 'error')
    .map(({ code }) => exitOfCode(code));
  return exits.length === 0 ? EXIT.pass : worstExit(exits);
}

function checkText({ blobs, bytes, intact, awaitingRemoval, findings }: CheckReport): string {
  const wrong = findings.filter(({ code }) => code !== 'server.BLOB_ORPHAN').length;
  const lines = facts([
    ['blobs', `${count(blobs)}, ${size(bytes)}`],
    ['intact', count(intact)],
    ['wrong', count(wrong)],
    ['orphans', count(findings.length - wrong)],
    ['awaiting removal', count(awaitingRemoval)],
  ]);
  const rows = findings.map((one) => [one.code, one.digest, size(one.bytes)]);
  return rows.length === 0 ? lines : `${lines}\n${table(['CODE', 'BLOB', 'SIZE'], rows)}`;
}
