import { Option, type Command } from 'commander';
import { isoTime } from '../../bytes/text/iso-time.ts';
import {
  hostedRunStates,
  MAX_SESSION_TTL_MS,
  sessionStates,
  type WorldSession,
} from '../../contract/index.ts';
import { dataOptions, withAdmin, type DataOptions } from '../shared/input/administration.ts';
import type { Cli } from '../cli.ts';
import { digest, examples, wholeNumber } from '../shared/options/options.ts';
import { writeProduct } from '../shared/output/product.ts';
import { facts } from '../shared/output/table.ts';

type InProject = DataOptions & { readonly project: string; readonly id?: string };
type EnvironmentOptions = InProject & { readonly name: string; readonly build?: string };
type SessionOptions = InProject & {
  readonly environment: string;
  readonly drill?: string;
  readonly state: WorldSession['state'];
  readonly ttlMs: number;
};
type RunOptions = InProject & {
  readonly session: string;
  readonly drill?: string;
  readonly state: string;
};
type AuthoringOptions = InProject & { readonly branch: string; readonly baseRevision: string };

const HOUR_MS = 3_600_000;

const inProject = (command: Command, form: string): Command =>
  dataOptions(command)
    .requiredOption('--project <id>', 'project that it belongs to')
    .option('--id <id>', `id, ${form}_ and 12 to 32 characters of 0-9 a-z (default: a new one)`);

/** `admin org entitle` */
export function defineEntitlement(command: Command, cli: Cli): void {
  dataOptions(command)
    .description('Set how long the sessions of an organization may be extended to live.')
    .requiredOption('--organization <id>', 'organization that is entitled')
    .requiredOption(
      '--max-session-ttl-ms <ms>',
      'longest lifetime in milliseconds, at most seven days',
      wholeNumber(1, MAX_SESSION_TTL_MS),
    )
    .action(
      async (options: DataOptions & { readonly organization: string; readonly maxSessionTtlMs: number }) => {
        const { organization: organizationId, maxSessionTtlMs } = options;
        const row = await withAdmin(cli, options, ({ admin }) =>
          admin.setEntitlement({ organizationId, maxSessionTtlMs }),
        );
        const lines = facts([
          ['organization', row.organizationId],
          ['longest lifetime of a session', `${maxSessionTtlMs} ms`],
        ]);
        await writeProduct(cli, { kind: 'organization', ...row }, lines);
      },
    );
  examples(command, [
    ['one day', 'drillproof admin org entitle --organization org_0123456789ab --max-session-ttl-ms 86400000'],
  ]);
}

/** `admin environment create` */
export function defineEnvironment(command: Command, cli: Cli): void {
  inProject(command, 'env')
    .description('Create an environment: which build its worlds are made from.')
    .requiredOption('--name <name>', 'name for people')
    .option('--build <hash>', 'build hash that it starts with (default: none)', digest)
    .action(async (options: EnvironmentOptions) => {
      const { project: projectId, name, id, build } = options;
      const input = {
        projectId,
        name,
        ...(id !== undefined && { environmentId: id }),
        ...(build !== undefined && { buildHash: build }),
      };
      const row = await withAdmin(cli, options, ({ admin }) => admin.createEnvironment(input));
      const lines = facts([
        ['environment', row.environmentId],
        ['project', row.projectId],
        ['version', String(row.version)],
        ['build', row.buildHash ?? 'none yet'],
      ]);
      await writeProduct(cli, { kind: 'environment', ...row }, lines);
    });
  examples(command, [
    ['an environment', 'drillproof admin environment create --project prj_0123456789ab --name staging'],
  ]);
}

