import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type EvidenceSource, memorySource, readWhole } from '../../evidence/index.ts';
import { ioError, openZipFile, openFile, openVolume } from '../../node/index.ts';
import { isS3Url } from '../../node/s3/index.ts';
import type { Cli } from '../cli.ts';

const MAX_RECEIPT_BYTES = 64 * 1024 * 1024;

/** What a person named that holds receipts: a tree of mirrors, or one receipt at a path of `source`. */
export type ReceiptTree = {
  readonly source: EvidenceSource;
  readonly single?: string;
  close(): Promise<void>;
};

/**
 * Opens a folder, a prefix in S3 or a one-file export as a tree in which mirrors are looked for, and any other file as
 * a single receipt.
 * @throws DrillproofError `io.NOT_FOUND`, `io.UNREADABLE`, `json.TOO_LARGE`; for S3 also `usage.INVALID`,
 *   `io.PACKAGE_MISSING`
 */
export async function openReceiptTree(cli: Cli, path: string): Promise<ReceiptTree> {
  if (isS3Url(path) || (await isFolder(path))) {
    const volume = await openVolume(path, cli.env);
    return { source: volume.source(), close: () => volume.close() };
  }
  const opened = await openZipFile(await openFile(path));
  if (opened.kind === 'export') return opened;
  await opened.close();
  return openReceipt(path);
}

const isFolder = async (path: string): Promise<boolean> =>
  (
    await stat(path).catch((cause: unknown) => {
      throw ioError(cause, path, 'read');
    })
  ).isDirectory();

async function openReceipt(path: string): Promise<ReceiptTree> {
  const single = `receipts/${basename(path, '.json')}.json`; // the file may have any name
  const source = memorySource({ [single]: await readFileAt(path) });
  return { source, single, close: () => Promise.resolve() };
}

async function readFileAt(path: string): Promise<Uint8Array> {
  const file = await openFile(path);
  try {
    return await readWhole(file, MAX_RECEIPT_BYTES, path);
  } finally {
    await file.close();
  }
}
