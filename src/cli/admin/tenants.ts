import { type Command, Option } from 'commander';
import { defined } from '../../bytes/arguments.ts';
import { isoTime } from '../../bytes/text/wording.ts';
import { MAX_SESSION_TTL_MS } from '../../contract/resources/session.ts';
import { type Permission, permissions } from '../../contract/operations/operations.ts';
import type { IssuedToken } from '../../server/admin/tenants.ts';
import { type Cli, printNotes } from '../cli.ts';
import { addDataOptions, type DataOptions, withAdmin } from '../shared/input/administration.ts';
import {
  addExamples,
  parseTime,
  parseNumberBetween,
  collect,
  collectTexts,
} from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { alignFacts, formatTable, writeFacts, writeProduct } from '../shared/output/product.ts';

type OrgOptions = DataOptions & { readonly name: string; readonly id?: string };
type ProjectOptions = OrgOptions & { readonly organization: string };
type TokenOptions = DataOptions & {
  readonly organization: string;
  readonly project?: readonly string[];
  readonly allProjects?: boolean;
  readonly permission?: readonly Permission[];
  readonly expiresAt?: number;
};

const DEFAULT_PERMISSIONS: readonly Permission[] = ['evidence.read', 'build.read'];

export function defineOrganization(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description('Create an organization, and the folder of the control plane if it is absent.')
    .requiredOption('--name <name>', 'name for people')
    .option('--id <id>', 'id, org_ and 12 to 32 characters of 0-9 a-z (default: a new one)')
    .action(async (options: OrgOptions) => {
      const { name, id } = options;
      const input = defined({ name, organizationId: id });
      const row = await withAdmin(cli, options, ({ admin }) => admin.createOrganization(input), {
        create: true,
      });
      await writeFacts(cli, { kind: 'organization', ...row }, [
        ['organization', row.organizationId],
        ['name', row.name],
      ]);
    });
  addExamples(command, { 'a first organization': 'drillproof admin org create --name Acme' });
}

export function defineEntitlement(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description('Limit how far the sessions of an organization may be extended.')
    .requiredOption('--organization <id>', 'organization that is entitled')
    .requiredOption(
      '--max-session-ttl-ms <ms>',
      'longest lifetime in milliseconds, at most seven days',
      parseNumberBetween(1, MAX_SESSION_TTL_MS),
    )
    .action(
      async (options: DataOptions & { readonly organization: string; readonly maxSessionTtlMs: number }) => {
        const { organization: organizationId, maxSessionTtlMs } = options;
        const row = await withAdmin(cli, options, ({ admin }) =>
          admin.setEntitlement({ organizationId, maxSessionTtlMs }),
        );
        await writeFacts(cli, { kind: 'organization', ...row }, [
          ['organization', row.organizationId],
          ['longest lifetime of a session', `${maxSessionTtlMs} ms`],
        ]);
      },
    );
  addExamples(command, {
    'one day': 'drillproof admin org entitle --organization org_0123456789ab --max-session-ttl-ms 86400000',
  });
}

export function defineProject(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description('Create a project of an organization.')
    .requiredOption('--organization <id>', 'organization that it belongs to')
    .requiredOption('--name <name>', 'name for people')
    .option('--id <id>', 'id, prj_ and 12 to 32 characters of 0-9 a-z (default: a new one)')
    .action(async (options: ProjectOptions) => {
      const { name, id, organization } = options;
      const input = defined({ organizationId: organization, name, projectId: id });
      const row = await withAdmin(cli, options, ({ admin }) => admin.createProject(input));
      await writeFacts(cli, { kind: 'project', ...row }, [
        ['project', row.projectId],
        ['organization', row.organizationId],
        ['name', row.name],
      ]);
    });
  addExamples(command, {
    'a project': 'drillproof admin project create --organization org_0123456789ab --name web',
  });
}