/** `admin session create` */
export function defineSession(command: Command, cli: Cli): void {
  inProject(command, 'ses')
    .description('Create a world session in an environment that has a build.')
    .requiredOption('--environment <id>', 'environment that it belongs to')
    .option('--drill <slug>', 'drill that it is set up for (default: the baseline of the build)')
    .addOption(new Option('--state <state>', 'its state').choices(sessionStates).default('ready'))
    .option('--ttl-ms <ms>', 'lifetime in milliseconds from now', wholeNumber(1, MAX_SESSION_TTL_MS), HOUR_MS)
    .action(async (options: SessionOptions) => {
      const { project: projectId, environment: environmentId, id, drill, state, ttlMs } = options;
      const input = {
        projectId,
        environmentId,
        state,
        ttlMs,
        ...(id !== undefined && { sessionId: id }),
        ...(drill !== undefined && { drillId: drill }),
      };
      const session = await withAdmin(cli, options, ({ admin }) => admin.createSession(input));
      const lines = facts([
        ['session', session.sessionId],
        ['state', session.state],
        ['version, lease generation', `${session.version}, ${session.leaseGeneration}`],
        ['expires', isoTime(session.expiresAtMs)],
      ]);
      await writeProduct(cli, { kind: 'session', session }, lines);
    });
  examples(command, [
    [
      'for a drill',
      'drillproof admin session create --project prj_0123456789ab --environment env_0123456789ab --drill restore',
    ],
  ]);
}

/** `admin run create` */
export function defineRun(command: Command, cli: Cli): void {
  inProject(command, 'hrun')
    .description('Create a run of a session, as a run that was made elsewhere.')
    .requiredOption('--session <id>', 'session that it runs in')
    .option('--drill <slug>', 'its drill (default: that of the session)')
    .addOption(new Option('--state <state>', 'its state').choices(hostedRunStates).default('created'))
    .action(async (options: RunOptions) => {
      const { project: projectId, session: sessionId, id, drill, state } = options;
      const input = {
        projectId,
        sessionId,
        state,
        ...(id !== undefined && { hostedRunId: id }),
        ...(drill !== undefined && { drillId: drill }),
      };
      const run = await withAdmin(cli, options, ({ admin }) => admin.createRun(input));
      const lines = facts([
        ['run', run.hostedRunId],
        ['session', run.sessionId],
        ['state', run.state],
      ]);
      await writeProduct(cli, { kind: 'run', run }, lines);
    });
  examples(command, [
    [
      'one that ended, to rerun it',
      'drillproof admin run create --project prj_0123456789ab --session ses_0123456789ab --state failed',
    ],
  ]);
}

/** `admin authoring-session create` */
export function defineAuthoringSession(command: Command, cli: Cli): void {
  inProject(command, 'authsess')
    .description('Open a conversation in which a repository is authored.')
    .requiredOption('--branch <name>', 'branch that it works on')
    .requiredOption('--base-revision <commit>', 'commit that it starts from')
    .action(async (options: AuthoringOptions) => {
      const { project: projectId, id, branch, baseRevision } = options;
      const input = { projectId, branch, baseRevision, ...(id !== undefined && { authoringSessionId: id }) };
      const session = await withAdmin(cli, options, ({ admin }) => admin.createAuthoringSession(input));
      const lines = facts([
        ['authoring session', session.authoringSessionId],
        ['branch', session.branch],
        ['state', session.state],
      ]);
      await writeProduct(cli, { kind: 'authoring-session', session }, lines);
    });
  examples(command, [
    [
      'on the main branch',
      'drillproof admin authoring-session create --project prj_0123456789ab --branch main --base-revision HEAD',
    ],
  ]);
}

/** `admin operation cancel` */
export function defineCancel(command: Command, cli: Cli): void {
  dataOptions(command)
    .description('Cancel queued work; what a worker is at is asked to stop.')
    .requiredOption('--organization <id>', 'organization that it belongs to')
    .argument('<operation-id>', 'id of the operation')
    .action(async (operationId: string, options: DataOptions & { readonly organization: string }) => {
      const { organization: organizationId } = options;
      const operation = await withAdmin(cli, options, ({ admin }) =>
        admin.cancelOperation({ organizationId, operationId }),
      );
      const lines = facts([
        ['operation', operation.operationId],
        ['state', operation.state],
      ]);
      await writeProduct(cli, { kind: 'operation', operation }, lines);
    });
  examples(command, [
    [
      'a turn that waits',
      'drillproof admin operation cancel op_0123456789ab --organization org_0123456789ab',
    ],
  ]);
}
