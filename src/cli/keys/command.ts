import { type Command, Option } from 'commander';
import { type Purpose, PURPOSES } from '../../trust/trusted-key.ts';
import { SIGNER_PURPOSES } from '../../trust/store.ts';
import type { Cli } from '../cli.ts';
import {
  addExamples,
  addStandardOptions,
  collect,
  collectTexts,
  parseTime,
} from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';

const KEY = 'sha256:fc6290a9ccf4';

export function defineKeysCommand(command: Command, cli: Cli): void {
  command.description('Make signing keys, and manage trust stores: the keys that you trust.');
  defineGenerate(command.command('generate').summary('make a signing key'), cli);
  defineAdd(command.command('add').alias('import').summary('add public keys to a trust store'), cli);
  defineList(command.command('list').summary('show the keys of a trust store'), cli);
  defineSet(command.command('set').summary('change when and for what a key is trusted'), cli);
  defineRevoke(command.command('revoke').summary('revoke a key'), cli);
  addExamples(command, {
    'make a key pair': 'drillproof keys generate --out key.pem',
    'trust its public half': 'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json',
    'show whom you trust': 'drillproof keys list trust.json',
    'revoke it': `drillproof keys revoke ${KEY} --trust trust.json`,
  });
}

export type GenerateOptions = { readonly out: string; readonly public?: string; readonly force?: boolean };

function defineGenerate(command: Command, cli: Cli): void {
  addStandardOptions(command)
    .description('Make a P-256 signing key. Keep the private key secret, and publish the public key.')
    .requiredOption('--out <file>', 'private key to write, as PKCS#8 in PEM, readable by you alone')
    .option('--public <file>', 'public key to write (default: the same name with .pub.pem)')
    .option('--force', 'replace existing files')
    .action(async (options: GenerateOptions) => (await import('./run.ts')).generate(cli, options));
  addExamples(command, { 'make a key pair': 'drillproof keys generate --out key.pem' });
}

/** A time, or `none` to remove a limit. */
export type Moment = number | 'none';

type KeyOptions<M = Moment> = {
  readonly notBefore?: M;
  readonly notAfter?: M;
  readonly revokedAt?: M;
  readonly compromised?: boolean;
  readonly notCompromised?: boolean;
  readonly project?: readonly string[];
  readonly organization?: readonly string[];
  readonly purpose?: readonly Purpose[];
};

const parseMoment = (value: string): Moment => (value === 'none' ? 'none' : parseTime(value));

/** The options that limit a key; `defaultPurposes` is the help text for a key without --purpose. */
function addLimitOptions(
  command: Command,
  read: (value: string) => Moment,
  defaultPurposes?: string,
): Command {
  const purpose = new Option('--purpose <purpose>', 'valid for these statements (repeatable)')
    .choices(PURPOSES)
    .argParser(collect(parsePurpose));
  return command
    .option('--not-before <time>', 'first moment at which the key is valid', read)
    .option('--not-after <time>', 'last moment at which the key is valid', read)
    .option('--revoked-at <time>', 'the key is revoked from this moment on', read)
    .addOption(
      new Option('--compromised', 'refuse every signature of a revoked key (default)').conflicts(
        'notCompromised',
      ),
    )
    .option('--not-compromised', 'accept signatures made before the revocation')
    .option('--project <id>', 'valid only for this project (repeatable)', collectTexts)
    .option('--organization <id>', 'valid only for this organization (repeatable)', collectTexts)
    .addOption(defaultPurposes === undefined ? purpose : purpose.default(undefined, defaultPurposes));
}

function parsePurpose(value: string): Purpose {
  const purpose = PURPOSES.find((name) => name === value);
  if (purpose === undefined) throw usageError(`--purpose is one of ${PURPOSES.join(', ')}`);
  return purpose;
}

export type AddOptions = KeyOptions<number> & {
  readonly trust: string;
  readonly issuer: string;
  readonly keyId?: string;
  readonly newOnly?: boolean;
};

const ADD_MORE = `
A JWK Set is imported completely or not at all: every key must be a public
signing key on P-256. A JWK is named by its "kid". A certificate provides the
key and its validity; its chain is not checked. A name that is already trusted
is never replaced; use "keys set".`;