export function defineTokenCreate(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description('Create a token. It is shown only once; the control plane stores its hash.')
    .requiredOption('--organization <id>', 'organization that it belongs to')
    .option('--project <id>', 'project that it may read (repeatable)', collectTexts)
    .option('--all-projects', 'it may read every project of the organization')
    .addOption(
      new Option('--permission <name>', 'permission of the token (repeatable)')
        .argParser(collect(parsePermission))
        .default(undefined, DEFAULT_PERMISSIONS.join(' and ')),
    )
    .option('--expires-at <time>', 'when it expires (default: never)', parseTime)
    .addHelpText(
      'after',
      `\nPermissions: ${permissions.slice(0, 3).join(', ')},\n${permissions.slice(3).join(', ')}.`,
    )
    .action((options: TokenOptions) => createToken(cli, options));
  addExamples(command, {
    'to mirror and review':
      'drillproof admin token create --organization org_0123456789ab --all-projects --expires-at 2027-01-01',
    'into a file, for --token-file':
      'drillproof admin token create --organization org_0123456789ab --project prj_0123456789ab --quiet > token',
  });
}

function parsePermission(value: string): Permission {
  const match = permissions.find((name) => name === value);
  if (match !== undefined) return match;
  throw usageError(`unknown permission ${value}`, `Permissions are ${permissions.join(', ')}.`);
}

async function createToken(cli: Cli, options: TokenOptions): Promise<void> {
  const {
    organization,
    project = [],
    allProjects = false,
    permission: may = DEFAULT_PERMISSIONS,
    expiresAt,
  } = options;
  if (allProjects === project.length > 0) {
    throw usageError('a token needs either --project or --all-projects', 'Pass exactly one of them.');
  }
  const input = {
    organizationId: organization,
    projects: allProjects ? ('all' as const) : project,
    permissions: may,
    ...defined({ expiresAtMs: expiresAt }),
  };
  const token = await withAdmin(cli, options, ({ admin }) => admin.createToken(input));
  // Standard output gets the token alone, so that it can be redirected to a file.
  await writeProduct(cli, { kind: 'token', ...token }, `${token.token}\n`);
  if (cli.format === 'text') await printNotes(cli, formatToken(token).trimEnd());
}

const formatToken = (row: Omit<IssuedToken, 'token'>): string =>
  alignFacts([
    ['token id', row.tokenId],
    ['organization', row.organizationId],
    ['projects', row.projects === 'all' ? 'all' : row.projects.join(', ')],
    ['permissions', row.permissions.join(', ')],
    ['expires', row.expiresAtMs === undefined ? 'never' : isoTime(row.expiresAtMs)],
    ['note', 'the token is not shown again'],
  ]);

export function defineTokenList(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description('List the tokens of an organization: what each may do, never the token itself.')
    .requiredOption('--organization <id>', 'organization whose tokens to list')
    .action(async (options: DataOptions & { readonly organization: string }) => {
      const rows = await withAdmin(cli, options, ({ store }) => store.tokens.list(options.organization));
      const tokens = rows.map(({ tokenHash: _tokenHash, ...row }) => row);
      const cells = tokens.map((row) => [
        row.tokenId,
        formatTokenState(row, cli.now()),
        row.projects === 'all' ? 'all' : row.projects.join(','),
        row.permissions.join(','),
      ]);
      const lines = formatTable(['TOKEN', 'STATE', 'PROJECTS', 'PERMISSIONS'], cells);
      await writeProduct(
        cli,
        { kind: 'tokens', tokens },
        lines === '' ? 'The organization has no tokens.\n' : lines,
      );
    });
  addExamples(command, { 'who can read': 'drillproof admin token list --organization org_0123456789ab' });
}

function formatTokenState(
  row: { readonly expiresAtMs?: number; readonly revokedAtMs?: number },
  nowMs: number,
): string {
  if (row.revokedAtMs !== undefined) return `revoked ${isoTime(row.revokedAtMs)}`;
  if (row.expiresAtMs === undefined) return 'live';
  return `${row.expiresAtMs <= nowMs ? 'expired' : 'live until'} ${isoTime(row.expiresAtMs)}`;
}

export function defineTokenRevoke(command: Command, cli: Cli): void {
  addDataOptions(command)
    .description('Revoke a token; its next request is refused.')
    .argument('<token-id>', 'id of the token, as "admin token list" shows it')
    .action(async (tokenId: string, options: DataOptions) => {
      await withAdmin(cli, options, ({ admin }) => admin.revokeToken(tokenId));
      await writeProduct(cli, { kind: 'token-revoked', tokenId }, `revoked ${tokenId}\n`);
    });
  addExamples(command, { 'at once': 'drillproof admin token revoke tok_0123456789abcdefghijklmn' });
}
