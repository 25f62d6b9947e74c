import { count, countNoun } from '../../bytes/text/wording.ts';
import { defineDeleteBundle, defineDeleteExport, defineExportCreate, defineSweep } from './exports.ts';
import { definePrune, defineRetention } from './retention.ts';
import { defineBuild, defineBundle, defineExport, defineLocalReport } from './ingest.ts';
import {
  defineEntitlement,
  defineOrganization,
  defineProject,
  defineTokenCreate,
  defineTokenList,
  defineTokenRevoke,
  defineTokenRotate,
} from './tenants.ts';
import { type Cli, printNotes } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import { DATA, OF_ORGANIZATION, withAdmin } from '../shared/input/administration.ts';
import { readInput, withFileName } from '../shared/input/input.ts';
import { alignFacts, formatTable, writeFacts, writeProduct, writeCounts } from '../shared/output/product.ts';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Code } from '../../codes/catalogue.ts';
import { codeFacts } from '../../codes/facts.ts';
import { escapeText, quoteShellWord } from '../../report/printable.ts';
import { size } from '../../report/text/page.ts';
import { refusedError } from '../../server/model/admin-context.ts';
import { backupSqlite, noteSqliteBackup } from '../../server/store/sqlite/backup.ts';
import { type CheckReport, checkStores } from '../../server/admin/check.ts';
import { checkRestored } from '../../server/admin/restore.ts';
import { assertClock, recordTime } from '../../server/model/clock.ts';
import { isoTime } from '../../bytes/text/wording.ts';
import { VARIABLES } from '../shared/options/variables.ts';
import { type Places, placesOf } from '../../server/open-stores.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT, type ExitCode, exitOfCode, worstExit } from '../exit.ts';
import { withProgress } from '../shared/output/progress.ts';

const MAX_IMPORT_BYTES = 64 * 1024 * 1024;

const IMPORT_HELP = `
The file has the form of docs/schemas/import.v1.schema.json. Importing it again
changes nothing.`;

const defineImport = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Import worlds, runs and authoring sessions: all of them in one transaction, or none.')
    .argument('<file>', 'import file; - for standard input')
    .perform(DATA, async (options, path: string) => {
      const bytes = await readInput(path, MAX_IMPORT_BYTES, cli);
      const document = withFileName(
        path,
        () => parseJson(bytes),
        () => 'server.ADMIN_REFUSED',
      );
      const resources = await withAdmin(cli, options, ({ admin }) => admin.importResources(document));
      const cells = resources.map(({ result, type, projectId, id }) => [result, type, projectId, id]);
      const lines = formatTable(['RESULT', 'TYPE', 'PROJECT', 'ID'], cells);
      const text = lines === '' ? 'The file has no resources.\n' : lines;
      const line = countNoun(resources.length, 'resource');
      await writeProduct(cli, { kind: 'imported', resources }, text, line);
    })
    .examples({ 'worlds that another system made': 'drillproof admin import worlds.json' })
    .addHelpText('after', IMPORT_HELP);

const defineCancel = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Cancel queued work; running work is asked to stop.')
    .argument('<operation-id>', 'id of the operation')
    .perform([...DATA, OF_ORGANIZATION], async (options, operationId: string) => {
      const operation = await withAdmin(cli, options, ({ admin }) =>
        admin.cancelOperation({ organizationId: options.organization, operationId }),
      );
      await writeFacts(cli, { kind: 'operation', operation }, [
        ['operation', operation.operationId],
        ['state', operation.state],
      ]);
    })
    .examples({
      'a waiting turn': 'drillproof admin operation cancel op_0123456789ab --organization org_0123456789ab',
    });

const defineOperationLog = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Print the log of the last attempt of a runner: the last 64 KiB of its output.')
    .argument('<operation-id>', 'id of the operation')
    .perform([...DATA, OF_ORGANIZATION], async ({ data, organization, ...options }, operationId: string) => {
      const { attempt, log } = await withAdmin(cli, { data, ...options }, async ({ store }) => {
        const owned = await store.operations.find(organization, operationId);
        const row = owned && (await store.runnerLogs.find(operationId));
        if (row !== undefined) return row;
        throw refusedError(`the organization has no log of an operation ${operationId}`);
      });
      const text = log.split('\n').map(escapeText).join('\n');
      await writeProduct(
        cli,
        { kind: 'operation-log', operationId, attempt, log },
        text,
        `attempt ${attempt}`,
      );
    })
    .examples({
      'of a rerun that failed':
        'drillproof admin operation log op_0123456789ab --organization org_0123456789ab',
    });

