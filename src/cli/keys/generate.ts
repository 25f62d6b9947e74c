import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { generateSigningKey, writeSigningKeyPem } from '../../node/index.ts';
import { publicKeyPem } from '../../trust/index.ts';
import type { Cli } from '../cli.ts';
import { examples, standardOptions } from '../shared/options/options.ts';
import { refuseExisting, writeOutputFile } from '../shared/output/output-file.ts';
import { writeProduct } from '../shared/output/product.ts';
import { facts } from '../shared/output/table.ts';

type GenerateOptions = { readonly out: string; readonly public?: string; readonly force?: boolean };

export function defineGenerate(command: Command, cli: Cli): void {
  standardOptions(command)
    .description(
      'Make a P-256 signing key. The private key is for its owner alone; give away the public one.',
    )
    .requiredOption('--out <file>', 'private key to write, as PKCS#8 in PEM, readable by you alone')
    .option('--public <file>', 'public key to write (default: the same name with .pub.pem)')
    .option('--force', 'replace existing files')
    .action((options: GenerateOptions) => generate(cli, options));
  examples(command, [['make a key pair', 'drillproof keys generate --out key.pem']]);
}

async function generate(cli: Cli, options: GenerateOptions): Promise<void> {
  const { out, force = false, public: publicPath = `${out.replace(/\.pem$/, '')}.pub.pem` } = options;
  const { scalar, signer } = generateSigningKey();
  const pem = publicKeyPem(signer.point);
  if (!force) await refuseExisting(publicPath);
  await writeOutputFile(out, [Buffer.from(writeSigningKeyPem(scalar))], { force, mode: 0o600 });
  try {
    await writeOutputFile(publicPath, [Buffer.from(pem)], { force });
  } catch (cause) {
    if (!force) await rm(out); // half a key pair is of no use
    throw cause;
  }
  await writeProduct(
    cli,
    { kind: 'key', keyId: signer.keyId, privateKeyPath: out, publicKeyPath: publicPath },
    facts([
      ['key id', signer.keyId],
      ['private key', `${out} (keep it secret; it signs in your name)`],
      ['public key', `${publicPath} (give it to those who verify)`],
    ]),
  );
}
