import type { Cli } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { STANDARD } from '../shared/options/options.ts';
import { ADD, GENERATE, REVOKE, SET } from './options.ts';

const KEY = 'sha256:fc6290a9ccf4';
const NAMED_KEY = ['<key>', 'key id, or its beginning as keys list shows it'] as const;

const ADD_MORE = `
A JWK Set is imported completely or not at all: every key must be a public
signing key on P-256. A JWK is named by its "kid". A certificate provides the
key and its validity; its chain is not checked. A name that is already trusted
is never replaced; use "keys set".`;

const SET_MORE = `
"none" removes a limit. Other members do not change.`;

const load = () => import('./run.ts');

export function defineCommand(keys: CliCommand, cli: Cli): void {
  keys.description('Make signing keys, and manage trust stores: the keys that you trust.');
  keys
    .command('generate')
    .description('Make a P-256 signing key. Keep the private key secret, and publish the public key.')
    .perform(GENERATE, async (options) => (await load()).generate(cli, options))
    .examples({ 'make a key pair': 'drillproof keys generate --out key.pem' });
  keys
    .command('add')
    .alias('import')
    .description('Add public keys to a trust store, which is created if it does not exist.')
    .argument('<keys>', 'public key as PEM or JWK, a JWK Set, or a certificate as PEM; - for standard input')
    .perform(ADD, async (options, path: string) => (await load()).add(cli, path, options))
    .examples({
      'trust a key': 'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json',
      'the key of a gate, for its summaries':
        'drillproof keys add gate.pub.pem --issuer https://ci.example/gate --purpose summary --trust gates.json',
      'for one project only, until a day':
        'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json --project prj_0123456789ab --not-after 2027-12-31',
    })
    .addHelpText('after', ADD_MORE);
  keys
    .command('list')
    .description('Show the keys of a trust store and what each is valid for.')
    .argument('<trust>', 'trust store; - for standard input')
    .perform(STANDARD, async (_options, path: string) => (await load()).list(cli, path))
    .examples({
      'show whom you trust': 'drillproof keys list trust.json',
    });
  keys
    .command('set')
    .description('Change when and for what a key of a trust store is valid.')
    .argument(...NAMED_KEY)
    .perform(SET, async (options, keyId: string) => (await load()).set(cli, keyId, options))
    .examples({
      'set the end of a key': `drillproof keys set ${KEY} --not-after 2026-12-31T23:59:59.999Z --trust trust.json`,
      'remove the end': `drillproof keys set ${KEY} --not-after none --trust trust.json`,
    })
    .addHelpText('after', SET_MORE);
  keys
    .command('revoke')
    .description('Revoke a key. It stays in the trust store, so that its signatures are reported as revoked.')
    .argument(...NAMED_KEY)
    .perform(REVOKE, async (options, keyId: string) => (await load()).revoke(cli, keyId, options))
    .examples({
      'a key that may be stolen: refuse all its signatures': `drillproof keys revoke ${KEY} --trust trust.json`,
      'a key that was destroyed: accept earlier signatures': `drillproof keys revoke ${KEY} --at 2026-11-01 --not-compromised --trust trust.json`,
    });
}
