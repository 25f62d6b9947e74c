/** Makers of receipts for tests, which are written as a mirror writes them, into files in memory. */
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { compareUtf8 } from '../../src/bytes/text/encoding.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import {
  parseReceipt,
  receiptPath,
  type LinkedReceipt,
  type MirrorReceipt,
} from '../../src/evidence/export/receipt.ts';
import { appendReceipt, type ReceiptContent, type WrittenReceipt } from '../../src/mirror/finish.ts';
import type { MirrorTarget } from '../../src/mirror/sink.ts';
import { EXPORT_ID, hashOf, NOW, ORGANIZATION, PROJECT } from './evidence.ts';

export type Files = Record<string, Uint8Array>;

export const receiptFacts = {
  evidenceExportId: EXPORT_ID,
  organizationId: ORGANIZATION,
  projectId: PROJECT,
  manifestDigest: hashOf('a manifest'),
  manifestFrom: 'source',
  source: 'https://control.example/base',
  tool: 'drillproof/test',
  startedAtMs: NOW - 100_000,
  outcome: 'complete',
  withoutLocalReports: false,
  files: [{ path: 'parts/evidence_000000000001.zip', bytes: '10', state: 'fetched' }],
  failures: [],
} satisfies ReceiptContent;

/** A target that holds files in memory. */
const targetOf = (files: Files): Pick<MirrorTarget, 'list' | 'read' | 'write'> => ({
  list: async (folder) =>
    Object.entries(files)
      .filter(([path]) => path.startsWith(`${folder}/`))
      .map(([path, { length }]) => ({ path, bytes: length, regular: true }))
      .toSorted((a, b) => compareUtf8(a.path, b.path)),
  async *read(path) {
    yield files[path] ?? new Uint8Array();
  },
  async write(path, bytes) {
    files[path] = bytes;
  },
});

type RunFacts = { readonly facts?: Partial<ReceiptContent>; readonly finishedAtMs?: number };

/** Appends a receipt for each run. */
export async function appendReceipts(files: Files, runs: readonly RunFacts[]): Promise<WrittenReceipt[]> {
  const written: WrittenReceipt[] = [];
  for (const [at, { facts, finishedAtMs = NOW - 90_000 + at * 1000 }] of runs.entries())
    written.push(await appendReceipt(targetOf(files), { ...receiptFacts, ...facts }, () => finishedAtMs));
  return written;
}

/** A chain of receipts. */
export async function makeChain(
  length: number,
): Promise<{ readonly files: Files; readonly written: WrittenReceipt[] }> {
  const files: Files = {};
  const runs = Array.from({ length }, () => ({}));
  return { files, written: await appendReceipts(files, runs) };
}

/** Adds an edited receipt to files, at the path for its bytes. */
export function putReceipt(
  files: Files,
  original: Uint8Array | undefined,
  edit: (receipt: LinkedReceipt) => MirrorReceipt,
): void {
  const receipt = parseReceipt(original ?? new Uint8Array());
  if (receipt.schemaVersion === 1) throw new TypeError('the receipt has no link');
  const edited = edit(receipt);
  const bytes = canonicalBytes(edited);
  files[receiptPath(edited, digestOf(bytes))] = bytes;
}

/** A receipt of version 1, which has no link. */
export function unlinked(receipt: LinkedReceipt): MirrorReceipt {
  const older: MirrorReceipt = {
    ...receipt,
    schemaVersion: 1,
    files: receipt.files.map(({ path, bytes }) => ({ path, bytes, state: 'fetched' })),
  };
  return Object.fromEntries(Object.entries(older).filter(([name]) => name !== 'previous')) as MirrorReceipt;
}
