import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { defineAdd } from './add.ts';
import { defineGenerate } from './generate.ts';
import { defineList } from './list.ts';
import { definePlan } from './plan.ts';
import { defineRevoke, defineSet } from './set.ts';
import { examples } from '../shared/options/options.ts';

export function define(command: Command, cli: Cli): void {
  command.description('Make signing keys, and manage trust stores: the keys that you trust.');
  defineGenerate(command.command('generate').summary('make a signing key'), cli);
  defineAdd(command.command('add').alias('import').summary('add public keys to a trust store'), cli);
  defineList(command.command('list').summary('show the keys of a trust store'), cli);
  defineSet(command.command('set').summary('change when and for what a key is trusted'), cli);
  defineRevoke(command.command('revoke').summary('revoke a key'), cli);
  definePlan(command.command('plan').summary('list what would stop verifying without a key'), cli);
  examples(command, [
    ['make a key pair', 'drillproof keys generate --out key.pem'],
    ['trust its public half', 'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json'],
    ['show whom you trust', 'drillproof keys list trust.json'],
    [
      'rehearse what its loss would cost',
      'drillproof keys plan --retire sha256:fc6290a9ccf4 --compromised --trust trust.json ./mirror',
    ],
    ['and trust it no longer', 'drillproof keys revoke sha256:fc6290a9ccf4 --trust trust.json'],
  ]);
}
