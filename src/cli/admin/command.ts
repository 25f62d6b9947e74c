import type { Command } from 'commander';
import { defineDeleteBundle, defineDeleteExport, defineExportCreate, defineSweep } from './exports.ts';
import { defineBuild, defineBundle, defineExport, defineLocalReport } from './ingest.ts';
import {
  defineEntitlement,
  defineOrganization,
  defineProject,
  defineTokenCreate,
  defineTokenList,
  defineTokenRevoke,
} from './tenants.ts';
import { type Cli, printNote } from '../cli.ts';
import { addExamples } from '../shared/options/options.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import { addDataOptions, type DataOptions, withAdmin } from '../shared/input/administration.ts';
import { readInput, withFileName } from '../shared/input/input.ts';
import { formatTable, writeFacts, writeProduct, alignFacts } from '../shared/output/product.ts';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeFacts } from '../../codes/facts.ts';
import { count, size } from '../../report/text/page.ts';
import { backupSqlite } from '../../server/store/sqlite/backup.ts';
import { type CheckReport, checkStores } from '../../server/admin/check.ts';
import { type Places, placesOf } from '../../server/open-stores.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT, type ExitCode, exitOfCode, worstExit } from '../shared/output/exit.ts';
import { withProgress } from '../shared/output/progress.ts';

const MAX_IMPORT_BYTES = 64 * 1024 * 1024;

const IMPORT_HELP = `
The file has the form of docs/schemas/import.v1.schema.json. Organization and
project of each resource must exist. Importing the same file again changes
nothing.`;

function defineImport(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description(
      'Import environments, sessions, runs and authoring sessions in one transaction: all of them, or none.',
    )
    .argument('<file>', 'import file; - for standard input')
    .action(async (path: string, options: DataOptions) => {
      const bytes = await readInput(path, MAX_IMPORT_BYTES, cli);
      const document = withFileName(
        path,
        () => parseJson(bytes),
        () => 'server.ADMIN_REFUSED',
      );
      const resources = await withAdmin(cli, options, ({ admin }) => admin.importResources(document));
      const cells = resources.map(({ result, type, projectId, id }) => [result, type, projectId, id]);
      const lines = formatTable(['RESULT', 'TYPE', 'PROJECT', 'ID'], cells);
      await writeProduct(
        cli,
        { kind: 'imported', resources },
        lines === '' ? 'The file has no resources.\n' : lines,
      );
    });
  addExamples(command, {
    'worlds that another system made': 'drillproof admin import worlds.json',
    'from a pipe': 'drillproof admin import -',
  }).addHelpText('after', IMPORT_HELP);
}

function defineCancel(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description('Cancel queued work; running work is asked to stop.')
    .requiredOption('--organization <id>', 'organization that it belongs to')
    .argument('<operation-id>', 'id of the operation')
    .action(async (operationId: string, options: DataOptions & { readonly organization: string }) => {
      const { organization: organizationId } = options;
      const operation = await withAdmin(cli, options, ({ admin }) =>
        admin.cancelOperation({ organizationId, operationId }),
      );
      await writeFacts(cli, { kind: 'operation', operation }, [
        ['operation', operation.operationId],
        ['state', operation.state],
      ]);
    });
  addExamples(command, {
    'a waiting turn': 'drillproof admin operation cancel op_0123456789ab --organization org_0123456789ab',
  });
}

export function defineAdminCommand(command: Command, cli: Cli): void {
  command.description(
    'Administer the data of a control plane on this machine, with or without a running server.',
  );
  const org = command
    .command('org')
    .summary('organizations')
    .description('Create organizations and set their entitlements.');
  defineOrganization(org.command('create').summary('create an organization'), cli);
  defineEntitlement(org.command('entitle').summary('limit the lifetime of its sessions'), cli);
  const project = command.command('project').summary('projects').description('Create projects.');
  defineProject(project.command('create').summary('create a project of an organization'), cli);
  const token = command.command('token').summary('tokens').description('Create, list and revoke tokens.');
  defineTokenCreate(token.command('create').summary('create a token, shown once'), cli);
  defineTokenList(token.command('list').summary('list the tokens of an organization'), cli);
  defineTokenRevoke(token.command('revoke').summary('revoke a token'), cli);
  defineImport(command.command('import').summary('import worlds, runs and authoring sessions'), cli);
  const operation = command.command('operation').summary('queued work').description('Cancel queued work.');
  defineCancel(operation.command('cancel').summary('cancel an operation'), cli);
  const ingest = command
    .command('ingest')
    .summary('store evidence and builds')
    .description('Store evidence and builds.');
  defineBundle(ingest.command('bundle').summary('store a part'), cli);
  defineExport(ingest.command('export').summary('store an export'), cli);
  defineBuild(ingest.command('build').summary('store a build archive'), cli);
  defineLocalReport(ingest.command('local-report').summary('store a local report'), cli);
  const evidence = defineEvidence(command, cli);
  defineMigrate(command.command('migrate').summary('update the schema of the store'), cli);
  defineBackup(command.command('backup').summary('copy the store while the server runs'), cli);
  defineCheck(command.command('check').summary('hash every stored blob'), cli);
  for (const group of [org, project, token, operation, ingest, ...evidence]) addGroupHelp(group);
  addExamples(command, {
    'create an organization': 'drillproof admin org create --name Acme',
    'with a project': 'drillproof admin project create --organization org_0123456789ab --name web',
    'and a token': 'drillproof admin token create --organization org_0123456789ab --all-projects',
    'store evidence to serve': 'drillproof admin ingest export ./export',
  });
}

