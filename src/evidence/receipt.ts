import * as z from 'zod';
import { canonicalBytes } from '../bytes/json-canonical.ts';
import {
  decimalBytesSchema,
  digestSchema,
  evidenceExportIdSchema,
  msSchema,
  organizationIdSchema,
  projectIdSchema,
} from '../contract/index.ts';
import { parseDocument, type DocumentKind } from './document.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { pathSchema } from './path.ts';

const codeSchema = z.string().regex(/^[a-z][a-z-]*\.[A-Z][A-Z0-9_]*$/);

/** An address without anything that could be a secret. */
const sourceSchema = z
  .string()
  .max(2048)
  .check(({ value, issues }) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const plain = url !== undefined && url.username === '' && url.password === '' && !/[?#]/.test(value);
    if (!plain)
      issues.push({ code: 'custom', input: value, message: 'not an address without user and query' });
  });

/**
 * What became of one file: fetched whole, resumed from what was there, kept because it was proven, or linked from a
 * store on the same machine.
 */
const fileStates = ['fetched', 'resumed', 'kept', 'linked'] as const;

const fileSchema = z.strictObject({ path: pathSchema, bytes: decimalBytesSchema, state: z.enum(fileStates) });
const failureSchema = z.strictObject({
  path: pathSchema,
  code: codeSchema,
  message: z.string().min(1).max(2000),
});

/**
 * What one run of a mirror did: which bytes it fetched and kept, from where and when. The digests of the files are
 * those of the manifest, which `manifestDigest` pins. Closed; `complete` means that every file listed was proven.
 */
export const receiptSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('mirror.receipt'),
    evidenceExportId: evidenceExportIdSchema,
    organizationId: organizationIdSchema,
    projectId: projectIdSchema,
    manifestDigest: digestSchema,
    /** Whether the manifest came from the source, from the caller, or, when the source deletes the export, was here. */
    manifestFrom: z.enum(['source', 'caller', 'target']),
    /** The base address of the control plane. */
    source: sourceSchema,
    tool: z.string().min(1).max(128),
    startedAtMs: msSchema,
    finishedAtMs: msSchema,
    outcome: z.enum(['complete', 'incomplete']),
    /** Whether the caller asked to leave the local reports out. */
    withoutLocalReports: z.boolean(),
    files: z.array(fileSchema),
    failures: z.array(failureSchema),
  })
  .check(({ value, issues }) => {
    if ((value.outcome === 'complete') === (value.failures.length === 0)) return;
    issues.push({ code: 'custom', input: value, path: ['outcome'], message: 'contradicts the failures' });
  });

export type MirrorReceipt = z.infer<typeof receiptSchema>;

const KIND: DocumentKind<MirrorReceipt> = {
  schema: receiptSchema,
  code: 'receipt.INVALID',
  canonical: false,
  rows: { files: fileSchema, failures: failureSchema },
};

/**
 * Types a receipt of a mirror.
 * @throws DrillproofError `receipt.INVALID`, and what the JSON parser throws
 */
export const parseReceipt = (bytes: Uint8Array): MirrorReceipt =>
  parseDocument(bytes, KIND, { maxBytes: DEFAULT_LIMITS.manifestBytes });

/** The bytes of a receipt as a mirror writes it. */
export const receiptBytes = (receipt: MirrorReceipt): Uint8Array => canonicalBytes(receipt);
