import { defined, isoTime } from '../../bytes/index.ts';
import type { Command } from 'commander';
import { type ReadNamedKey, readVerifyingKeys } from '../../node/index.ts';
import { counted } from '../../report/index.ts';
import { MAX_KEY_SET_BYTES, SIGNER_PURPOSES, type TrustedKey, type TrustStore } from '../../trust/index.ts';
import { say, type Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import { examples, standardOptions, time } from '../shared/options/options.ts';
import { writeProduct } from '../shared/output/product.ts';
import { facts } from '../shared/output/table.ts';
import { naming } from '../shared/options/trusting.ts';
import { usageError } from '../shared/options/usage.ts';
import { aliasesOf, isTrusted } from './find-key.ts';
import { keyOptions, type KeyOptions } from './key-options.ts';
import { openTrustFile, rewriteTrustFile } from './trust-file.ts';

type AddOptions = KeyOptions<number> & {
  readonly trust: string;
  readonly issuer: string;
  readonly keyId?: string;
  readonly newOnly?: boolean;
};

const MORE = `
A JWK Set is imported completely or not at all: every key must be a public
signing key on P-256. A JWK is named by its "kid". A certificate provides the
key and its validity; its chain is not checked. A name that is already trusted
is never replaced; use "keys set".`;

export function defineAdd(command: Command, cli: Cli): void {
  keyOptions(
    standardOptions(command)
      .description('Add public keys to a trust store, which is made when it does not exist.')
      .argument(
        '<keys>',
        'public key as PEM or JWK, a JWK Set, or a certificate as PEM; - for standard input',
      )
      .requiredOption('--trust <file>', 'trust store to add to')
      .requiredOption('--issuer <name>', 'name under which the keys sign, exactly as statements have it')
      .option('--key-id <id>', 'name of the key in statements (default: "kid", or sha256 of the public key)')
      .option('--new-only', 'leave out keys that are trusted under this name already'),
    time,
    SIGNER_PURPOSES.join(' and '),
  ).action((path: string, options: AddOptions) => add(cli, path, options));
  examples(command, [
    ['trust a key', 'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json'],
    [
      'for one project only, until a day',
      'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json --project prj_0123456789ab --not-after 2027-12-31',
    ],
    [
      'all keys that an issuer publishes',
      'drillproof keys add jwks.json --issuer acme-ci --trust trust.json',
    ],
    [
      'what the issuer published since',
      'drillproof keys add jwks.json --issuer acme-ci --trust trust.json --new-only',
    ],
    [
      'record a revoked key',
      'drillproof keys add old.pub.pem --issuer acme-ci --trust trust.json --revoked-at 2026-11-01',
    ],
  ]).addHelpText('after', MORE);
}

async function add(cli: Cli, path: string, options: AddOptions): Promise<void> {
  const { trust, newOnly = false } = options;
  const bytes = await readInput(path, MAX_KEY_SET_BYTES, cli);
  const read = naming(path, () => readVerifyingKeys(bytes));
  refuseMeaningless(path, read, options);
  const keys = read.map((key) => trustedKey(key, options));
  const file = await openTrustFile(cli, trust);
  const before = file.found?.store;
  const added = newOnly ? keys.filter((key) => !isTrusted(before, key)) : keys;
  const store =
    added.length === 0 && before !== undefined
      ? before
      : await rewriteTrustFile(file, [...(before?.keys ?? []), ...added]);
  await show(cli, options, store, added, keys.length - added.length);
  await sayEnded(cli, added);
  await sayRevoked(cli, before, added);
}

function refuseMeaningless(path: string, keys: readonly ReadNamedKey[], options: AddOptions): void {
  const { keyId, revokedAt, compromised, notCompromised } = options;
  if (keyId !== undefined && keys.length > 1)
    throw usageError(`--key-id names one key, and ${path} holds ${keys.length}`, 'Leave --key-id out.');
  if (revokedAt === undefined && (compromised === true || notCompromised === true))
    throw usageError('only a revoked key is compromised or not', 'Give --revoked-at TIME as well.');
}

function trustedKey(key: ReadNamedKey, options: AddOptions): TrustedKey {
  const { issuer, keyId = key.keyId, revokedAt, notCompromised = false, project, organization } = options;
  const notBeforeMs = options.notBefore ?? key.notBeforeMs;
  const notAfterMs = options.notAfter ?? key.notAfterMs;
  return {
    issuer,
    keyId,
    point: key.point,
    compromised: !(revokedAt !== undefined && notCompromised),
    purposes: options.purpose ?? SIGNER_PURPOSES,
    ...defined({
      notBeforeMs,
      notAfterMs,
      revokedAtMs: revokedAt,
      projects: project,
      organizations: organization,
    }),
    ...(key.fromCertificate === true && { fromCertificate: true }),
  };
}

async function show(
  cli: Cli,
  { trust, issuer }: AddOptions,
  store: TrustStore,
  added: readonly TrustedKey[],
  known: number,
): Promise<void> {
  const { fingerprint } = store;
  const names = added.map((key) => ({ issuer, keyId: key.keyId }));
  await writeProduct(
    cli,
    { kind: 'trust-store', fingerprint, added: names, alreadyTrusted: known, keys: store.keys.length },
    facts([
      ...added.map((key, at) => [at === 0 ? 'added' : '', `${issuer}, key ${key.keyId}`] as const),
      ...(added.length === 0 ? [['added', 'nothing: every key is trusted already'] as const] : []),
      ['valid for', added[0]?.purposes.join(', ')],
      ['trust store', `${trust}, ${counted(store.keys.length, 'key')}`],
      ['fingerprint', fingerprint],
    ]),
  );
}

async function sayEnded(cli: Cli, keys: readonly TrustedKey[]): Promise<void> {
  for (const { keyId, notAfterMs } of keys) {
    if (notAfterMs !== undefined && notAfterMs < cli.now())
      await say(
        cli,
        `key ${keyId} ceased to speak at ${isoTime(notAfterMs)}: nothing signed since will verify`,
      );
  }
}

/** A key that was revoked may come back under another name. */
async function sayRevoked(
  cli: Cli,
  before: TrustStore | undefined,
  keys: readonly TrustedKey[],
): Promise<void> {
  if (before === undefined) return;
  for (const key of keys) {
    for (const other of aliasesOf(before, key).filter(({ revokedAtMs }) => revokedAtMs !== undefined))
      await say(
        cli,
        `key ${key.keyId} is the same key as ${other.keyId} of ${other.issuer}, which is revoked`,
      );
  }
}
