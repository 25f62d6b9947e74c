import * as z from 'zod/mini';
import { canonicalBytes, type Digest } from '../../bytes/index.ts';
import {
  decimalBytesSchema,
  digestSchema,
  evidenceExportIdSchema,
  msSchema,
  organizationIdSchema,
  projectIdSchema,
} from '../../contract/index.ts';
import { documentParser, pathSchema } from '../document.ts';

/** Where receipts are in a mirror: their time to the millisecond, and the beginning of their digest. */
export const RECEIPT_PATH = /^receipts\/\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{12}\.json$/;
/** Beyond it a time has another form, and names would no longer sort by it. */
const LAST_NAMED_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const codeSchema = z.string().check(z.regex(/^[a-z][a-z-]*\.[A-Z][A-Z0-9_]*$/));

/** An address without anything that could be a secret. */
const sourceSchema = z.string().check(z.maxLength(2048), ({ value, issues }) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain = url !== undefined && url.username === '' && url.password === '' && !/[?#]/.test(value);
  if (!plain) issues.push({ code: 'custom', input: value, message: 'not an address without user and query' });
});

/**
 * How one file got there: fetched whole, resumed from a partial file, kept because it was proven, or linked from a store
 * on the same machine.
 */
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
  /** Whether the manifest came from the source, from the caller, or, when the source has deleted the export, from the target. */
  manifestFrom: z.enum(['source', 'caller', 'target']),
  /** The base address of the control plane. */
  source: sourceSchema,
  tool: z.string().check(z.minLength(1), z.maxLength(128)),
  startedAtMs: msSchema,
  finishedAtMs: msSchema,
  outcome: z.enum(['complete', 'incomplete']),
  /** Whether the caller asked to omit the local reports. */
  withoutLocalReports: z.boolean(),
  failures: z.array(failureSchema),
};

type Ended = z.core.ParsePayload<{ outcome: string; failures: readonly unknown[] }>;
const checkOutcome = ({ value, issues }: Ended): void => {
  if ((value.outcome === 'complete') === (value.failures.length === 0)) return;
  issues.push({ code: 'custom', input: value, path: ['outcome'], message: 'contradicts the failures' });
};

/** A receipt from before receipts were linked: it can begin a chain, and names no other. */
export const unlinkedReceiptSchema = z
  .strictObject({ schemaVersion: z.literal(1), ...receiptHead, files: z.array(fileSchema) })
  .check(checkOutcome);

/**
 * What one run of a mirror did: which bytes it fetched and kept, from where and when. The digests of the files are
 * those of the manifest, which `manifestDigest` pins. Closed; `complete` means that every file listed was proven.
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
/** How a receipt names the one before it. */
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

/** The bytes of a receipt as a mirror writes it. */
export const receiptBytes = (receipt: MirrorReceipt): Uint8Array => canonicalBytes(receipt);

/** The path of a receipt in its mirror, which follows from its bytes. */
export function receiptPath({ finishedAtMs }: Pick<MirrorReceipt, 'finishedAtMs'>, digest: Digest): string {
  // Without colons, which a portable path cannot have (formats §1, Paths).
  const time = new Date(Math.max(0, Math.min(finishedAtMs, LAST_NAMED_MS)))
    .toISOString()
    .replaceAll(/[-:]/g, '');
  return `receipts/${time}-${digest.slice('sha256:'.length, 'sha256:'.length + 12)}.json`;
}

/** Whether a path is one that a receipt can have. */
export const isReceiptPath = (path: string): boolean => RECEIPT_PATH.test(path);

/** Whether a file of a mirror is a receipt, whatever its name. */
export const isReceiptFile = (path: string): boolean => /^receipts\/[^/]+\.json$/.test(path);

/** The time in the path of a receipt. */
export function timeInPath(path: string): number {
  const time = path.slice('receipts/'.length);
  return Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d\.\d{3}Z).*$/, '$1-$2-$3T$4:$5:$6'));
}
