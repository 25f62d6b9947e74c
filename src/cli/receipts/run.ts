import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { defined, type Digest } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { type EvidenceSource, memorySource, mirrorsIn, readWhole } from '../../evidence/index.ts';
import { ioError, isS3Url, openFile, openVolume, openZipFile } from '../../node/index.ts';
import { type ReceiptsReport, verifyReceipt, verifyReceipts } from '../../verify/index.ts';
import type { Cli } from '../cli.ts';
import { usageError } from '../shared/options/values.ts';
import { withProgress } from '../shared/output/progress.ts';

export type MirrorReceipts = { readonly path: string; readonly report: ReceiptsReport };

export type ReceiptsOptions = { readonly expectHead?: Digest };

type How = Parameters<typeof verifyReceipts>[1];

/**
 * Verifies the receipts of every mirror at a path.
 * @throws DrillproofError `receipt.NONE` when there is no mirror, `usage.INVALID`, and what opening the path throws
 */
export async function verifyMirrorReceipts(
  cli: Cli,
  path: string,
  options: ReceiptsOptions,
): Promise<readonly MirrorReceipts[]> {
  const how: How = { signal: cli.signal, ...defined({ expectHead: options.expectHead }) };
  const tree = await openReceiptTree(cli, path);
  try {
    const { single } = tree;
    return single === undefined
      ? await verifyEach(cli, path, tree, how)
      : [await verifySingle(path, tree, single, how)];
  } finally {
    await tree.close();
  }
}

async function verifyEach(cli: Cli, path: string, tree: ReceiptTree, how: How): Promise<MirrorReceipts[]> {
  const mirrors = await mirrorsIn(tree.source);
  if (mirrors.length === 0) throw new DrillproofError('receipt.NONE', `${path} holds no mirror`, { path });
  if (how.expectHead !== undefined && mirrors.length > 1)
    throw usageError(
      `--expect-head is about one mirror, and ${path} contains ${mirrors.length}`,
      'Name one of them.',
    );
  return withProgress(cli, 'verified', 'mirrors', async ({ update }) => {
    const reports: MirrorReceipts[] = [];
    for (const { prefix, source } of mirrors) {
      reports.push({ path: placeOf(path, prefix), report: await verifyReceipts(source, how) });
      update({ done: reports.length, of: mirrors.length });
    }
    return reports;
  });
}

async function verifySingle(
  path: string,
  { source }: ReceiptTree,
  single: string,
  { expectHead, ...how }: How,
): Promise<MirrorReceipts> {
  if (expectHead !== undefined)
    throw usageError(`--expect-head is about a chain, and ${path} is one receipt`, 'Name the mirror.');
  return { path, report: await verifyReceipt(source, single, how) };
}

/** The place of a mirror as a person would name it; the parameters of an address stay behind it. */
function placeOf(path: string, prefix: string): string {
  if (prefix === '') return path;
  const [place = '', ...parameters] = isS3Url(path) ? path.split('?') : [path];
  return [`${place.replace(/\/$/, '')}/${prefix.slice(0, -1)}`, ...parameters].join('?');
}

const MAX_RECEIPT_BYTES = 64 * 1024 * 1024;

/** What a person named that holds receipts: a tree of mirrors, or one receipt at a path of `source`. */
type ReceiptTree = {
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
async function openReceiptTree(cli: Cli, path: string): Promise<ReceiptTree> {
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
