import { InvalidArgumentError } from 'commander';
import { OBJECT_ROLES, type ObjectRole } from '../../evidence/bundle/manifest.ts';
import { type ObjectInput, packBundle, type PackedBundle } from '../../evidence/bundle/pack-bundle.ts';
import { type Cli, printNotes } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { FORCE, STANDARD } from '../shared/options/options.ts';
import { signingOptions, readSigning } from '../shared/input/signing.ts';
import { writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { abortable } from '../../bytes/async.ts';
import { defined } from '../../bytes/arguments.ts';
import { didYouMean } from '../../bytes/text/wording.ts';
import { createDigester } from '../../bytes/hash.ts';
import { buildExample } from '../shared/input/example.ts';
import { readFileBytes } from '../shared/input/input.ts';
import { usageError } from '../shared/options/values.ts';
import { writeBytes, writeOutputFile, writeOutputFolder } from '../shared/output/output-file.ts';
import { alignFacts, writeProduct, writeWritten } from '../shared/output/product.ts';
import { listFilesBelow, findMediaType, readRunFile, type RunFile } from './input.ts';

const PACK = [
  ...STANDARD,
  option(
    '--run <file>',
    'read the description of the run from this file, see below; - for standard input',
  ).required(),
  option('--out <file>', 'write the part to this file; - for standard output').required(),
  ...signingOptions('the bundle'),
  option('--unsigned', 'do not sign; the bundle is then at best intact').conflicts('--key', '--signer'),
  option('--role <path=role>', 'give a file of DIR this role', parseRole).repeat(),
  option('--compression <kind>', 'store gives the same bytes on every machine')
    .choices(['deflate', 'store'])
    .default('deflate'),
  FORCE,
  option(
    '--example [folder]',
    'write a complete run to FOLDER and FOLDER.json, or print its RUN.json (-), and end',
  ).preset('-'),
];
type PackOptions = OptionsOf<typeof PACK>;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description('Pack the evidence of one run into a part: a ZIP with manifest, attestation and objects.')
    .argument('<dir>', 'folder with the objects')
    // It needs none of what packing needs.
    .on('option:example', () => {
      for (const row of command.declared) row.option.mandatory = false;
      for (const argument of command.registeredArguments) argument.required = false;
    })
    .perform(PACK, (options, dir: string) =>
      options.example === undefined ? pack(cli, dir, options) : writeExample(cli, options.example),
    )
    .examples({
      'a signed part':
        'drillproof pack ./run-1 --run run-1.json --key key.pem --issuer acme-ci --role journal.jsonl=evidence --role state.json=state --role trace.json=trajectory --out part-1.zip',
      'signed by a command':
        'drillproof pack ./run-1 --run run-1.json --signer ./sign.sh --public-key key.pub.pem --issuer acme-ci --role journal.jsonl=evidence --role state.json=state --role trace.json=trajectory --out part-1.zip',
    })
    .addHelpText('after', RUN_HELP);
}

type RoleSpec = { readonly path: string; readonly role: ObjectRole };

const RUN_HELP = `
RUN.json describes the bundle, as docs/schemas/run-file.v1.schema.json says;
--example makes one to change. It contains the result of the run, or names the
file with it, which becomes objects/run-result.json. DIR contains the objects;
RUN.json and the result are never objects, even in DIR. The result may omit
stateHash, evidenceHash and trajectoryHash: they are computed from the objects
with those roles. For a rerun add "rerunOfHostedRunId", and "original" with the
counters of the run that it reproduces.

A signed bundle has a result and exactly one object of each of the roles
evidence, state and trajectory. Other roles are log, screenshot, video and file.`;

function parseRole(value: string): RoleSpec {
  const at = value.lastIndexOf('=');
  const name = value.slice(at + 1);
  const role = OBJECT_ROLES.find((item) => item === name);
  if (at > 0 && role !== undefined) return { path: value.slice(0, at), role };
  throw new InvalidArgumentError(`It must be PATH=ROLE, ROLE one of ${OBJECT_ROLES.join(', ')}.`);
}