const defineMigrate = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description(
      'Bring the schema of the store up to date, as every start does. If several run at once, one migrates and the others wait.',
    )
    .perform(DATA, async (options) => {
      const { schema, names } = await withAdmin(cli, options, async ({ store, places }) => ({
        schema: await store.schema(),
        names: places.names,
      }));
      await writeFacts(cli, { kind: 'migrated', store: names.store, schema }, [
        ['store', names.store],
        ['schema', `${schema.version} of ${schema.known}`],
      ]);
    })
    .examples({ 'before new servers start': 'drillproof admin migrate' });

function formatBlobAdvice({ blobs, names }: Places): string {
  if (blobs.kind === 'disk') return `rsync -a ${quoteShellWord(`${names.blobs}/`)} TARGET/blobs/`;
  const { endpoint } = blobs.location;
  return `aws s3 sync ${quoteShellWord(names.blobs)} TARGET${endpoint === undefined ? '' : ` --endpoint-url ${endpoint}`}`;
}

async function resolveOut(out: string): Promise<string> {
  const isFolder = await stat(out).then(
    (stats) => stats.isDirectory(),
    () => false, // writing reports every other problem
  );
  return isFolder ? join(out, 'store.sqlite') : out;
}

const BACKUP_HELP = `
docs/server/operate.md describes backups, also of PostgreSQL, and restores.`;

const BACKUP = [
  ...DATA,
  option('--out <path>', 'file to write, or a folder to write store.sqlite into'),
  option('--done', 'only store that another tool made a backup now, for metrics').conflicts('--out'),
];

const defineBackup = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description(
      'Copy the embedded store into one file while the server runs, and print how to copy the blobs.',
    )
    .perform(BACKUP, (options) => backup(cli, options))
    .examples({
      'a backup': 'drillproof admin backup --out backup-2026-11-21.sqlite',
      'after pg_dump': 'drillproof admin backup --done',
    })
    .addHelpText('after', BACKUP_HELP);

async function backup(cli: Cli, options: OptionsOf<typeof BACKUP>): Promise<void> {
  const { data, out, done } = options;
  const atMs = cli.now();
  if (done === true) {
    await withAdmin(cli, options, ({ store }) => store.transaction(({ meta }) => meta.noteBackup(atMs)));
    return writeFacts(cli, { kind: 'backup-noted', atMs }, [['last backup', isoTime(atMs)]]);
  }
  if (out === undefined) throw usageError('a backup needs --out or --done', 'Pass one of them.');
  const places = placesOf(cli.env, data);
  const blobs = formatBlobAdvice(places);
  if (places.store.kind === 'postgres') {
    throw usageError(
      'the rows are in PostgreSQL, which is backed up with its own tool',
      `Run: pg_dump --format=custom --file=store.dump "$DATABASE_URL" — then, for the blobs: ${blobs} — and then: drillproof admin backup --done`,
    );
  }
  const path = await resolveOut(out);
  const copy = await backupSqlite(places.store.path, path);
  await noteSqliteBackup(places.store.path, atMs);
  await writeFacts(cli, { kind: 'backup', store: path, ...copy, blobs: { command: blobs } }, [
    ['store', path],
    ['size', size(copy.bytes)],
    ['SHA-256', copy.digest],
  ]);
  await printNotes(cli, `now copy the blobs, for example:\n  ${escapeText(blobs)}`);
}

const defineCheck = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description(
      'Hash every stored blob that a row names. Blobs that no row names are listed. It changes nothing and may run next to a server.',
    )
    .perform(DATA, async (options) => {
      const report = await withProgress(cli, 'checked', 'blobs', ({ update: onProgress }) =>
        withAdmin(cli, options, (stores) => checkStores(stores, { signal: cli.signal, onProgress })),
      );
      await writeCheck(cli, report);
      cli.exitCode = findCheckExit(report);
    })
    .examples({ 'after a restore, or every week': 'drillproof admin check' });

const RESTORE = [
  ...DATA,
  option('--audit-log <file>', 'log of a server or of admin (default: audit.log in --data)').repeat(),
];

