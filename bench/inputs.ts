/** Inputs from fixed seeds, made once and kept in a folder outside the repository. */
import { createCipheriv, createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from '../src/bytes/async.ts';
import { packBundle } from '../src/evidence/bundle/pack-bundle.ts';
import { packExport } from '../src/evidence/export/pack-export.ts';
import { partPath } from '../src/evidence/export/manifest.ts';
import { readPartFacts, type PartFacts } from '../src/evidence/bundle/part.ts';
import { memoryAccess } from '../src/bytes/random-access.ts';
import { formatChecksums } from '../src/evidence/export/checksums.ts';
import { createSigner } from '../src/trust/key/signer.ts';
import { formatEcJwk } from '../src/trust/key/jwk.ts';
import { trustStoreJwks } from '../src/trust/store.ts';
import {
  collect,
  makeBundleInput,
  makeExportInput,
  makeSigning,
  makeTrust,
} from '../test/support/evidence.ts';

/** The parts of an export for a race, and the size of the log in each. */
export type Shape = {
  readonly parts: number;
  readonly logBytes: number;
  readonly compression: 'store' | 'deflate';
};

/** Parts of 3.7 kB. */
export const small = (parts: number): Shape => ({ parts, logBytes: 1500, compression: 'deflate' });

/** Change the name when inputs change. */
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? tmpdir(), 'drillproof-bench-2');

const scalar = createHash('sha256').update('drillproof bench').digest();
export const signer = createSigner(scalar);
export const privateJwk = { ...formatEcJwk(signer.point), d: scalar.toString('base64url') };

/** Hexadecimal lines that deflate to half their size; the same seed gives the same ones. */
function hexLines(seed: number, length: number): Uint8Array {
  const key = createHash('sha256').update(`log ${seed}`).digest().subarray(0, 16);
  const stream = createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length / 2));
  return Buffer.from(stream.toString('hex'), 'latin1');
}

async function writePart(folder: string, n: number, { logBytes, compression }: Shape): Promise<PartFacts> {
  const input = makeBundleInput(n);
  const log = () => once(hexLines(n, logBytes));
  const objects = input.objects.map((object) =>
    object.role === 'evidence' ? { ...object, open: log } : object,
  );
  const packed = await packBundle({ ...input, objects }, makeSigning(signer));
  const bytes = await collect(packed.archive({ compression }));
  writeFileSync(join(folder, partPath(input.evidenceBundleId)), bytes);
  return readPartFacts(memoryAccess(bytes));
}

async function writeExport(root: string, shape: Shape): Promise<void> {
  const folder = join(root, 'export');
  mkdirSync(join(folder, 'parts'), { recursive: true });
  const parts: PartFacts[] = [];
  for (let n = 1; n <= shape.parts; n++) parts.push(await writePart(folder, n, shape));
  const { documents, manifest } = await packExport(makeExportInput(parts), makeSigning(signer));
  for (const { path, bytes } of documents) writeFileSync(join(folder, path), bytes);
  writeFileSync(join(root, 'SHA256SUMS'), formatChecksums(manifest.parts));
  writeFileSync(join(root, 'trust.json'), JSON.stringify(trustStoreJwks(makeTrust(signer))));
}

/** The folder of an input, which is made on first use and named when it is complete. */
export async function cached(name: string, make: (folder: string) => Promise<void> | void): Promise<string> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  await make(unfinished);
  renameSync(unfinished, folder);
  return folder;
}

/** A folder with a signed `export`, its `SHA256SUMS` and the `trust.json` for it. */
export const exportOf = (shape: Shape): Promise<string> =>
  cached(`export-${shape.parts}-${shape.logBytes}-${shape.compression}`, (folder) =>
    writeExport(folder, shape),
  );