async function pack(cli: Cli, dir: string, options: PackOptions): Promise<void> {
  const signing = await readSigning(cli, options);
  if (signing === undefined && options.unsigned !== true)
    throw usageError('no signer given', 'Pass --key or --signer with --issuer, or pass --unsigned.');
  const run = await readRunFile(cli, options.run);
  const { facts: described, runResult, original } = run;
  const packed = await packBundle(
    {
      ...described,
      objects: await listObjects(dir, options.role ?? [], run, cli.signal),
      ...defined({ runResult }),
    },
    signing && { ...signing, ...defined({ original }) },
  );
  await write(cli, packed, options);
}

async function listObjects(
  dir: string,
  roles: readonly RoleSpec[],
  run: RunFile,
  signal: AbortSignal,
): Promise<ObjectInput[]> {
  const files = (await listFilesBelow(dir)).filter((path) => !run.ownFiles.has(resolve(dir, path)));
  const byPath = new Map<string, ObjectRole>();
  for (const { path, role } of roles) {
    if (!files.includes(path)) {
      const hint = didYouMean(path, files) ?? 'Write paths of --role relative to DIR, with "/".';
      throw usageError(`--role names ${path}, which is not a file in ${dir}`, hint);
    }
    byPath.set(path, role);
  }
  return files.map((path) => {
    const role = byPath.get(path);
    return {
      path: `objects/${path}`,
      mediaType: findMediaType(path),
      open: () => readFileBytes(join(dir, path), signal),
      ...defined({ role }),
    };
  });
}

async function write(
  cli: Cli,
  packed: PackedBundle,
  { out, compression, force = false }: PackOptions,
): Promise<void> {
  const sum = createDigester();
  await writeBytes(cli, out, countBytes(packed.archive({ compression }), sum, cli.signal), { force });
  const { manifest, manifestDigest, attestation } = packed;
  const product = {
    kind: 'packed-bundle',
    evidenceBundleId: manifest.evidenceBundleId,
    path: out,
    digest: sum.digest(),
    bytes: sum.bytes,
    manifestDigest,
    objects: manifest.objects.length,
    signed: attestation !== undefined,
    ...(attestation && { issuer: attestation.statement.issuer, keyId: attestation.statement.keyId }),
  };
  const text = alignFacts([
    ['bundle', product.evidenceBundleId],
    ['part', out],
    ['archive', `${product.digest} (${product.bytes} bytes)`],
    ['manifest', manifestDigest],
    ['objects', String(product.objects)],
    [
      'signed by',
      attestation ? `${attestation.statement.issuer}, key ${attestation.statement.keyId}` : 'no key',
    ],
  ]);
  if (out === '-') await printNotes(cli, text.trimEnd());
  else await writeProduct(cli, product, text);
}

async function* countBytes(
  chunks: AsyncIterable<Uint8Array>,
  sum: { update(chunk: Uint8Array): void },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of abortable(chunks, signal)) {
    sum.update(chunk);
    yield chunk;
  }
}

const EXAMPLE_OBJECTS = {
  'journal.jsonl': '{"sequence":1,"interaction":"ask-for-refund"}\n',
  'state.json': '{"order-17":"refunded"}\n',
  'trace.json': '["customer asks for a refund of order 17","shop refunds it"]\n',
};

async function writeExample(cli: Cli, folder: string): Promise<void> {
  const run = [Buffer.from(`${JSON.stringify(buildExample(cli.now()), null, 2)}\n`)];
  if (folder === '-') return writeBytes(cli, folder, run, {});
  await writeOutputFolder(folder, async (made) => {
    for (const [name, text] of Object.entries(EXAMPLE_OBJECTS)) await writeFile(join(made, name), text);
  });
  const file = `${resolve(folder)}.json`;
  await writeOutputFile(cli, file, run);
  await writeWritten(cli, relative('.', file), `describes the run in ${folder}`);
}
