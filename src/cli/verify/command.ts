import type { Cli } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { VERIFY } from './options.ts';

const MORE = `
Nothing inside the evidence can add a key. The network is used only for s3://….
"drillproof --help" has the exit codes; intact ends with 1, unless --accept
intact is given.`;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description(
      'Verify exports (a folder or one ZIP) and single parts offline: their bytes, signatures and completeness.',
    )
    .argument('[path...]', 'folder, s3://bucket/prefix or ZIP of an export, or a part')
    // Loaded only when it runs, because help needs no verification.
    .perform(VERIFY, async (options, paths: readonly string[]) =>
      (await import('./run.ts')).verify(cli, paths, options),
    )
    .examples({
      'a mirror, with the keys you trust': 'drillproof verify ./mirror --trust trust.json',
      'a part, with the public key of its signer':
        'drillproof verify part.zip --key acme.pub.pem,issuer=acme-ci',
      'in CI: text in the log, JSON in a file':
        'drillproof verify ./mirror --trust trust.json --require-coverage --format json=report.json',
      'a page for people, and a signed report':
        'drillproof verify ./mirror --trust trust.json --format html=report.html --format json=report.dsse.json --sign auditor.pem --issuer auditor',
      'every export below a folder, with one summary':
        'find mirrors -mindepth 1 -maxdepth 1 -print0 | drillproof verify --list - -0 --trust trust.json',
      'only compare the bytes, without a key': 'drillproof verify ./mirror --accept intact',
    })
    .addHelpText('after', MORE);
}
