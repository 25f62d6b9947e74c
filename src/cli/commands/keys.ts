import { rm } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { generateSigningKey, readVerifyingKey, writeSigningKeyPem } from '../../node/keys.ts';
import { DrillproofError } from '../../errors.ts';
import { isoTime, shortId } from '../../report/figures.ts';
import {
  publicKeyPem,
  PURPOSES,
  trustStore,
  trustStoreJwks,
  type Purpose,
  type TrustedKey,
  type TrustStore,
} from '../../trust/index.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../input.ts';
import { examples, many, standardOptions, text, time } from '../options.ts';
import { refuseExisting, writeOutputFile } from '../output-file.ts';
import { writeProduct } from '../product.ts';
import { facts, table } from '../table.ts';
import { naming, readTrustFile, SIGNER_PURPOSES } from '../trusting.ts';

const MAX_KEY_BYTES = 256 * 1024;

type GenerateOptions = { readonly out: string; readonly public?: string; readonly force?: boolean };
type AddOptions = {
  readonly trust: string;
  readonly issuer: string;
  readonly keyId?: string;
  readonly notBefore?: number;
  readonly notAfter?: number;
  readonly revokedAt?: number;
  readonly notCompromised?: boolean;
  readonly project?: readonly string[];
  readonly organization?: readonly string[];
  readonly purpose?: readonly Purpose[];
};

export function define(command: Command, cli: Cli): void {
  command.description('Make signing keys and keep a trust store: the keys whose signatures count for you.');
  defineGenerate(command.command('generate').summary('make a signing key'), cli);
  defineAdd(command.command('add').summary('add a public key to a trust store'), cli);
  defineList(command.command('list').summary('show the keys of a trust store'), cli);
  examples(command, [
    ['make a key pair', 'drillproof keys generate --out key.pem'],
    ['trust its public half', 'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json'],
    ['see whom you trust', 'drillproof keys list trust.json'],
  ]);
}

