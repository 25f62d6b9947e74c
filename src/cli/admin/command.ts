import type { Command } from 'commander';
import { defineBackup, defineCheck, defineMigrate } from './data.ts';
import { defineDeleteBundle, defineDeleteExport, defineExportCreate, defineSweep } from './exports.ts';
import { defineBuild, defineBundle, defineExport, defineLocalReport } from './ingest.ts';
import {
  defineOrganization,
  defineProject,
  defineTokenCreate,
  defineTokenList,
  defineTokenRevoke,
} from './tenants.ts';
import {
  defineAuthoringSession,
  defineCancel,
  defineEntitlement,
  defineEnvironment,
  defineRun,
  defineSession,
} from './worlds.ts';
import type { Cli } from '../cli.ts';
import { examples } from '../shared/options/options.ts';

export function define(command: Command, cli: Cli): void {
  command.description(
    'Work on the data of a control plane on this machine, beside a running one or without.',
  );
  const org = command
    .command('org')
    .summary('organizations')
    .description('Create organizations and entitle them.');
  defineOrganization(org.command('create').summary('create an organization'), cli);
  defineEntitlement(org.command('entitle').summary('limit the lifetime of its sessions'), cli);
  const project = command.command('project').summary('projects').description('Create projects.');
  defineProject(project.command('create').summary('create a project of an organization'), cli);
  const token = command.command('token').summary('tokens').description('Create, list and revoke tokens.');
  defineTokenCreate(token.command('create').summary('create a token, shown once'), cli);
  defineTokenList(token.command('list').summary('list the tokens of an organization'), cli);
  defineTokenRevoke(token.command('revoke').summary('revoke a token'), cli);
  const worlds = defineWorlds(command, cli);
  const ingest = command
    .command('ingest')
    .summary('take in evidence and builds')
    .description('Take in evidence and builds.');
  defineBundle(ingest.command('bundle').summary('take in a part'), cli);
  defineExport(ingest.command('export').summary('take in an export'), cli);
  defineBuild(ingest.command('build').summary('take in a build archive'), cli);
  defineLocalReport(ingest.command('local-report').summary('take in a local report'), cli);
  const evidence = defineEvidence(command, cli);
  defineMigrate(command.command('migrate').summary('bring the schema of the store up to date'), cli);
  defineBackup(command.command('backup').summary('copy the store while the server runs'), cli);
  defineCheck(command.command('check').summary('hash every stored blob'), cli);
  for (const group of [org, project, token, ...worlds, ingest, ...evidence]) groupHelp(group);
  examples(command, [
    ['from nothing to a token', 'drillproof admin org create --name Acme'],
    ['then', 'drillproof admin project create --organization org_0123456789ab --name web'],
    ['then', 'drillproof admin token create --organization org_0123456789ab --all-projects'],
    ['and evidence to serve', 'drillproof admin ingest export ./export'],
  ]);
}

/** What becomes of evidence that was taken in. */
function defineEvidence(command: Command, cli: Cli): Command[] {
  const exported = command.command('export').summary('exports').description('Generate exports.');
  defineExportCreate(exported.command('create').summary('ask for an export of what is stored'), cli);
  const deletion = command.command('delete').summary('deletion').description('Delete bundles and exports.');
  defineDeleteBundle(deletion.command('bundle').summary('delete a bundle'), cli);
  defineDeleteExport(deletion.command('export').summary('delete an export'), cli);
  defineSweep(command.command('sweep').summary('do what is due, where no worker runs'), cli);
  return [exported, deletion];
}

/** The groups of what the control plane otherwise gets from the systems around it: worlds and conversations. */
function defineWorlds(command: Command, cli: Cli): Command[] {
  const group = (name: string, summary: string, description: string): Command =>
    command.command(name).summary(summary).description(description);
  const environment = group('environment', 'environments', 'Create environments.');
  defineEnvironment(environment.command('create').summary('create an environment'), cli);
  const session = group('session', 'world sessions', 'Create world sessions.');
  defineSession(session.command('create').summary('create a session in an environment'), cli);
  const run = group('run', 'drill runs', 'Create drill runs.');
  defineRun(run.command('create').summary('create a run of a session'), cli);
  const authoring = group('authoring-session', 'conversations', 'Open authoring sessions.');
  defineAuthoringSession(authoring.command('create').summary('open an authoring session'), cli);
  const operation = group('operation', 'queued work', 'Cancel queued work.');
  defineCancel(operation.command('cancel').summary('cancel an operation'), cli);
  return [environment, session, run, authoring, operation];
}

function groupHelp(group: Command): void {
  const { parent } = group;
  const [first] = group.commands;
  if (parent === null || first === undefined) return;
  examples(group, [
    ['what a command takes', `drillproof ${parent.name()} ${group.name()} ${first.name()} --help`],
  ]);
}
