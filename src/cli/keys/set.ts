import { defined, isoTime } from '../../bytes/index.ts';
import { Option, type Command } from 'commander';
import { retireKey, type TrustedKey, type TrustStore } from '../../trust/index.ts';
import { say, type Cli } from '../cli.ts';
import { examples, standardOptions, time } from '../shared/options/options.ts';
import { writeProduct } from '../shared/output/product.ts';
import { facts } from '../shared/output/table.ts';
import { usageError } from '../shared/options/usage.ts';
import { aliasesOf, findKey } from './find-key.ts';
import { keyOptions, momentOrNone, type KeyOptions, type Moment } from './key-options.ts';
import { openTrustFile, rewriteTrustFile, storeOf, type TrustFile } from './trust-file.ts';

type Which = { readonly trust: string; readonly issuer?: string };
type SetOptions = Which & KeyOptions & { readonly anyProject?: boolean; readonly anyOrganization?: boolean };
type RevokeOptions = Which & { readonly at?: number; readonly notCompromised?: boolean };

export function defineSet(command: Command, cli: Cli): void {
  const MORE =
    '\nA time is a date (its midnight in UTC), an ISO 8601 time with its zone, or\nmilliseconds since 1970; "none" takes the limit away. What is not named stays\nas it is.';
  keyOptions(whichKey(command), momentOrNone)
    .description('Change when and for what a key of a trust store is valid.')
    .addOption(new Option('--any-project', 'valid for every project').conflicts('project'))
    .addOption(new Option('--any-organization', 'valid for every organization').conflicts('organization'))
    .action((keyId: string, options: SetOptions) => set(cli, keyId, options));
  examples(command, [
    [
      'set the end of a key',
      'drillproof keys set sha256:fc6290a9ccf4 --not-after 2026-12-31T23:59:59.999Z --trust trust.json',
    ],
    [
      'limit it to one project',
      'drillproof keys set sha256:fc6290a9ccf4 --project prj_0123456789ab --trust trust.json',
    ],
    ['remove the end', 'drillproof keys set sha256:fc6290a9ccf4 --not-after none --trust trust.json'],
  ]).addHelpText('after', MORE);
}

export function defineRevoke(command: Command, cli: Cli): void {
  whichKey(command)
    .description('Revoke a key. It stays in the trust store, so that its signatures are reported as revoked.')
    .option('--at <time>', 'moment of the revocation (default: now)', time)
    .option('--not-compromised', 'accept signatures made before that moment')
    .action((keyId: string, options: RevokeOptions) => revoke(cli, keyId, options));
  examples(command, [
    [
      'a key that may be stolen: refuse all its signatures',
      'drillproof keys revoke sha256:fc6290a9ccf4 --trust trust.json',
    ],
    [
      'a key that was destroyed: accept earlier signatures',
      'drillproof keys revoke sha256:fc6290a9ccf4 --at 2026-11-01 --not-compromised --trust trust.json',
    ],
  ]);
}

const whichKey = (command: Command): Command =>
  standardOptions(command)
    .argument('<key>', 'key id, or its beginning as keys list shows it')
    .requiredOption('--trust <file>', 'trust store to change')
    .option('--issuer <name>', 'issuer of the key, if several have a key of that name');

async function set(cli: Cli, keyId: string, options: SetOptions): Promise<void> {
  const file = await openTrustFile(cli, options.trust);
  const store = storeOf(file);
  const key = findKey(store, keyId, options.issuer);
  await replace(cli, file, store, key, changed(key, options));
}

