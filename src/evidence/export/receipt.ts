import * as z from 'zod/mini';
import type { Digest } from '../../bytes/hash.ts';
import {
  decimalBytesSchema,
  digestSchema,
  evidenceExportIdSchema,
  msSchema,
  organizationIdSchema,
  projectIdSchema,
} from '../../contract/scalars.ts';
import { documentParser, pathSchema } from '../document.ts';

/** The path of a receipt in a mirror: its time to the millisecond, and the beginning of its digest. */
const RECEIPT_PATH = /^receipts\/\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{12}\.json$/;
/** Later times have another form, and names would no longer sort by time. */
const LAST_NAMED_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const codeSchema = z.string().check(z.regex(/^[a-z][a-z-]*\.[A-Z][A-Z0-9_]*$/));

/** An address without anything that could be a secret. */
const sourceSchema = z.string().check(z.maxLength(2048), ({ value, issues }) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain = url !== undefined && url.username === '' && url.password === '' && !/[?#]/.test(value);
  if (!plain) issues.push({ code: 'custom', input: value, message: 'not an address without user and query' });
});

/** The origin of a file: fetched, resumed from a partial file, kept after verification, or linked from a local store. */
const fileStates = ['fetched', 'resumed', 'kept', 'linked'] as const;

const fileSchema = z.strictObject({ path: pathSchema, bytes: decimalBytesSchema, state: z.enum(fileStates) });
const linkedFileSchema = z.strictObject({
  path: pathSchema,
  bytes: decimalBytesSchema,
  /** `repaired`: fetched again to replace a damaged one. */
  state: z.enum([...fileStates, 'repaired']),
  /** SHA-256 of a file that the manifest does not pin, such as the export attestation. */
  digest: z.exactOptional(digestSchema),
});
const failureSchema = z.strictObject({
  path: pathSchema,
  code: codeSchema,
  message: z.string().check(z.minLength(1), z.maxLength(2000)),
});

const receiptHead = {
  kind: z.literal('mirror.receipt'),
  evidenceExportId: evidenceExportIdSchema,
  organizationId: organizationIdSchema,
  projectId: projectIdSchema,
  manifestDigest: digestSchema,
  /** The origin of the manifest; `target` if the source has deleted the export. */
  manifestFrom: z.enum(['source', 'caller', 'target']),
  /** The base address of the control plane. */
  source: sourceSchema,
  tool: z.string().check(z.minLength(1), z.maxLength(128)),
  startedAtMs: msSchema,
  finishedAtMs: msSchema,
  outcome: z.enum(['complete', 'incomplete']),
  /** The caller chose to omit the local reports. */
  withoutLocalReports: z.boolean(),
  failures: z.array(failureSchema),
};

type Ended = z.core.ParsePayload<{ outcome: string; failures: readonly unknown[] }>;
const checkOutcome = ({ value, issues }: Ended): void => {
  if ((value.outcome === 'complete') === (value.failures.length === 0)) return;
  issues.push({ code: 'custom', input: value, path: ['outcome'], message: 'contradicts the failures' });
};

/** A receipt of version 1, which names no previous receipt. */
export const unlinkedReceiptSchema = z
  .strictObject({ schemaVersion: z.literal(1), ...receiptHead, files: z.array(fileSchema) })
  .check(checkOutcome);

/**
 * The record of one run of a mirror: its source, its times, and the state of each file. `manifestDigest` pins the digests
 * of the files. Closed; `complete` means that every listed file was verified.
 */
export const receiptSchema = z
  .strictObject({
    schemaVersion: z.literal(2),
    ...receiptHead,
    files: z.array(linkedFileSchema),
    /** The receipt of this mirror before this one; absent in the first. */
    previous: z.exactOptional(
      z.strictObject({ path: z.string().check(z.regex(RECEIPT_PATH)), digest: digestSchema }),
    ),
  })
  .check(checkOutcome);

const anySchema = z.discriminatedUnion('schemaVersion', [unlinkedReceiptSchema, receiptSchema]);

/** The receipt of a run of this version. */
export type LinkedReceipt = z.infer<typeof receiptSchema>;
/**
 * A dated record of what a mirror copied and checked (formats §1, Receipts). Times are milliseconds since 1970, sizes
 * are decimal strings of bytes.
 */
export type MirrorReceipt = z.infer<typeof anySchema>;
export type ReceiptLink = NonNullable<LinkedReceipt['previous']>;

/**
 * Types a receipt of a mirror.
 * @throws DrillproofError `receipt.INVALID`, and what the JSON parser throws
 */
export const parseReceipt = documentParser<MirrorReceipt>({
  schema: anySchema,
  code: 'receipt.INVALID',
  canonical: false,
  limit: 'manifestBytes',
  rows: { files: { schema: linkedFileSchema }, failures: { schema: failureSchema } },
});

/** The path of a receipt in its mirror, which follows from its bytes. */
export function receiptPath({ finishedAtMs }: Pick<MirrorReceipt, 'finishedAtMs'>, digest: Digest): string {
  // Without colons, which a portable path cannot have (formats §1, Paths).
  const time = new Date(Math.max(0, Math.min(finishedAtMs, LAST_NAMED_MS)))
    .toISOString()
    .replaceAll(/[-:]/g, '');
  return `receipts/${time}-${digest.slice('sha256:'.length, 'sha256:'.length + 12)}.json`;
}

export const isReceiptPath = (path: string): boolean => RECEIPT_PATH.test(path);

/** The folder in a mirror for its lock, its claim and unfinished files, on the same disk, so that a rename is atomic. */
export const PRIVATE = '.drillproof-mirror';
/** The folder of the journal of an archive, next to its mirrors. A mirror at the root of a bucket contains it. */
export const JOURNALS = '.drillproof/scrub';
const WORK =
  /^\.drillproof-mirror\/(?:lock(?:\.[0-9a-f]{12})?|claim\.json|lease\/\d{9}|partial\/[0-9a-f]{64}\.(?:partial|etag|draft|linked))$|^\.drillproof\/scrub\/\.?[^/]+\.jsonl(?:\.[0-9a-f]{12}\.part)?$/;

/** True for the path of a file that a run keeps in a mirror while it works, or of a journal of scrubs. */
export const isWorkFile = (path: string): boolean => WORK.test(path);

/** True for the path of a receipt with any name. */
export const isReceiptFile = (path: string): boolean => /^receipts\/[^/]+\.json$/.test(path);

/** The time in the path of a receipt. */
export function parseReceiptTime(path: string): number {
  const time = path.slice('receipts/'.length);
  return Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d\.\d{3}Z).*$/, '$1-$2-$3T$4:$5:$6'));
}