function defineEvidence(command: Command, cli: Cli): Command[] {
  const exported = command.command('export').summary('exports').description('Generate exports.');
  defineExportCreate(exported.command('create').summary('request an export of stored evidence'), cli);
  const deletion = command.command('delete').summary('deletion').description('Delete bundles and exports.');
  defineDeleteBundle(deletion.command('bundle').summary('delete a bundle'), cli);
  defineDeleteExport(deletion.command('export').summary('delete an export'), cli);
  defineSweep(command.command('sweep').summary('do due work if no worker runs'), cli);
  return [exported, deletion];
}

function addGroupHelp(group: Command): void {
  const { parent } = group;
  const [first] = group.commands;
  if (parent === null || first === undefined) return;
  addExamples(group, {
    'show the options of a command': `drillproof ${parent.name()} ${group.name()} ${first.name()} --help`,
  });
}

function defineMigrate(command: Command, cli: Cli): void {
  addDataOptions(command)
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
  addExamples(command, { 'before new servers start': 'drillproof admin migrate' });
}

type BackupOptions = DataOptions & { readonly out: string };

function formatBlobAdvice({ blobs, names }: Places): string {
  if (blobs.kind === 'disk') return `rsync -a ${names.blobs}/ TARGET/blobs/`;
  const { endpoint } = blobs.location;
  return `aws s3 sync ${names.blobs} TARGET${endpoint === undefined ? '' : ` --endpoint-url ${endpoint}`}`;
}

async function resolveOut(out: string): Promise<string> {
  const isFolder = await stat(out).then(
    (stats) => stats.isDirectory(),
    () => false, // writing reports every other problem
  );
  return isFolder ? join(out, 'store.sqlite') : out;
}

const BACKUP_HELP = `
The blobs are not copied. They never change under their names, so any tool that
copies files works. Copy them after the store, so that every blob of the copied
rows exists. To restore, copy the file back as store.sqlite and the blobs into
blobs/, and run "drillproof admin check".

The rows of PostgreSQL are copied with its own tool:

  pg_dump --format=custom --file=store.dump "$DATABASE_URL"`;

function defineBackup(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description(
      'Copy the embedded store into one file while the server runs, and print how to copy the blobs.',
    )
    .requiredOption('--out <path>', 'file to write, or a folder to write store.sqlite into')
    .action((options: BackupOptions) => backup(cli, options));
  addExamples(command, { 'a backup': 'drillproof admin backup --out backup-2026-11-21.sqlite' }).addHelpText(
    'after',
    BACKUP_HELP,
  );
}

async function backup(cli: Cli, { data, out }: BackupOptions): Promise<void> {
  const places = placesOf(cli.env, data);
  const blobs = formatBlobAdvice(places);
  if (places.store.kind === 'postgres') {
    throw usageError(
      'the rows are in PostgreSQL, which is backed up with its own tool',
      `Run: pg_dump --format=custom --file=store.dump "$DATABASE_URL" — and then, for the blobs: ${blobs}`,
    );
  }
  const path = await resolveOut(out);
  const copy = await backupSqlite(places.store.path, path);
  await writeFacts(cli, { kind: 'backup', store: path, ...copy, blobs: { command: blobs } }, [
    ['store', path],
    ['size', size(copy.bytes)],
    ['SHA-256', copy.digest],
  ]);
  await printNote(cli, `now copy the blobs, for example: ${blobs}`);
}

const CHECK_HELP = `
It exits with 1 when a blob is missing or damaged, and with 3 when one could not
be read.`;

function defineCheck(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description(
      'Hash every stored blob that a row names, and list blobs that no row names. It changes nothing and may run next to a server.',
    )
    .action(async (options: DataOptions) => {
      const report = await check(cli, options);
      await writeProduct(cli, { kind: 'check', ...report }, formatCheck(report));
      cli.exitCode = findCheckExit(report);
    });
  addExamples(command, {
    'after a restore, or every week': 'drillproof admin check',
    'for a program': 'drillproof admin check --json',
  }).addHelpText('after', CHECK_HELP);
}

const check = (cli: Cli, options: DataOptions): Promise<CheckReport> =>
  withProgress(cli, 'checked', 'blobs', ({ update: onProgress }) =>
    withAdmin(cli, options, (stores) => checkStores(stores, { signal: cli.signal, onProgress })),
  );

function findCheckExit({ findings }: CheckReport): ExitCode {
  const exits = findings
    .filter(({ code }) => codeFacts(code).severity === 'error')
    .map(({ code }) => exitOfCode(code));
  return exits.length === 0 ? EXIT.pass : worstExit(exits);
}

function formatCheck({ blobs, bytes, intact, awaitingRemoval, findings }: CheckReport): string {
  const wrong = findings.filter(({ code }) => code !== 'server.BLOB_ORPHAN').length;
  const lines = alignFacts([
    ['blobs', `${count(blobs)}, ${size(bytes)}`],
    ['intact', count(intact)],
    ['wrong', count(wrong)],
    ['orphans', count(findings.length - wrong)],
    ['awaiting removal', count(awaitingRemoval)],
  ]);
  const rows = findings.map((finding) => [finding.code, finding.digest, size(finding.bytes)]);
  return rows.length === 0 ? lines : `${lines}\n${formatTable(['CODE', 'BLOB', 'SIZE'], rows)}`;
}
