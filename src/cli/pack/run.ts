import { join, resolve } from 'node:path';
import { defined, didYouMean, digester } from '../../bytes/index.ts';
import { type ObjectInput, type ObjectRole, packBundle, type PackedBundle } from '../../evidence/index.ts';
import { type Cli, sayLines } from '../cli.ts';
import { readSigning } from '../shared/options/signing.ts';
import { usageError } from '../shared/options/values.ts';
import { writeBytes } from '../shared/output/output-file.ts';
import { facts, writeProduct } from '../shared/output/product.ts';
import type { PackOptions, RoleOf } from './command.ts';
import { fileBytes, filesBelow, mediaTypeOf, readRunFile, type RunFile } from './input.ts';

export async function pack(cli: Cli, dir: string, options: PackOptions): Promise<void> {
  const signing = await readSigning(cli, options);
  if ((signing === undefined) !== (options.unsigned === true)) {
    throw usageError(
      signing === undefined ? 'no signer given' : '--unsigned conflicts with --key and --signer',
      'Pass --key or --signer with --issuer, or pass --unsigned.',
    );
  }
  const run = await readRunFile(cli, options.run);
  const { facts: described, runResult, original } = run;
  const packed = await packBundle(
    {
      ...described,
      objects: await objectsOf(dir, options.role ?? [], run, cli.signal),
      ...defined({ runResult }),
    },
    signing && { ...signing, ...defined({ original }) },
  );
  await write(cli, packed, options);
}

async function objectsOf(
  dir: string,
  roles: readonly RoleOf[],
  run: RunFile,
  signal: AbortSignal,
): Promise<ObjectInput[]> {
  const files = (await filesBelow(dir)).filter((path) => !run.ownFiles.has(resolve(dir, path)));
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
      mediaType: mediaTypeOf(path),
      open: () => fileBytes(join(dir, path), signal),
      ...defined({ role }),
    };
  });
}

async function write(
  cli: Cli,
  packed: PackedBundle,
  { out, compression, force = false }: PackOptions,
): Promise<void> {
  const sum = digester();
  await writeBytes(cli, out, counted(packed.archive({ compression }), sum, cli.signal), { force });
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
  const text = facts([
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
  if (out === '-') await sayLines(cli, text.trimEnd());
  else await writeProduct(cli, product, text);
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  sum: { update(chunk: Uint8Array): void },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    sum.update(chunk);
    yield chunk;
  }
}
