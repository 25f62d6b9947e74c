import { defined } from '../../bytes/arguments.ts';
import { isoTime } from '../../bytes/text/wording.ts';
import { MAX_SESSION_TTL_MS } from '../../contract/resources/session.ts';
import { type Permission, permissions } from '../../contract/operations/operations.ts';
import type { IssuedToken } from '../../server/admin/tenants.ts';
import { type Cli, printNotes } from '../cli.ts';
import { DATA, OF_ORGANIZATION, withAdmin } from '../shared/input/administration.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { parseTime, parseNumberBetween } from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { alignFacts, formatTable, writeFacts, writeProduct, writeList } from '../shared/output/product.ts';

const DEFAULT_PERMISSIONS: readonly Permission[] = ['evidence.read', 'build.read'];

const NAME = option('--name <name>', 'name for people').required();
const idOption = (prefix: string) =>
  option('--id <id>', `id, ${prefix} and 12 to 32 characters of 0-9 a-z (default: a new one)`);

export const defineOrganization = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Create an organization, and the folder of the control plane if it is absent.')
    .perform([...DATA, NAME, idOption('org_')], async (options) => {
      const input = defined({ name: options.name, organizationId: options.id });
      const create = { create: true };
      const row = await withAdmin(cli, options, ({ admin }) => admin.createOrganization(input), create);
      await writeFacts(cli, { kind: 'organization', ...row }, [
        ['organization', row.organizationId],
        ['name', row.name],
      ]);
    })
    .examples({ 'a first organization': 'drillproof admin org create --name Acme' });

const ENTITLEMENT = [
  ...DATA,
  option('--organization <id>', 'organization that is entitled').required(),
  option(
    '--max-session-ttl-ms <ms>',
    'longest lifetime in milliseconds, at most seven days',
    parseNumberBetween(1, MAX_SESSION_TTL_MS),
  ).required(),
];

export const defineEntitlement = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Limit how far the sessions of an organization may be extended.')
    .perform(ENTITLEMENT, async (options) => {
      const { organization: organizationId, maxSessionTtlMs } = options;
      const row = await withAdmin(cli, options, ({ admin }) =>
        admin.setEntitlement({ organizationId, maxSessionTtlMs }),
      );
      await writeFacts(cli, { kind: 'organization', ...row }, [
        ['organization', row.organizationId],
        ['longest lifetime of a session', `${maxSessionTtlMs} ms`],
      ]);
    })
    .examples({
      'one day': 'drillproof admin org entitle --organization org_0123456789ab --max-session-ttl-ms 86400000',
    });

export const defineProject = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Create a project of an organization.')
    .perform([...DATA, OF_ORGANIZATION, NAME, idOption('prj_')], async (options) => {
      const { name, id, organization } = options;
      const input = defined({ organizationId: organization, name, projectId: id });
      const row = await withAdmin(cli, options, ({ admin }) => admin.createProject(input));
      await writeFacts(cli, { kind: 'project', ...row }, [
        ['project', row.projectId],
        ['organization', row.organizationId],
        ['name', row.name],
      ]);
    })
    .examples({
      'a project': 'drillproof admin project create --organization org_0123456789ab --name web',
    });

const TOKEN = [
  ...DATA,
  OF_ORGANIZATION,
  option('--project <id>', 'project that it may read').repeat(),
  option('--all-projects', 'it may read every project of the organization').conflicts('--project'),
  option('--permission <name>', `permission of the token (default: ${DEFAULT_PERMISSIONS.join(' and ')})`)
    .choices(permissions)
    .repeat(),
  option('--expires-at <time>', 'when it expires (default: never)', parseTime),
];
type TokenOptions = OptionsOf<typeof TOKEN>;

export const defineTokenCreate = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Create a token. It is shown only once; the control plane stores its hash.')
    .perform(TOKEN, (options) => createToken(cli, options))
    .examples({
      'to mirror and review':
        'drillproof admin token create --organization org_0123456789ab --all-projects --expires-at 2027-01-01',
      'into a file, for --token-file':
        'drillproof admin token create --organization org_0123456789ab --project prj_0123456789ab --quiet > token',
    });

async function createToken(cli: Cli, options: TokenOptions): Promise<void> {
  const { organization, allProjects, permission = DEFAULT_PERMISSIONS, expiresAt } = options;
  const projects = allProjects === true ? ('all' as const) : options.project;
  if (projects === undefined)
    throw usageError('a token needs --project or --all-projects', 'Pass one of them.');
  const input = {
    organizationId: organization,
    projects,
    permissions: permission,
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

export const defineTokenList = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('List the tokens of an organization: what each may do, never the token itself.')
    .perform(
      [...DATA, option('--organization <id>', 'organization whose tokens to list').required()],
      async (options) => {
        const rows = await withAdmin(cli, options, ({ store }) => store.tokens.list(options.organization));
        const tokens = rows.map(({ tokenHash: _tokenHash, ...row }) => row);
        const cells = tokens.map((row) => [
          row.tokenId,
          formatTokenState(row, cli.now()),
          row.projects === 'all' ? 'all' : row.projects.join(','),
          row.permissions.join(','),
        ]);
        const lines = formatTable(['TOKEN', 'STATE', 'PROJECTS', 'PERMISSIONS'], cells);
        const text = lines === '' ? 'The organization has no tokens.\n' : lines;
        await writeList(cli, { kind: 'tokens', tokens }, text);
      },
    )
    .examples({ 'who can read': 'drillproof admin token list --organization org_0123456789ab' });

function formatTokenState(
  row: { readonly expiresAtMs?: number; readonly revokedAtMs?: number },
  nowMs: number,
): string {
  if (row.revokedAtMs !== undefined) return `revoked ${isoTime(row.revokedAtMs)}`;
  if (row.expiresAtMs === undefined) return 'live';
  return `${row.expiresAtMs <= nowMs ? 'expired' : 'live until'} ${isoTime(row.expiresAtMs)}`;
}

export const defineTokenRevoke = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Revoke a token; its next request is refused.')
    .argument('<token-id>', 'id of the token, as "admin token list" shows it')
    .perform(DATA, async (options, tokenId: string) => {
      await withAdmin(cli, options, ({ admin }) => admin.revokeToken(tokenId));
      await writeProduct(cli, { kind: 'token-revoked', tokenId }, `revoked ${tokenId}\n`);
    })
    .examples({ 'at once': 'drillproof admin token revoke tok_0123456789abcdefghijklmn' });