function defineAdd(command: Command, cli: Cli): void {
  addLimitOptions(
    addStandardOptions(command)
      .description('Add public keys to a trust store, which is created if it does not exist.')
      .argument(
        '<keys>',
        'public key as PEM or JWK, a JWK Set, or a certificate as PEM; - for standard input',
      )
      .requiredOption('--trust <file>', 'trust store to add to')
      .requiredOption('--issuer <name>', 'name under which the keys sign, exactly as statements have it')
      .option('--key-id <id>', 'name of the key in statements (default: "kid", or sha256 of the public key)')
      .option('--new-only', 'skip keys that are already trusted under this name'),
    parseTime,
    SIGNER_PURPOSES.join(' and '),
  ).action(async (path: string, options: AddOptions) => (await import('./run.ts')).add(cli, path, options));
  addExamples(command, {
    'trust a key': 'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json',
    'the key of a gate, for its summaries':
      'drillproof keys add gate.pub.pem --issuer https://ci.example/gate --purpose summary --trust gates.json',
    'for one project only, until a day':
      'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json --project prj_0123456789ab --not-after 2027-12-31',
    'all keys that an issuer publishes': 'drillproof keys add jwks.json --issuer acme-ci --trust trust.json',
    'keys that the issuer published later':
      'drillproof keys add jwks.json --issuer acme-ci --trust trust.json --new-only',
    'record a revoked key':
      'drillproof keys add old.pub.pem --issuer acme-ci --trust trust.json --revoked-at 2026-11-01',
  }).addHelpText('after', ADD_MORE);
}

function defineList(command: Command, cli: Cli): void {
  addStandardOptions(command)
    .description('Show the keys of a trust store and what each is valid for.')
    .argument('<trust>', 'trust store; - for standard input')
    .action(async (path: string) => (await import('./run.ts')).list(cli, path));
  addExamples(command, {
    'show whom you trust': 'drillproof keys list trust.json',
    'for programs': 'drillproof keys list trust.json --json',
  });
}

type Which = { readonly trust: string; readonly issuer?: string };
export type SetOptions = Which &
  KeyOptions & { readonly anyProject?: boolean; readonly anyOrganization?: boolean };
export type RevokeOptions = Which & { readonly at?: number; readonly notCompromised?: boolean };

const SET_MORE = `
A time is a date (its midnight in UTC), an ISO 8601 time with its zone, or
milliseconds since 1970; "none" removes the limit. Other members do not change.`;

function defineSet(command: Command, cli: Cli): void {
  addLimitOptions(addKeyOptions(command), parseMoment)
    .description('Change when and for what a key of a trust store is valid.')
    .addOption(new Option('--any-project', 'valid for every project').conflicts('project'))
    .addOption(new Option('--any-organization', 'valid for every organization').conflicts('organization'))
    .action(async (keyId: string, options: SetOptions) =>
      (await import('./run.ts')).set(cli, keyId, options),
    );
  addExamples(command, {
    'set the end of a key': `drillproof keys set ${KEY} --not-after 2026-12-31T23:59:59.999Z --trust trust.json`,
    'limit it to one project': `drillproof keys set ${KEY} --project prj_0123456789ab --trust trust.json`,
    'remove the end': `drillproof keys set ${KEY} --not-after none --trust trust.json`,
  }).addHelpText('after', SET_MORE);
}

function defineRevoke(command: Command, cli: Cli): void {
  addKeyOptions(command)
    .description('Revoke a key. It stays in the trust store, so that its signatures are reported as revoked.')
    .option('--at <time>', 'moment of the revocation (default: now)', parseTime)
    .option('--not-compromised', 'accept signatures made before that moment')
    .action(async (keyId: string, options: RevokeOptions) =>
      (await import('./run.ts')).revoke(cli, keyId, options),
    );
  addExamples(command, {
    'a key that may be stolen: refuse all its signatures': `drillproof keys revoke ${KEY} --trust trust.json`,
    'a key that was destroyed: accept earlier signatures': `drillproof keys revoke ${KEY} --at 2026-11-01 --not-compromised --trust trust.json`,
  });
}

const addKeyOptions = (command: Command): Command =>
  addStandardOptions(command)
    .argument('<key>', 'key id, or its beginning as keys list shows it')
    .requiredOption('--trust <file>', 'trust store to change')
    .option('--issuer <name>', 'issuer of the key, if several have a key of that name');
