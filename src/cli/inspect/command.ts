import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { trustOptions, type TrustOptions } from '../shared/options/evidence.ts';
import { examples, standardOptions } from '../shared/options/options.ts';

export function defineInspectCommand(command: Command, cli: Cli): void {
  trustOptions(standardOptions(command))
    .description(
      'Show the contents of an export or part without verifying it, or write a signature as files for openssl.',
    )
    .argument('<path>', 'folder, s3://bucket/prefix or ZIP of an export, or a part')
    .option('--bundle <id>', 'show this bundle of the export')
    .option('--export-signature', 'write the signed bytes, the signature and the key as files')
    .option('--out <dir>', 'with --export-signature: write the files to this folder (default: ID.signature)')
    .action(async (path: string, options: InspectOptions) =>
      (await import('./run.ts')).inspect(cli, path, options),
    );
  examples(command, {
    'show a mirror': 'drillproof inspect ./mirror',
    'show one bundle of it': 'drillproof inspect ./mirror --bundle evidence_0123456789ab',
    'verify the signature of the list with openssl':
      'drillproof inspect --export-signature ./mirror --trust trust.json --out ./signature',
  }).addHelpText('after', MORE);
}

export type InspectOptions = TrustOptions & {
  readonly bundle?: string;
  readonly exportSignature?: boolean;
  readonly out?: string;
};

const MORE = `
Nothing is verified. Use "drillproof verify" for a verdict.

--export-signature writes statement.json (the signed bytes), signature.der and,
with --trust or --key, key.pem. It prints the openssl command that verifies
them. For an export it takes the signature of the list; with --bundle, that of
one bundle.`;
