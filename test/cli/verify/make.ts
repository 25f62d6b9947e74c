import { cp, readFile, writeFile } from 'node:fs/promises';
import { expectPass, SIGNER } from '../make.ts';

/** Makes two exports with one id and different parts: `twin-1` and `twin-2`. */
export async function writeTwins(): Promise<void> {
  for (const n of [1, 2])
    await expectPass(`export part-${n}.zip ${SIGNER} --id evexp_000000000077 --out twin-${n}`);
}

/** Copies the folder `export` to `damaged`, and changes one bit of a part. */
export async function writeDamaged(): Promise<void> {
  await cp('export', 'damaged', { recursive: true });
  const path = 'damaged/parts/evidence_000000000001.zip';
  const bytes = await readFile(path);
  bytes[100]! ^= 1;
  await writeFile(path, bytes);
}
