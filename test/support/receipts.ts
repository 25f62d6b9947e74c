/** Small makers of receipts for tests: written as a mirror writes them, into files in memory. */
import { digestOf } from '../../src/bytes/hash.ts';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { compareUtf8 } from '../../src/bytes/text/utf8.ts';
import {
  parseReceipt,
  receiptEnvelopePath,
  receiptPath,
  type LinkedReceipt,
  type MirrorReceipt,
} from '../../src/evidence/export/receipt.ts';
import {
  appendReceipt,
  type MirrorTarget,
  type ReceiptFacts,
  type ReceiptSigning,
  type WrittenReceipt,
} from '../../src/mirror/index.ts';
import { trustStore, type Signer, type TrustedKey, type TrustStore } from '../../src/trust/index.ts';
import { EXPORT_ID, hashOf, NOW, ORGANIZATION, PROJECT } from './evidence.ts';

export type Files = Record<string, Uint8Array>;
export const ARCHIVE = 'acme-archive';

export const receiptFacts: ReceiptFacts = {
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
};

/** A target that holds files in memory. */
export const targetOf = (files: Files): Pick<MirrorTarget, 'list' | 'read' | 'write'> => ({
  list: async (folder) =>
    Object.keys(files)
      .filter((path) => path.startsWith(`${folder}/`))
      .toSorted(compareUtf8),
  async *read(path) {
    yield files[path] ?? new Uint8Array();
  },
  async write(path, bytes) {
    files[path] = bytes;
  },
});

export type Wanted = {
  readonly facts?: Partial<ReceiptFacts>;
  readonly finishedAtMs?: number;
  readonly signing?: ReceiptSigning;
};

/** Appends a receipt for each of these, as runs one after the other do. */
export async function appendReceipts(files: Files, wanted: readonly Wanted[]): Promise<WrittenReceipt[]> {
  const written: WrittenReceipt[] = [];
  for (const [at, { facts, finishedAtMs = NOW - 90_000 + at * 1000, signing }] of wanted.entries())
    written.push(
      await appendReceipt(
        targetOf(files),
        { ...receiptFacts, ...facts },
        { now: () => finishedAtMs, signing },
      ),
    );
  return written;
}

/** A chain of so many receipts, signed by somebody or nobody. */
export async function makeChain(
  length: number,
  signing?: ReceiptSigning,
): Promise<{ readonly files: Files; readonly written: WrittenReceipt[] }> {
  const files: Files = {};
  const one: Wanted = signing === undefined ? {} : { signing };
  return {
    files,
    written: await appendReceipts(
      files,
      Array.from({ length }, () => one),
    ),
  };
}

/** Puts a receipt, changed, among files, in the place that its bytes give it. */
export function putReceipt(
  files: Files,
  original: Uint8Array | undefined,
  edit: (receipt: LinkedReceipt) => MirrorReceipt,
): void {
  const receipt = parseReceipt(original ?? new Uint8Array());
  if (receipt.schemaVersion === 1) throw new TypeError('a receipt without a link is not edited here');
  const edited = edit(receipt);
  const bytes = canonicalBytes(edited);
  files[receiptPath(edited, digestOf(bytes))] = bytes;
}

/** A receipt as it was written before receipts were linked. */
export function unlinked(receipt: LinkedReceipt): MirrorReceipt {
  const older: MirrorReceipt = {
    ...receipt,
    schemaVersion: 1,
    files: receipt.files.map(({ path, bytes }) => ({ path, bytes, state: 'fetched' })),
  };
  return Object.fromEntries(Object.entries(older).filter(([name]) => name !== 'previous')) as MirrorReceipt;
}

/** A trust store of one key for receipts. */
export const receiptTrust = (signer: Signer, rest: Partial<TrustedKey> = {}): TrustStore =>
  trustStore([receiptKey(signer, rest)]);

export const receiptKey = (signer: Signer, rest: Partial<TrustedKey> = {}): TrustedKey => ({
  issuer: ARCHIVE,
  keyId: signer.keyId,
  point: signer.point,
  compromised: true,
  purposes: ['receipt'],
  ...rest,
});

export { receiptEnvelopePath };
