import type { Command } from 'commander';
import { defineBackup, defineCheck, defineMigrate } from './data.ts';
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
import type { Cli } from '../cli.ts';
import { examples } from '../shared/options/options.ts';
import { parseJson } from '../../bytes/index.ts';
import { dataOptions, type DataOptions, withAdmin } from '../shared/input/administration.ts';
import { readInput } from '../shared/input/input.ts';
import { table, writeFacts, writeProduct } from '../shared/output/product.ts';

const MAX_IMPORT_BYTES = 64 * 1024 * 1024;

const IMPORT_HELP = `
The file has the form of docs/schemas/import.v1.schema.json. Organization and
project of each resource must exist. Importing the same file again changes
nothing.`;

export function defineImport(command: Command, cli: Cli): void {
  dataOptions(command)
    .description(
      'Import environments, sessions, runs and authoring sessions in one transaction: all of them, or none.',
    )
    .argument('<file>', 'import file; - for standard input')
    .action(async (path: string, options: DataOptions) => {
      const document = parseJson(await readInput(path, MAX_IMPORT_BYTES, cli));
      const resources = await withAdmin(cli, options, ({ admin }) => admin.importResources(document));
      const cells = resources.map(({ result, type, projectId, id }) => [result, type, projectId, id]);
      const lines = table(['RESULT', 'TYPE', 'PROJECT', 'ID'], cells);
      await writeProduct(
        cli,
        { kind: 'imported', resources },
        lines === '' ? 'The file has no resources.\n' : lines,
      );
    });
  examples(command, {
    'worlds that another system made': 'drillproof admin import worlds.json',
    'from a pipe': 'drillproof admin import -',
  }).addHelpText('after', IMPORT_HELP);
}

export function defineCancel(command: Command, cli: Cli): void {
  dataOptions(command)
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
  examples(command, {
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
  defineMigrate(command.command('migrate').summary('bring the schema of the store up to date'), cli);
  defineBackup(command.command('backup').summary('copy the store while the server runs'), cli);
  defineCheck(command.command('check').summary('hash every stored blob'), cli);
  for (const group of [org, project, token, operation, ingest, ...evidence]) groupHelp(group);
  examples(command, {
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

function groupHelp(group: Command): void {
  const { parent } = group;
  const [first] = group.commands;
  if (parent === null || first === undefined) return;
  examples(group, {
    'show the options of a command': `drillproof ${parent.name()} ${group.name()} ${first.name()} --help`,
  });
}
