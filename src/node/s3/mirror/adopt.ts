import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digester } from '../../../bytes/index.ts';
import type { Expected } from '../../../mirror/index.ts';
import { ioError } from '../../fs-errors.ts';
import { readPieces } from '../../mirror/tree.ts';
import type { PartStore } from '../../mirror/part-store.ts';
import { openPartial } from './partial.ts';
import type { Place } from './place.ts';

/** Uploads a file from a store of this machine, if it is there; `false`, and nothing uploaded, when it is not. */
export async function adopt(
  place: Place,
  store: PartStore,
  path: string,
  expected: Expected,
): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-')).catch((cause: unknown) => {
    throw ioError(cause, tmpdir(), 'write');
  });
  try {
    const file = join(folder, 'file');
    return (await store.take(expected, file)) && (await upload(place, file, path, expected));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// The file may be a link to that of the store, so what was proven there is proven once more on its way.
async function upload(place: Place, file: string, path: string, expected: Expected): Promise<boolean> {
  const partial = openPartial(place, path);
  const sum = digester();
  try {
    for await (const piece of readPieces(file)) {
      sum.update(piece);
      await partial.append(piece);
    }
    if (sum.digest() !== expected.digest) return false;
    await partial.commit();
    return true;
  } finally {
    await partial.close();
  }
}