function changed(key: TrustedKey, options: SetOptions): TrustedKey {
  const { notBefore, notAfter, revokedAt, compromised, notCompromised, purpose, project, organization } =
    options;
  const { anyProject, anyOrganization } = options;
  const given = [notBefore, notAfter, revokedAt, compromised, notCompromised, purpose, project, organization];
  if ([...given, anyProject, anyOrganization].every((one) => one === undefined))
    throw usageError('nothing is to be changed', 'Name what to change, such as --not-after TIME.');
  const revokedAtMs = moment(revokedAt, key.revokedAtMs);
  if (revokedAtMs === undefined && (compromised ?? notCompromised) !== undefined)
    throw usageError('the key is not revoked', 'Give --revoked-at TIME as well, or use keys revoke.');
  const notBeforeMs = moment(notBefore, key.notBeforeMs);
  const notAfterMs = moment(notAfter, key.notAfterMs);
  const projects = anyProject === true ? undefined : (project ?? key.projects);
  const organizations = anyOrganization === true ? undefined : (organization ?? key.organizations);
  return {
    issuer: key.issuer,
    keyId: key.keyId,
    point: key.point,
    purposes: purpose ?? key.purposes,
    // Who revokes a key anew does not inherit that an earlier revocation let something stand.
    compromised:
      compromised ?? (notCompromised === true ? false : key.revokedAtMs === undefined || key.compromised),
    ...defined({ notBeforeMs, notAfterMs, revokedAtMs, projects, organizations }),
    ...(key.fromCertificate === true && { fromCertificate: true }),
  };
}

const moment = (given: Moment | undefined, before: number | undefined): number | undefined =>
  given === 'none' ? undefined : (given ?? before);

async function revoke(cli: Cli, keyId: string, options: RevokeOptions): Promise<void> {
  const file = await openTrustFile(cli, options.trust);
  const store = storeOf(file);
  const key = findKey(store, keyId, options.issuer);
  if (key.revokedAtMs !== undefined) {
    const since = `${isoTime(key.revokedAtMs)}${key.compromised ? ', as compromised' : ''}`;
    throw usageError(
      `the key is revoked already, since ${since}`,
      'Change that with keys set --revoked-at TIME.',
    );
  }
  const { at: atMs = cli.now(), notCompromised = false } = options;
  const how = notCompromised ? 'revoked' : 'compromised';
  const after = retireKey(store, { issuer: key.issuer, keyId: key.keyId, how, atMs });
  await replace(cli, file, store, key, after.find(key.issuer, key.keyId) ?? key);
}

async function replace(
  cli: Cli,
  file: TrustFile,
  before: TrustStore,
  key: TrustedKey,
  next: TrustedKey,
): Promise<void> {
  const changes = differences(key, next);
  const keys = before.keys.map((one) => (one === key ? next : one));
  const store = changes.length === 0 ? before : await rewriteTrustFile(file, keys);
  const { issuer, keyId } = key;
  await writeProduct(
    cli,
    {
      kind: 'trust-store',
      fingerprint: store.fingerprint,
      changed: { issuer, keyId },
      changes: changes.map(([name, was, is]) => ({ name, before: was, after: is })),
      keys: store.keys.length,
    },
    facts([
      ['key', `${issuer}, key ${keyId}`],
      ...changes.map(([name, was, is]) => [name, `${was} -> ${is}`] as const),
      ...(changes.length === 0 ? [['changed', 'nothing: it is so already'] as const] : []),
      ['trust store', file.path],
      ['fingerprint', store.fingerprint],
    ]),
  );
  if (next.revokedAtMs === undefined) return;
  for (const other of aliasesOf(before, key).filter(({ revokedAtMs }) => revokedAtMs === undefined))
    await say(cli, `the same key is trusted as ${other.keyId} of ${other.issuer} too, which still speaks`);
}

type Change = readonly [name: string, before: string, after: string];

function differences(before: TrustedKey, after: TrustedKey): readonly Change[] {
  const old = described(before);
  return Object.entries(described(after))
    .map(([name, value]): Change => [name, old[name] ?? 'none', value])
    .filter(([, was, is]) => was !== is);
}

/** What can be changed of a key, in words. */
const described = (key: TrustedKey): Readonly<Record<string, string>> => ({
  'not before': atOrNone(key.notBeforeMs),
  'not after': atOrNone(key.notAfterMs),
  'revoked at': atOrNone(key.revokedAtMs),
  compromised: key.revokedAtMs === undefined ? 'no' : key.compromised ? 'yes' : 'no',
  'valid for': key.purposes.toSorted().join(', '),
  projects: key.projects?.toSorted().join(', ') ?? 'any',
  organizations: key.organizations?.toSorted().join(', ') ?? 'any',
});

const atOrNone = (ms: number | undefined): string => (ms === undefined ? 'none' : isoTime(ms));