const defineRestoreCheck = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description(
      'List what a restore brought back or lost, by the audit logs. Run it before a server or a worker.',
    )
    .perform(RESTORE, async (options) => {
      const { auditLog = [cli.env[VARIABLES.auditLog] ?? join(options.data, 'audit.log')] } = options;
      const report = await withAdmin(cli, options, ({ store }) => checkRestored(store, auditLog, cli.now()));
      const { restoredToMs, findings, openUploads } = report;
      const counts = [
        ['restored to', restoredToMs === undefined ? 'unknown' : isoTime(restoredToMs)],
        ['findings', count(findings.length)],
        ['open uploads', count(openUploads)],
      ] as const;
      const list = alignFacts(findings.map(({ code, id }) => [code, id]));
      await writeCounts(cli, { kind: 'restored', ...report }, counts, list);
      cli.exitCode = findCheckExit(report);
    })
    .examples({ 'with two logs': 'drillproof admin restore-check --audit-log a.log --audit-log b.log' });

const CLOCK = [...DATA, option('--accept', 'record the time of this machine as the right one')];

const defineClock = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Compare the clock of this machine with the time of the control plane, or confirm it.')
    .perform(CLOCK, async (options) => {
      await withAdmin(cli, options, async ({ store }) => {
        if (options.accept === true) await recordTime(store, cli.now());
        await assertClock(store, cli.now());
      });
      await writeFacts(cli, { kind: 'clock', nowMs: cli.now() }, [['time', isoTime(cli.now())]]);
    })
    .examples({ 'after months off': 'drillproof admin clock --accept' });

function findCheckExit({ findings }: { readonly findings: readonly { readonly code: Code }[] }): ExitCode {
  const exits = findings
    .filter(({ code }) => codeFacts(code).severity === 'error')
    .map(({ code }) => exitOfCode(code));
  return exits.length === 0 ? EXIT.pass : worstExit(exits);
}

function writeCheck(cli: Cli, report: CheckReport): Promise<void> {
  const { blobs, bytes, intact, awaitingRemoval, findings } = report;
  const wrong = findings.filter(({ code }) => code !== 'server.BLOB_ORPHAN').length;
  const counts = [
    ['blobs', `${count(blobs)}, ${size(bytes)}`],
    ['intact', count(intact)],
    ['wrong', count(wrong)],
    ['orphans', count(findings.length - wrong)],
    ['awaiting removal', count(awaitingRemoval)],
  ] as const;
  const rows = findings.map((finding) => [finding.code, finding.digest, size(finding.bytes)]);
  const table = rows.length === 0 ? '' : `\n${formatTable(['CODE', 'BLOB', 'SIZE'], rows)}`;
  return writeCounts(cli, { kind: 'check', ...report }, counts, table);
}

type Define = (command: CliCommand, cli: Cli) => CliCommand;
type Group = readonly [description: string, rows: Readonly<Record<string, Define>>];

const COMMANDS: Readonly<Record<string, Define | Group>> = {
  org: [
    'Create organizations and set their entitlements.',
    { create: defineOrganization, entitle: defineEntitlement },
  ],
  project: ['Create projects.', { create: defineProject }],
  token: [
    'Create, list, rotate and revoke tokens.',
    {
      create: defineTokenCreate,
      list: defineTokenList,
      rotate: defineTokenRotate,
      revoke: defineTokenRevoke,
    },
  ],
  import: defineImport,
  operation: [
    'Cancel queued work, and show what a runner printed.',
    { cancel: defineCancel, log: defineOperationLog },
  ],
  ingest: [
    'Store evidence and builds.',
    { bundle: defineBundle, export: defineExport, build: defineBuild, 'local-report': defineLocalReport },
  ],
  export: ['Generate exports.', { create: defineExportCreate }],
  delete: ['Delete bundles and exports.', { bundle: defineDeleteBundle, export: defineDeleteExport }],
  retention: defineRetention,
  prune: definePrune,
  sweep: defineSweep,
  migrate: defineMigrate,
  backup: defineBackup,
  check: defineCheck,
  'restore-check': defineRestoreCheck,
  clock: defineClock,
};

export function defineCommand(admin: CliCommand, cli: Cli): void {
  admin.description(
    'Administer the data of a control plane on this machine, with or without a running server.',
  );
  for (const [name, row] of Object.entries(COMMANDS)) {
    const command = admin.command(name);
    if (typeof row === 'function') row(command, cli);
    else addGroup(command, row, cli);
  }
}

function addGroup(group: CliCommand, [description, rows]: Group, cli: Cli): void {
  for (const [name, define] of Object.entries(rows)) define(group.command(name), cli);
  group.description(description);
}
