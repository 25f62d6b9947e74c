import { defined } from '../../bytes/arguments.ts';
import { isoTime, countNoun } from '../../bytes/text/wording.ts';
import { MAX_SESSION_TTL_MS } from '../../contract/resources/session.ts';
import { type Permission, permissions } from '../../contract/operations/operations.ts';
import type { IssuedToken } from '../../server/admin/tenants.ts';
import { type Cli, printNotes } from '../cli.ts';
import { DATA, OF_ORGANIZATION, withAdmin } from '../shared/input/administration.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { parseTime, parseNumberBetween } from '../shared/options/options.ts';
import { parseDuration, usageError } from '../shared/options/values.ts';
import { alignFacts, formatTable, writeFacts, writeProduct } from '../shared/output/product.ts';

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

const parseLimit =
  (least: number, most: number) =>
  (value: string): number | 'none' =>
    value === 'none' ? value : parseNumberBetween(least, most)(value);
const parseQuota = parseLimit(0, 999_999_999_999_999);

const ENTITLEMENT = [
  ...DATA,
  option('--organization <id>', 'organization that is entitled').required(),
  option(
    '--max-session-ttl-ms <ms>',
    'longest lifetime in milliseconds, at most seven days; none removes a limit',
    parseLimit(1, MAX_SESSION_TTL_MS),
  ),
  option('--max-stored-bytes <n>', 'bytes that are stored, or announced by unfinished uploads', parseQuota),
  option('--max-operations <n>', 'operations that wait or run', parseQuota),
  option('--max-uploads <n>', 'uploads that are not finished', parseQuota),
];

const formatUse = (used: number, limit?: number): string =>
  limit === undefined ? `${used}, no limit` : `${used} of ${limit}`;

