import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { digester } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { PackedExport } from '../../evidence/index.ts';
import { writeNewFile, zipExport } from '../../node/index.ts';
import { writeOutputFile, writeOutputFolder } from '../shared/output/output-file.ts';
import { fileBytes } from '../pack/walk.ts';

/** A file of an export to be written: its place in the tree, and its bytes, which are read once. */
export type ExportFile = {
  readonly path: string;
  readonly bytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;
};

/** Documents first, then parts and local reports, in the order in which the manifest lists them. */
export function exportFiles(
  packed: PackedExport,
  filesByDigest: ReadonlyMap<string, string>,
  signal: AbortSignal,
): readonly ExportFile[] {
  const { documents, manifest } = packed;
  const archives = [...manifest.parts, ...manifest.localReports].map(({ path, digest, bytes }) => {
    const file = filesByDigest.get(digest);
    if (file === undefined) throw new DrillproofError('internal.BUG', `no file for ${path}`);
    return { path, bytes: Number(bytes), open: () => unchanged(file, digest, signal) };
  });
  return [
    ...documents.map(({ path, bytes }) => ({ path, bytes: bytes.length, open: () => whole(bytes) })),
    ...archives,
  ];
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The bytes of a file that must still be what was digested. @throws DrillproofError `io.CHANGED` */
async function* unchanged(file: string, digest: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const sum = digester();
  for await (const chunk of fileBytes(file)) {
    signal.throwIfAborted();
    sum.update(chunk);
    yield chunk;
  }
  if (sum.digest() !== digest)
    throw new DrillproofError('io.CHANGED', `${file} changed while it was being read`, { path: file });
}

/** Writes an export as a folder, which has its name only when it is whole. */
export async function writeExportFolder(folder: string, files: readonly ExportFile[]): Promise<void> {
  await writeOutputFolder(folder, async (inside) => {
    for (const { path, open } of files) {
      await mkdir(dirname(join(inside, path)), { recursive: true });
      await writeNewFile(join(inside, path), open());
    }
  });
}

/** Writes an export as one ZIP. */
export async function writeExportZip(
  path: string,
  files: readonly ExportFile[],
  force: boolean,
): Promise<void> {
  const pass = new PassThrough();
  const zipped = zipExport(files, pass);
  zipped.catch(() => undefined); // awaited below, after the writing that it may have ended
  try {
    await writeOutputFile(path, pass, { force });
  } catch (cause) {
    if (!pass.destroyed) {
      pass.destroy();
      await once(pass, 'close');
    }
    if (cause instanceof DrillproofError) throw cause;
    await zipped; // what ended it
    throw cause;
  }
  await zipped;
}