function defineGenerate(command: Command, cli: Cli): void {
  standardOptions(command)
    .description(
      'Make a P-256 signing key. The private key is for its owner alone; give away the public one.',
    )
    .requiredOption('--out <file>', 'private key to write, as PKCS#8 in PEM, readable by you alone')
    .option('--public <file>', 'public key to write (default: the same name with .pub.pem)')
    .option('--force', 'replace files that exist')
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

function defineAdd(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Add a public key or certificate to a trust store, which is made when it does not exist.')
    .argument('<key>', 'public key as PEM or JWK, or a certificate as PEM; - for standard input')
    .requiredOption('--trust <file>', 'trust store to add to')
    .requiredOption('--issuer <name>', 'name under which the key signs, exactly as statements have it')
    .option('--key-id <id>', 'name of the key in statements (default: sha256 of the public key)')
    .option('--not-before <time>', 'first moment for which the key speaks', time)
    .option('--not-after <time>', 'last moment for which the key speaks', time)
    .option('--revoked-at <time>', 'the key is revoked from this moment on', time)
    .option('--not-compromised', 'what a revoked key signed before it was revoked stands')
    .option('--project <id>', 'speaks only for this project (may be given again)', many(text))
    .option('--organization <id>', 'speaks only for this organization (may be given again)', many(text))
    .addOption(
      new Option('--purpose <purpose>', 'what it speaks for (may be given again)')
        .choices(PURPOSES)
        .argParser(purposes)
        .default(undefined, SIGNER_PURPOSES.join(' and ')),
    )
    .action((key: string, options: AddOptions) => add(cli, key, options));
  examples(command, [
    ['trust a key', 'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json'],
    [
      'for one project only, until a day',
      'drillproof keys add key.pub.pem --issuer acme-ci --trust trust.json --project prj_0123456789ab --not-after 2027-12-31',
    ],
    [
      'record a revoked key',
      'drillproof keys add old.pub.pem --issuer acme-ci --trust trust.json --revoked-at 2026-11-01',
    ],
  ]);
}

function purposes(value: string, before: readonly Purpose[] | undefined): readonly Purpose[] {
  const purpose = PURPOSES.find((one) => one === value);
  if (purpose === undefined)
    throw new DrillproofError('usage.INVALID', `--purpose is one of ${PURPOSES.join(', ')}`);
  return [...(before ?? []), purpose];
}

async function add(cli: Cli, path: string, options: AddOptions): Promise<void> {
  const bytes = await readInput(path, MAX_KEY_BYTES, cli);
  const key = trustedKey(
    naming(path, () => readVerifyingKey(bytes)),
    options,
  );
  const before = await storeBefore(cli, options.trust);
  const store = trustStore([...before, key]);
  const json = `${JSON.stringify(trustStoreJwks(store), null, 2)}\n`;
  await writeOutputFile(options.trust, [Buffer.from(json)], { force: true });
  await writeProduct(
    cli,
    {
      kind: 'trust-store',
      fingerprint: store.fingerprint,
      added: { issuer: key.issuer, keyId: key.keyId },
      keys: store.keys.length,
    },
    facts([
      ['added', `${key.issuer}, key ${key.keyId}`],
      ['speaks for', key.purposes.join(', ')],
      ['trust store', `${options.trust}, ${store.keys.length === 1 ? '1 key' : `${store.keys.length} keys`}`],
      ['fingerprint', store.fingerprint],
    ]),
  );
}

type ReadKey = ReturnType<typeof readVerifyingKey>;

function trustedKey(key: ReadKey, options: AddOptions): TrustedKey {
  const { issuer, keyId = key.keyId, revokedAt, notCompromised = false, project, organization } = options;
  const notBeforeMs = options.notBefore ?? key.notBeforeMs;
  const notAfterMs = options.notAfter ?? key.notAfterMs;
  return {
    issuer,
    keyId,
    point: key.point,
    compromised: !(revokedAt !== undefined && notCompromised),
    purposes: options.purpose ?? SIGNER_PURPOSES,
    ...(notBeforeMs !== undefined && { notBeforeMs }),
    ...(notAfterMs !== undefined && { notAfterMs }),
    ...(revokedAt !== undefined && { revokedAtMs: revokedAt }),
    ...(project !== undefined && { projects: project }),
    ...(organization !== undefined && { organizations: organization }),
    ...(key.fromCertificate === true && { fromCertificate: true }),
  };
}

async function storeBefore(cli: Cli, path: string): Promise<readonly TrustedKey[]> {
  try {
    return (await readTrustFile(cli, path)).keys;
  } catch (error) {
    if (error instanceof DrillproofError && error.code === 'io.NOT_FOUND') return [];
    throw error;
  }
}

function defineList(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Show the keys of a trust store and what each speaks for.')
    .argument('<trust>', 'trust store; - for standard input')
    .action(async (path: string) => {
      const store = await readTrustFile(cli, path);
      await writeProduct(
        cli,
        { kind: 'trust-store', fingerprint: store.fingerprint, ...trustStoreJwks(store) },
        listText(store),
      );
    });
  examples(command, [['see whom you trust', 'drillproof keys list trust.json']]);
}

function listText(store: TrustStore): string {
  const rows = store.keys.map((key) => [
    key.issuer,
    shortId(key.keyId),
    key.purposes.join(','),
    validity(key),
    scope(key),
  ]);
  return `${table(['ISSUER', 'KEY', 'SPEAKS FOR', 'VALID', 'ONLY FOR'], rows)}\nfingerprint ${store.fingerprint}\n`;
}

function validity({ notBeforeMs, notAfterMs, revokedAtMs, compromised }: TrustedKey): string {
  if (revokedAtMs !== undefined) return `revoked ${day(revokedAtMs)}${compromised ? '' : ', earlier stands'}`;
  if (notBeforeMs === undefined && notAfterMs === undefined) return 'always';
  return `${notBeforeMs === undefined ? '' : `from ${day(notBeforeMs)} `}${notAfterMs === undefined ? '' : `to ${day(notAfterMs)}`}`.trim();
}

const day = (atMs: number): string => isoTime(atMs).replace('T00:00:00.000Z', '');
const scope = ({ projects = [], organizations = [] }: TrustedKey): string =>
  [...organizations, ...projects].join(',');