export const defineEntitlement = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Limit what an organization may use. Without a limit, show the limits and what is used.')
    .perform(ENTITLEMENT, async (options) => {
      const {
        organization: organizationId,
        maxSessionTtlMs,
        maxStoredBytes,
        maxOperations,
        maxUploads,
      } = options;
      const limits = defined({ maxSessionTtlMs, maxStoredBytes, maxOperations, maxUploads });
      const row = await withAdmin(cli, options, ({ admin }) =>
        admin.setEntitlement({ organizationId, ...limits }),
      );
      const { usage } = row;
      await writeFacts(cli, { kind: 'organization', ...row }, [
        ['organization', row.organizationId],
        ['longest lifetime of a session', `${row.maxSessionTtlMs ?? MAX_SESSION_TTL_MS} ms`],
        ['stored bytes', formatUse(usage.storedBytes, row.maxStoredBytes)],
        ['operations', formatUse(usage.operations, row.maxOperations)],
        ['uploads', formatUse(usage.uploads, row.maxUploads)],
      ]);
    })
    .examples({
      'ten operations, and 50 GB':
        'drillproof admin org entitle --organization org_0123456789ab --max-operations 10 --max-stored-bytes 50000000000',
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

const EXPIRES_AT = (standard: string) =>
  option('--expires-at <time>', `when it expires (default: ${standard})`, parseTime);

const TOKEN = [
  ...DATA,
  OF_ORGANIZATION,
  option('--project <id>', 'project that it may read').repeat(),
  option('--all-projects', 'it may read every project of the organization').conflicts('--project'),
  option('--permission <name>', `permission of the token (default: ${DEFAULT_PERMISSIONS.join(' and ')})`)
    .choices(permissions)
    .repeat(),
  option('--name <name>', 'name for people, such as what uses it'),
  EXPIRES_AT('never'),
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
  const { organization, allProjects, permission = DEFAULT_PERMISSIONS, name, expiresAt } = options;
  const projects = allProjects === true ? ('all' as const) : options.project;
  if (projects === undefined)
    throw usageError('a token needs --project or --all-projects', 'Pass one of them.');
  const input = {
    organizationId: organization,
    projects,
    permissions: permission,
    ...defined({ name, expiresAtMs: expiresAt }),
  };
  await writeToken(cli, await withAdmin(cli, options, ({ admin }) => admin.createToken(input)));
}

async function writeToken(cli: Cli, token: Shown): Promise<void> {
  // Standard output gets the token alone, so that it can be redirected to a file.
  await writeProduct(cli, { kind: 'token', ...token }, `${token.token}\n`);
  if (cli.format === 'text') await printNotes(cli, formatToken(token).trimEnd());
}

const ROTATION = [
  ...DATA,
  option('--overlap <duration>', 'how long the old token stays valid', parseDuration).default(
    86_400_000,
    '1d',
  ),
  EXPIRES_AT('after as long as the old one'),
];

export const defineTokenRotate = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Replace a token by one with the same name and rights; both are valid for a while.')
    .argument('<token-id>', 'id of the token, as "admin token list" shows it')
    .perform(ROTATION, async (options, tokenId: string) => {
      const { overlap: overlapMs, expiresAt: expiresAtMs } = options;
      const rotation = { tokenId, overlapMs, ...defined({ expiresAtMs }) };
      await writeToken(cli, await withAdmin(cli, options, ({ admin }) => admin.rotateToken(rotation)));
    })
    .examples({
      'with an hour to change it': 'drillproof admin token rotate tok_0123456789abcdefghijklmn --overlap 1h',
    });

type Shown = IssuedToken & { readonly replacedTokenId?: string; readonly replacedExpiresAtMs?: number };

const formatToken = (row: Omit<Shown, 'token'>): string =>
  alignFacts([
    ['token id', row.tokenId],
    ['name', row.name],
    ['organization', row.organizationId],
    ['projects', row.projects === 'all' ? 'all' : row.projects.join(', ')],
    ['permissions', row.permissions.join(', ')],
    ['expires', row.expiresAtMs === undefined ? 'never' : isoTime(row.expiresAtMs)],
    ['replaces', row.replacedTokenId],
    ['which expires', row.replacedExpiresAtMs === undefined ? undefined : isoTime(row.replacedExpiresAtMs)],
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
          row.name ?? '',
          formatTokenState(row, cli.now()),
          row.lastUsedAtMs === undefined ? 'never' : isoTime(row.lastUsedAtMs),
          row.projects === 'all' ? 'all' : row.projects.join(','),
          row.permissions.join(','),
        ]);
        const lines = formatTable(['TOKEN', 'NAME', 'STATE', 'LAST USED', 'PROJECTS', 'PERMISSIONS'], cells);
        const text = lines === '' ? 'The organization has no tokens.\n' : lines;
        await writeProduct(cli, { kind: 'tokens', tokens }, text, countNoun(tokens.length, 'token'));
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

const REVOCATION = [
  ...DATA,
  option('--all', 'revoke every token of the organization').needs('--organization'),
  option('--organization <id>', 'organization of --all').needs('--all'),
];

export const defineTokenRevoke = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Revoke a token, or all of an organization; the next request is refused.')
    .argument('[token-id]', 'id of the token, as "admin token list" shows it')
    .perform(REVOCATION, async (options, tokenId?: string) => {
      const { organization: organizationId } = options;
      if ((tokenId === undefined) === (organizationId === undefined))
        throw usageError('one token or --all --organization is needed', 'Pass one of them.');
      if (organizationId === undefined) {
        await withAdmin(cli, options, ({ admin }) => admin.revokeToken(tokenId!));
        await writeProduct(cli, { kind: 'token-revoked', tokenId }, `revoked ${tokenId}\n`);
      } else {
        const { revoked } = await withAdmin(cli, options, ({ admin }) =>
          admin.revokeTokens({ organizationId }),
        );
        const text = `revoked ${countNoun(revoked, 'token')} of ${organizationId}\n`;
        await writeProduct(cli, { kind: 'tokens-revoked', organizationId, revoked }, text);
      }
    })
    .examples({
      'at once': 'drillproof admin token revoke tok_0123456789abcdefghijklmn',
      'after a leak': 'drillproof admin token revoke --all --organization org_0123456789ab',
    });
