import { Option, type Command } from 'commander';
import type { Cli } from '../cli.ts';
import { judgingOptions } from '../shared/options/judging.ts';
import { examples, many, standardOptions } from '../shared/options/options.ts';
import { shard } from '../shared/options/shard.ts';
import { target } from './output.ts';
import type { VerifyCommandOptions } from './run.ts';

const MORE = `
Every file is read and hashed, every signature checked against the keys that you
name; nothing inside the evidence can add a key. The network is used for what is
named s3://… only.

Exit codes: 0 verified (or intact with --accept intact), 1 the evidence is bad
or only intact, 2 wrong call or configuration, 3 could not be checked or there
was nothing to check, 130 interrupted.`;

export function define(command: Command, cli: Cli): void {
  judgingOptions(standardOptions(command, { formats: false }))
    .description(
      'Judge exports (a folder or one ZIP) and single parts, offline: are the bytes what was signed, by whom, and is it complete?',
    )
    .argument('[path...]', 'folder or s3://bucket/prefix of an export, a ZIP of it, or a part archive')
    .option('--shard <i/n>', 'judge only this share of the paths, such as 0/8: i counts from 0 to n-1', shard)
    .addOption(new Option('--accept <verdict>', 'pass with this verdict too').choices(['intact']))
    .addOption(
      new Option('--depth <depth>', 'full reads every object; digest compares archives only')
        .choices(['full', 'digest'])
        .default('full'),
    )
    .option('--require-coverage', 'fail when there is a file or byte that nothing covers')
    .option(
      '--format <kind[=file]>',
      'text or json, to standard output or a file (may be given again)',
      many(target),
    )
    .option('--force', 'replace report files that exist')
    .action(async (paths: string[], options: VerifyCommandOptions) => {
      // Loaded only now: help needs nothing of what verifies.
      const { verify } = await import('./run.ts');
      await verify(cli, paths, options);
    });
  examples(command, [
    ['a mirror, with the keys you trust', 'drillproof verify ./mirror --trust trust.json'],
    [
      'a part that somebody sent, with their public key',
      'drillproof verify part.zip --key acme.pub.pem,issuer=acme-ci',
    ],
    [
      'exactly the export that you were told of',
      'drillproof verify ./mirror --trust trust.json --expect-manifest sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
    ],
    [
      'in CI: text in the log, JSON in a file',
      'drillproof verify ./mirror --trust trust.json --require-coverage --format json=report.json',
    ],
    [
      'every export below a folder, with one summary',
      'find mirrors -mindepth 1 -maxdepth 1 -print0 | drillproof verify --list - -0 --trust trust.json',
    ],
    [
      'a part by an envelope that came with it',
      'drillproof verify part.zip --dsse part.dsse.json --trust trust.json',
    ],
    [
      'bundles of an export by envelopes about each of them',
      'drillproof verify ./mirror --dsse 1.dsse.json --dsse 2.dsse.json --trust trust.json',
    ],
    ['only whether the bytes match, without a key', 'drillproof verify ./mirror --accept intact'],
  ]).addHelpText('after', MORE);
}
